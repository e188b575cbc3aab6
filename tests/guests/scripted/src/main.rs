//! A guest that does what its arguments say, from left to right, and then returns from `main`.
//!
//! The host's tests drive their tables with it: every row is a list of arguments. Each is a name,
//! or a name with a value behind `=`:
//!
//! | argument | what it does |
//! |---|---|
//! | `stdout=TEXT`, `stderr=TEXT` | writes the text |
//! | `stdout-bytes=N`, `stderr-bytes=N` | writes N times `x` |
//! | `flood-stdout`, `flood-stderr` | writes `x` for ever; a write that fails ends it |
//! | `read-stdin` | reads all of standard input |
//! | `echo-stdin` | copies standard input to standard output |
//! | `count-stdin` | reads standard input; number of bytes and FNV-1a hash on standard error |
//! | `exit=N` | exits with exactly N |
//! | `return-error` | ends as a `main` that returned an error |
//! | `trap`, `panic`, `overflow-stack` | ends in a trap |
//! | `spin` | loops for ever |
//! | `memory` | takes memory until there is none, then traps |
//! | `memory-refused-then-exit=N` | asks for far too much memory; exits with N when refused |
//! | `sleep=MILLISECONDS` | sleeps |
//! | `read-file=PATH` | writes the file to standard output, or the kind of error to standard error |
//! | `write-file=PATH` | writes `written` into the file, or the kind of error to standard error |
//! | `open-many=PATH` | opens the file again and again until it fails; the number on standard output |
//! | `open-files=N:PATH` | opens the file N times, one after the other; `opened` on standard output |
//! | `read-again=N:PATH` | reads the file N times; each different content or kind of error, one a line |
//! | `fill-file=N:PATH` | writes N MiB; how many bytes were taken, and the kind of error |
//! | `extend-file=N:PATH` | makes a file of N MiB without writing them |
//! | `truncate-file=PATH`, `append-file=PATH` | opens the file so, and appends `appended` |
//! | `create-folder=PATH`, `remove-folder=PATH`, `remove-file=PATH` | does that |
//! | `rename=PATH>PATH`, `hard-link=PATH>PATH`, `soft-link=CONTENT>PATH` | does that |
//! | `stat=PATH`, `stat-link=PATH` | `file`, `folder`, `link` or `other`, and the size |
//! | `read-link=PATH`, `list=PATH` | what the link holds; the names in the folder, sorted |
//! | `set-times=PATH` | sets when the file was changed to the beginning of 2001 |
//! | `environment`, `arguments` | writes them, one a line |
//! | `random=N` | takes N random bytes; their number on standard output |
//! | `observe` | writes all that may differ from run to run: times, random numbers, orders, a NaN |
//! | `increment-static` | adds one to a static, and writes it |
//! | `connect=HOST:PORT` | connects; `connected` on standard output, or the kind of error |

mod exhaust;
mod files;
mod observe;
mod streams;

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static COUNTER: AtomicU32 = AtomicU32::new(0);

fn main() {
    for argument in std::env::args().skip(1) {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
        perform(name, value);
    }
}

fn perform(name: &str, value: &str) {
    match name {
        "stdout" => streams::stdout(value.as_bytes()),
        "stderr" => streams::stderr(value.as_bytes()),
        "stdout-bytes" => streams::repeat(number(value), streams::stdout),
        "stderr-bytes" => streams::repeat(number(value), streams::stderr),
        "flood-stdout" => streams::repeat(u64::MAX, streams::stdout),
        "flood-stderr" => streams::repeat(u64::MAX, streams::stderr),
        "read-stdin" => streams::read_stdin(|_| ()),
        "echo-stdin" => streams::read_stdin(streams::stdout),
        "count-stdin" => streams::count_stdin(),
        "exit" => exit(number(value) as u8),
        "return-error" => std::process::exit(1),
        "trap" => exhaust::trap(),
        "panic" => panic!("panic of the scripted guest"),
        "overflow-stack" => exhaust::stack(),
        "spin" => exhaust::spin(),
        "memory" => exhaust::memory(),
        "memory-refused-then-exit" => {
            if exhaust::memory_is_refused() {
                exit(number(value) as u8);
            }
        }
        "sleep" => std::thread::sleep(Duration::from_millis(number(value))),
        "read-file" => files::read(value),
        "write-file" => files::write(value),
        "open-many" => files::open_many(value),
        "open-files" => with_number(value, files::open_files),
        "read-again" => with_number(value, files::read_again),
        "fill-file" => with_number(value, files::fill),
        "extend-file" => with_number(value, files::extend),
        "truncate-file" => files::truncate(value),
        "append-file" => files::append(value),
        "create-folder" => files::told(std::fs::create_dir(value)),
        "remove-folder" => files::told(std::fs::remove_dir(value)),
        "remove-file" => files::told(std::fs::remove_file(value)),
        "rename" => with_two(value, |from, to| files::told(std::fs::rename(from, to))),
        "hard-link" => with_two(value, |from, to| files::told(std::fs::hard_link(from, to))),
        "soft-link" => with_two(value, files::soft_link),
        "stat" => files::stat(std::fs::metadata(value)),
        "stat-link" => files::stat(std::fs::symlink_metadata(value)),
        "read-link" => files::read_link(value),
        "list" => files::list(value),
        "set-times" => files::set_times(value),
        "environment" => environment(),
        "arguments" => std::env::args().for_each(|argument| line(&argument)),
        "random" => line(&exhaust::random_bytes(number(value)).to_string()),
        "observe" => observe::all(),
        "increment-static" => line(&(COUNTER.fetch_add(1, Ordering::Relaxed) + 1).to_string()),
        "connect" => connect(value),
        _ => {
            streams::stderr(format!("scripted-guest: unknown argument `{name}`\n").as_bytes());
            exit(99);
        }
    }
}

fn number(value: &str) -> u64 {
    value.parse().unwrap_or_else(|_| {
        streams::stderr(format!("scripted-guest: not a number: `{value}`\n").as_bytes());
        exit(99)
    })
}

/// `N:PATH`.
fn with_number(value: &str, perform: impl Fn(u64, &str)) {
    let (count, path) = value.split_once(':').unwrap_or((value, ""));
    perform(number(count), path);
}

/// `ONE>OTHER`.
fn with_two(value: &str, perform: impl Fn(&str, &str)) {
    let (one, other) = value.split_once('>').unwrap_or((value, ""));
    perform(one, other);
}

fn line(text: &str) {
    streams::stdout(format!("{text}\n").as_bytes());
}

/// Sorted, since the order in which a host gives them is its own affair.
fn environment() {
    let mut variables: Vec<_> = std::env::vars_os().collect();
    variables.sort();
    for (name, value) in variables {
        line(&format!(
            "{}={}",
            name.to_string_lossy(),
            value.to_string_lossy()
        ));
    }
}

fn connect(address: &str) {
    match std::net::TcpStream::connect(address) {
        Ok(_) => line("connected"),
        Err(error) => streams::stderr(format!("{:?}: {error}\n", error.kind()).as_bytes()),
    }
}

/// Exits with exactly this code: of a component, `std::process::exit` turns every code but 0 into 1.
fn exit(code: u8) -> ! {
    #[cfg(all(target_os = "wasi", target_env = "p2"))]
    wasip2::cli::exit::exit_with_code(code);
    std::process::exit(i32::from(code))
}
