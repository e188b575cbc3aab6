//! Compiling, in a process of its own.
//!
//! WebAssembly promises a lot about running code and nothing about compiling it: small files take
//! minutes or gigabytes, and code generators have been known to panic. So the host never does it.
//! It starts the hookcell program as a child with the bytes on its standard input, under limits of
//! time and memory that grow with the size of the code, and takes the machine code from its
//! standard output. What a child cannot do in time is a failure of that one hook.

mod budget;
mod child;

use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

pub use child::{Task, serve};

use super::shape::{Kind, Shape};
use crate::outcome::{Failure, FailureKind};
use crate::program::Program;
use crate::text;
use budget::Budget;

/// The name of the hidden subcommand.
pub const SUBCOMMAND: &str = "compile-component";

/// What a child's output begins with: it tells a program of this version from any other.
const OPENING: &[u8] =
    concat!("hookcell machine code ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// The child's exit code for bytes that cannot be compiled.
const INVALID: u8 = 3;

/// The exit code of a Rust program that panicked.
const PANIC: i32 = 101;

/// The most machine code that is taken, in bytes: 1 GiB. The largest known guests have 40 MiB.
const LARGEST_RESULT: u64 = 1 << 30;

/// How many threads a child compiles with; each costs address space.
const MOST_THREADS: usize = 4;

/// Compiles `bytes` to machine code for this machine and this version of the engine.
///
/// # Errors
///
/// [`FailureKind::NotCompiled`] when it takes more time or memory than its size allows, or the
/// compiler breaks; [`FailureKind::ComponentInvalid`] when the engine refuses the bytes, and
/// [`FailureKind::Host`] when the child cannot be started.
pub(super) async fn compile(
    program: &Program,
    shape: &Shape,
    bytes: Bytes,
) -> Result<Bytes, Refusal> {
    let host = |why: String| Refusal::of_this_try(FailureKind::Host, why);
    let path = program.find().map_err(host)?;
    let budget = Budget::of(shape.code_bytes);
    let threads = std::thread::available_parallelism()
        .map_or(1, std::num::NonZero::get)
        .min(MOST_THREADS);
    let mut child = Command::new(&path)
        .arg(SUBCOMMAND)
        .args([
            "--kind",
            match shape.kind {
                Kind::Component => "component",
                Kind::Module => "module",
            },
        ])
        .args(["--seconds", &budget.time.as_secs().to_string()])
        .args(["--memory", &budget.memory.to_string()])
        // Nothing of the agent's: neither its secrets nor what would change how a library works.
        .env_clear()
        .env("RAYON_NUM_THREADS", threads.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| {
            host(format!(
                "`{}` cannot be started to compile it: {error}",
                path.display()
            ))
        })?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let talk = async {
        let feed = async {
            if let Some(mut stdin) = stdin {
                // A child that ends early says why by how it ends.
                let _ = stdin.write_all(&bytes).await;
            }
        };
        let ((), code, errors) =
            tokio::join!(feed, read(stdout, LARGEST_RESULT), read(stderr, 8 << 10));
        (child.wait().await, code, errors)
    };
    let Ok((status, code, errors)) = tokio::time::timeout(budget.patience(), talk).await else {
        return Err(Refusal::of_this_try(
            FailureKind::NotCompiled,
            format!(
                "it was not compiled within {} s, on a machine that may have been busy",
                budget.patience().as_secs()
            ),
        ));
    };
    let status = status.map_err(|error| host(format!("the compiler was lost: {error}")))?;
    let said = text::one_line(String::from_utf8_lossy(&errors).trim(), 500);
    match status.code() {
        Some(0) if code.starts_with(OPENING) => Ok(Bytes::from(code).slice(OPENING.len()..)),
        Some(0) => Err(host(format!(
            "`{}` is not hookcell {}, which is needed to compile it",
            path.display(),
            env!("CARGO_PKG_VERSION")
        ))),
        Some(code) if code == i32::from(INVALID) => Err(Refusal::for_good(
            FailureKind::ComponentInvalid,
            said.into(),
        )),
        Some(PANIC) => Err(not_compiled(format!("the compiler broke on it: {said}"))),
        Some(code) => Err(host(format!(
            "`{}` did not compile it (exit code {code}): {said}",
            path.display()
        ))),
        None => Err(ended_by_the_kernel(status, shape.code_bytes, budget, &said)),
    }
}

/// All of a pipe, up to a bound; what is beyond ends the child by a broken pipe.
async fn read(pipe: Option<impl AsyncRead + Unpin>, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What was read before an error is judged by how the child ends.
        let _ = pipe.take(most).read_to_end(&mut bytes).await;
    }
    bytes
}

fn ended_by_the_kernel(
    status: std::process::ExitStatus,
    code_bytes: u64,
    budget: Budget,
    said: &str,
) -> Refusal {
    use std::os::unix::process::ExitStatusExt as _;

    let signal = |signal: rustix::process::Signal| status.signal() == Some(signal.as_raw());
    if signal(rustix::process::Signal::XCPU) || signal(rustix::process::Signal::KILL) {
        return too_slow(code_bytes, budget.time);
    }
    // Without memory, Rust's allocator aborts with a message of its own.
    if signal(rustix::process::Signal::ABORT) && said.contains("memory allocation of") {
        return not_compiled(format!(
            "compiling it needs more than {}, which is what {} of code may take",
            size(budget.memory),
            size(code_bytes)
        ));
    }
    not_compiled(format!(
        "the compiler broke on it ({}){}{said}",
        status,
        if said.is_empty() { "" } else { ": " },
    ))
}

fn too_slow(code_bytes: u64, time: Duration) -> Refusal {
    not_compiled(format!(
        "compiling it takes more than {} s of processor time, which is what {} of code may take",
        time.as_secs(),
        size(code_bytes)
    ))
}

fn not_compiled(message: String) -> Refusal {
    Refusal::for_good(FailureKind::NotCompiled, message)
}

/// Why there is no machine code.
pub(super) struct Refusal {
    pub(super) failure: Failure,
    /// Whether the same bytes would fail again, whatever else the machine is doing.
    pub(super) is_for_good: bool,
}

/// What fails without a compiler fails for reasons of the moment.
impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            is_for_good: false,
        }
    }
}

impl Refusal {
    fn for_good(kind: FailureKind, why: String) -> Self {
        Self {
            failure: Failure::new(kind, why),
            is_for_good: true,
        }
    }

    fn of_this_try(kind: FailureKind, why: String) -> Self {
        Self {
            failure: Failure::new(kind, why),
            is_for_good: false,
        }
    }
}

fn size(bytes: u64) -> String {
    bytesize::ByteSize::b(bytes).display().iec().to_string()
}
