//! A guest that uses what must be granted, as its arguments say, from left to right.
//!
//! It imports `wasi:http`, `wasi:keyvalue`, `wasi:config` and `wasi:sockets`, so it loads only for a hook that has
//! the first two. What it finds, and what it is refused, goes to standard output, one line each:
//!
//! | argument | what it does |
//! |---|---|
//! | `get=URL` | sends a request; the status and the body, or the error |
//! | `head=URL` | the same, and the answer's header fields instead of the body |
//! | `count=URL` | the same, and the number of bytes of the body |
//! | `post=N=URL` | sends N bytes; the status and the body, or the error |
//! | `method=NAME=URL` | sends a request of this method; the status, or the error |
//! | `times=N=URL` | sends N requests, one after the other; how many were answered |
//! | `together=N=URL` | sends N requests at once; how many were answered |
//! | `abandon=URL` | sends a request and does not wait for its answer |
//! | `hold=URL` | sends a request, reads one byte of its answer, and keeps the rest |
//! | `state-get=KEY`, `state-set=KEY=VALUE`, `state-delete=KEY`, `state-has=KEY` | one key |
//! | `state-fill=KEY=N` | sets the key to N bytes |
//! | `state-pair=KEY=N` | sets the keys `KEY-a` and `KEY-b` to the number, in one call |
//! | `state-count=KEY` | adds 1; the sum |
//! | `state-count-times=KEY=N` | adds 1 N times; the last sum |
//! | `state-count-pairs` | for ever: sets `a` and `b` to the next number in one call |
//! | `state-keys` | all keys, page by page |
//! | `state-open=NAME` | opens a store of another name |
//! | `socket=tcp`, `socket=udp`, `lookup=NAME` | what sockets would begin with |
//! | `setting=KEY`, `settings` | one, all |
//! | `sleep=MILLISECONDS` | sleeps |

#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod requests;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod sockets;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod state;

#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod bindings {
    wit_bindgen::generate!({
        inline: "
            package test:granted;
            world granted {
                import wasi:config/store@0.2.0-rc.1;
                import wasi:keyvalue/store@0.2.0-draft;
                import wasi:keyvalue/atomics@0.2.0-draft;
                import wasi:keyvalue/batch@0.2.0-draft;
            }
        ",
        path: ["../../../wit/deps/config.wit", "../../../wit/deps/keyvalue.wit"],
        generate_all,
    });
}

#[cfg(all(target_os = "wasi", target_env = "p2"))]
fn main() {
    for argument in std::env::args().skip(1) {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
        match name {
            "sleep" => std::thread::sleep(std::time::Duration::from_millis(number(value))),
            "socket" | "lookup" => sockets::perform(name, value),
            "setting" => settings(Some(value)),
            "settings" => settings(None),
            _ if name.starts_with("state-") => state::perform(name, value),
            _ => requests::perform(name, value),
        }
    }
}

/// Only a component can import what this guest does.
#[cfg(not(all(target_os = "wasi", target_env = "p2")))]
fn main() {
    std::process::exit(99)
}

#[cfg(all(target_os = "wasi", target_env = "p2"))]
fn settings(key: Option<&str>) {
    use bindings::wasi::config::store;
    match key {
        Some(key) => println!("{:?}", store::get(key)),
        None => println!("{:?}", store::get_all()),
    }
}

#[cfg(all(target_os = "wasi", target_env = "p2"))]
fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| unknown(text))
}

#[cfg(all(target_os = "wasi", target_env = "p2"))]
fn unknown(argument: &str) -> ! {
    eprintln!("granted-guest: not understood: `{argument}`");
    wasip2::cli::exit::exit_with_code(99);
    std::process::exit(1)
}
