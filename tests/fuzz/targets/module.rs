//! A core module through the whole host: exactly one record, within the limits. Most inputs are
//! valid modules that are programs for WASI preview1 and do something; some are other valid
//! modules, some are broken, some are just bytes.
#![no_main]

use std::sync::LazyLock;

use hookcell_fuzz::{assert_one_record, broken, config};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::{Corpus, fuzz_target};
use wasm_smith::{Config, Module};

static IMPORTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    wat::parse_str(
        r#"(module
            (type $path_open (func (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
            (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_read" (func (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_close" (func (param i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_renumber" (func (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_fdstat_get" (func (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "fd_prestat_get" (func (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "path_open" (func (type $path_open)))
            (import "wasi_snapshot_preview1" "args_sizes_get" (func (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "args_get" (func (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "environ_get" (func (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "clock_time_get" (func (param i32 i64 i32) (result i32)))
            (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "poll_oneoff" (func (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "sched_yield" (func (result i32))))"#,
    )
    .expect("valid text")
});

static EXPORTS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    wat::parse_str(
        r#"(module
            (memory (export "memory") 1)
            (func (export "_start")))"#,
    )
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
        1 => Module::new(Config::default(), &mut input)?.to_bytes(),
        2 => broken(program(&mut input)?, &mut input)?,
        _ => program(&mut input)?,
    })
}

fn program(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let config = Config {
        available_imports: Some(IMPORTS.clone()),
        exports: Some(EXPORTS.clone()),
        // Besides the one that is exported.
        max_memories: 0,
        ..config(input)?
    };
    Ok(Module::new(config, input)?.to_bytes())
}
