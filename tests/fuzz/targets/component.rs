//! A component through the whole host: exactly one record, within the limits. Most inputs are
//! commands around a core module that is any; some are other valid components, some are broken,
//! some are just bytes.
#![no_main]

use std::sync::LazyLock;

use hookcell_fuzz::{assert_one_record, broken, config};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use wasm_smith::{Component, Config, Module};

/// What the core module may import: the lowered functions of [`command`].
static IMPORTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    wat::parse_str(
        r#"(module
            (import "host" "memory" (memory 1))
            (import "host" "exit" (func (param i32)))
            (import "host" "now" (func (result i64)))
            (import "host" "subscribe-duration" (func (param i64) (result i32)))
            (import "host" "ready" (func (param i32) (result i32)))
            (import "host" "block" (func (param i32)))
            (import "host" "drop-pollable" (func (param i32)))
            (import "host" "random" (func (param i64 i32)))
            (import "host" "arguments" (func (param i32)))
            (import "host" "get-stdout" (func (result i32)))
            (import "host" "check-write" (func (param i32 i32)))
            (import "host" "write" (func (param i32 i32 i32 i32)))
            (import "host" "splice" (func (param i32 i32 i64 i32)))
            (import "host" "get-stdin" (func (result i32)))
            (import "host" "read" (func (param i32 i64 i32))))"#,
    )
    .expect("valid text")
});

static EXPORTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    wat::parse_str(r#"(module (func (export "run") (result i32) unreachable))"#)
        .expect("valid text")
});

fuzz_target!(|data: &[u8]| -> Corpus {
    match guest(data) {
        Ok(guest) => {
            assert_one_record(&guest);
            Corpus::Keep
        }
        Err(_) => Corpus::Reject,
    }
});

fn guest(data: &[u8]) -> Result<Vec<u8>> {
    let Some((choice, rest)) = data.split_first() else {
        return Ok(Vec::new());
    };
    let mut input = Unstructured::new(rest);
    Ok(match choice % 16 {
        0 => rest.to_vec(),
        1 | 2 => Component::new(Config::default(), &mut input)?.to_bytes(),
        3 => broken(program(&mut input)?, &mut input)?,
        _ => program(&mut input)?,
    })
}

fn program(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let config = Config {
        available_imports: Some(IMPORTS.clone()),
        exports: Some(EXPORTS.clone()),
        ..config(input)?
    };
    Ok(command(&Module::new(config, input)?.to_bytes()))
}

/// A component of the command world that runs this module.
fn command(module: &[u8]) -> Vec<u8> {
    static AROUND: LazyLock<(Vec<u8>, Vec<u8>)> = LazyLock::new(around);
    let mut size = Vec::new();
    let mut left = module.len();
    while left > 0x7f {
        size.push(left as u8 | 0x80);
        left >>= 7;
    }
    size.push(left as u8);
    let (before, behind) = &*AROUND;
    [&before[..], &[MODULE_SECTION], &size, module, behind].concat()
}

const MODULE_SECTION: u8 = 1;

/// What stands before and behind the last module of [`COMMAND`], which is empty there: text has no
/// form for a module within a component that is given as bytes.
fn around() -> (Vec<u8>, Vec<u8>) {
    let component = wat::parse_str(COMMAND).expect("valid text");
    let mut at = 8;
    let mut last = 0..0;
    while at < component.len() {
        let section = at;
        let mut size = 0_usize;
        for shift in (0..).step_by(7) {
            at += 1;
            size |= usize::from(component[at] & 0x7f) << shift;
            if component[at] < 0x80 {
                break;
            }
        }
        at += 1 + size;
        if component[section] == MODULE_SECTION {
            last = section..at;
        }
    }
    (
        component[..last.start].to_vec(),
        component[last.end..].to_vec(),
    )
}

const COMMAND: &str = r#"(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (alias export $error "error" (type $error-type))
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.ready" (func (param "self" (borrow $pollable)) (result bool)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable-type))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (alias outer 1 $error-type (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (type $stream-error' (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $stream-error')))
    (export "input-stream" (type $input (sub resource)))
    (export "output-stream" (type $output (sub resource)))
    (export "[method]input-stream.read" (func
      (param "self" (borrow $input)) (param "len" u64)
      (result (result (list u8) (error $stream-error)))))
    (export "[method]output-stream.check-write" (func
      (param "self" (borrow $output)) (result (result u64 (error $stream-error)))))
    (export "[method]output-stream.blocking-write-and-flush" (func
      (param "self" (borrow $output)) (param "contents" (list u8))
      (result (result (error $stream-error)))))
    (export "[method]output-stream.splice" (func
      (param "self" (borrow $output)) (param "src" (borrow $input)) (param "len" u64)
      (result (result u64 (error $stream-error)))))))
  (alias export $streams "input-stream" (type $input-type))
  (alias export $streams "output-stream" (type $output-type))
  (import "wasi:cli/stdin@0.2.0" (instance $stdin
    (alias outer 1 $input-type (type $outer-input))
    (export "input-stream" (type $input (eq $outer-input)))
    (export "get-stdin" (func (result (own $input))))))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $output-type (type $outer-output))
    (export "output-stream" (type $output (eq $outer-output)))
    (export "get-stdout" (func (result (own $output))))))
  (import "wasi:cli/exit@0.2.0" (instance $exit
    (export "exit" (func (param "status" (result))))))
  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-arguments" (func (result (list string))))))
  (import "wasi:random/random@0.2.0" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable-type (type $outer-pollable))
    (export "pollable" (type $pollable (eq $outer-pollable)))
    (export "now" (func (result u64)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))

  (core module $memory-module
    (memory (export "memory") 2)
    ;; Wherever the host asks for room, it gets the same one.
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
  (core instance $memory (instantiate $memory-module))
  (alias core export $memory "memory" (core memory $mem))
  (alias core export $memory "realloc" (core func $realloc))

  (core func $exit (canon lower (func $exit "exit")))
  (core func $now (canon lower (func $clock "now")))
  (core func $subscribe-duration (canon lower (func $clock "subscribe-duration")))
  (core func $ready (canon lower (func $poll "[method]pollable.ready")))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $drop-pollable (canon resource.drop $pollable-type))
  (core func $random (canon lower (func $random "get-random-bytes")
    (memory $mem) (realloc $realloc)))
  (core func $arguments (canon lower (func $environment "get-arguments")
    (memory $mem) (realloc $realloc)))
  (core func $get-stdout (canon lower (func $stdout "get-stdout")))
  (core func $check-write (canon lower (func $streams "[method]output-stream.check-write")
    (memory $mem)))
  (core func $write (canon lower
    (func $streams "[method]output-stream.blocking-write-and-flush") (memory $mem)))
  (core func $splice (canon lower (func $streams "[method]output-stream.splice") (memory $mem)))
  (core func $get-stdin (canon lower (func $stdin "get-stdin")))
  (core func $read (canon lower (func $streams "[method]input-stream.read")
    (memory $mem) (realloc $realloc)))

  (core module $module)
  (core instance $guest (instantiate $module (with "host" (instance
    (export "memory" (memory $mem))
    (export "exit" (func $exit))
    (export "now" (func $now))
    (export "subscribe-duration" (func $subscribe-duration))
    (export "ready" (func $ready))
    (export "block" (func $block))
    (export "drop-pollable" (func $drop-pollable))
    (export "random" (func $random))
    (export "arguments" (func $arguments))
    (export "get-stdout" (func $get-stdout))
    (export "check-write" (func $check-write))
    (export "write" (func $write))
    (export "splice" (func $splice))
    (export "get-stdin" (func $get-stdin))
    (export "read" (func $read))))))
  (func $run (result (result)) (canon lift (core func $guest "run")))
  (instance $command (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $command)))"#;
