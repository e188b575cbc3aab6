//! Rows 31, 34 and 47: files that are no hooks, and files that are another by the time they are used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hookcell::Event;
use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::guests;
use crate::support::guest;
use crate::support::row::{Row, blocks_what_is_dangerous};
use crate::support::{SCRIPTED, alone, host, runtime};

#[test]
fn row_31_what_is_no_webassembly_is_named() {
    for (bytes, message) in [
        (&b""[..], "the file is empty"),
        (
            b"\0as",
            "not valid WebAssembly: the file is cut off in its first 4 bytes",
        ),
        (
            b"hello",
            "this is not WebAssembly: a .wasm file begins with the bytes 00 61 73 6d",
        ),
        (b"#!/bin/sh\n", "this is a script; use it as `\"command\"`"),
        (
            b" (module)",
            "this is WebAssembly text; translate it into a .wasm file first",
        ),
        (
            b"(component)",
            "this is WebAssembly text; translate it into a .wasm file first",
        ),
        (
            // What a precompiled component begins with.
            b"\x7fELF\x02\x01\x01\xc8\0\0\0\0\0\0\0\0",
            "this is machine code; a precompiled component is never accepted, only its .wasm file",
        ),
    ] {
        Row::of(bytes)
            .fails(FailureKind::ComponentInvalid)
            .says(message);
    }
}

#[test]
fn row_31_a_file_that_cannot_be_read_is_named() {
    let row = Row::at(std::path::Path::new("missing.wasm"));
    let path = row.project().join("missing.wasm");
    row.fails(FailureKind::ComponentUnreadable)
        .says(&format!("`{}` does not exist", path.display()));
    let row = Row::at(std::path::Path::new("folder"));
    std::fs::create_dir(row.project().join("folder")).unwrap();
    row.fails(FailureKind::ComponentUnreadable);
    Row::at(std::path::Path::new("/dev/zero")).fails(FailureKind::ComponentUnreadable);
    let row = Row::at(std::path::Path::new("itself.wasm"));
    std::os::unix::fs::symlink("itself.wasm", row.project().join("itself.wasm")).unwrap();
    row.fails(FailureKind::ComponentUnreadable);
    // Sparse: it takes no room, and reading it would.
    let row = Row::of(b"\0asm\x01\0\0\0");
    let file = std::fs::File::options()
        .write(true)
        .open(row.project().join("hostile.wasm"))
        .unwrap();
    file.set_len(1 << 40).unwrap();
    row.fails(FailureKind::ComponentUnreadable);
}

#[test]
fn row_31_what_is_asked_for_and_is_not_there_is_named() {
    let module = |import: &str| {
        format!(
            r#"(module (import {import}) (memory (export "memory") 1) (func (export "_start")))"#
        )
    };
    for (text, kind, named) in [
        (
            module(r#""env" "system" (func (param i32))"#),
            FailureKind::UnknownImport,
            "`env`",
        ),
        (
            module(r#""wasi_unstable" "fd_write" (func)"#),
            FailureKind::UnknownImport,
            "`wasi_unstable`",
        ),
        (
            module(r#""wasi_snapshot_preview1" "no_such_call" (func)"#),
            FailureKind::UnknownImport,
            "no_such_call",
        ),
        (
            module(r#""wasi_snapshot_preview1" "fd_write" (func)"#),
            FailureKind::UnknownImport,
            "fd_write",
        ),
        (
            module(r#""wasi_snapshot_preview1" "fd_write" (global i32)"#),
            FailureKind::UnknownImport,
            "fd_write",
        ),
        (
            module(r#""wasi" "thread-spawn" (func (param i32) (result i32))"#),
            FailureKind::UnknownImport,
            "`wasi`",
        ),
        (
            r#"(component (import "evil:host/exec@1.0.0" (instance)))"#.into(),
            FailureKind::UnknownImport,
            "`evil:host/exec@1.0.0`",
        ),
        (
            r#"(component (import "wasi:cli/stdin@1.0.0" (instance)))"#.into(),
            FailureKind::UnknownImport,
            "`wasi:cli/stdin@1.0.0`",
        ),
        (
            r#"(component (import "wasi:cli/stdin" (instance)))"#.into(),
            FailureKind::UnknownImport,
            "`wasi:cli/stdin`",
        ),
        (
            r#"(component (import "wasi:cli/stdin@0.3.0" (instance)))"#.into(),
            FailureKind::UnsupportedWasi,
            "`wasi:cli/stdin@0.3.0`",
        ),
        (
            r#"(component (instance $i) (export "wasi:cli/run@0.3.0" (instance $i)))"#.into(),
            FailureKind::UnsupportedWasi,
            "`wasi:cli/run@0.3.0`",
        ),
        (
            "(component)".into(),
            FailureKind::MissingExport,
            "`wasi:cli/run`",
        ),
        ("(module)".into(), FailureKind::MissingExport, "`_start`"),
        (
            r#"(module (func (export "_start")))"#.into(),
            FailureKind::MissingExport,
            "`memory`",
        ),
        (
            r#"(module (memory (export "memory") 1) (func (export "_initialize")))"#.into(),
            FailureKind::MissingExport,
            "`_initialize`",
        ),
    ] {
        let seen = Row::of(guest::text(&text)).fails(kind);
        assert!(seen.message().contains(named), "{}", seen.message());
    }
}

/// The names are right and the types are not.
#[test]
fn row_31_an_interface_with_other_types_is_named() {
    let run = r#"(core module $m (func (export "run") (result i32) (i32.const 0)))
        (core instance $m (instantiate $m))
        (func $run (result (result)) (canon lift (core func $m "run")))
        (instance $run (export "run" (func $run)))
        (export "wasi:cli/run@0.2.0" (instance $run))"#;
    for import in [
        r#"(import "wasi:random/random@0.2.0" (instance (export "get-random-u64" (func (result string)))))"#,
        r#"(import "wasi:random/random@0.2.0" (instance (export "no-such-function" (func))))"#,
        r#"(import "wasi:random/no-such-interface@0.2.0" (instance (export "f" (func))))"#,
        r#"(import "wasi:cli/environment@0.2.0" (instance (export "get-environment" (type (sub resource)))))"#,
    ] {
        Row::of(guest::text(&format!("(component {import} {run})")))
            .fails(FailureKind::UnknownImport);
    }
    // What it exports as its program is none.
    for (text, kind) in [
        (
            r#"(component (core module $m (func (export "run") (param i32)))
                (core instance $m (instantiate $m))
                (func $run (param "x" u32) (canon lift (core func $m "run")))
                (instance $run (export "run" (func $run)))
                (export "wasi:cli/run@0.2.0" (instance $run)))"#,
            FailureKind::MissingExport,
        ),
        (
            r#"(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))"#,
            FailureKind::MissingExport,
        ),
        (
            r#"(module (memory (export "memory") 1) (func (export "_start") (param i32)))"#,
            FailureKind::MissingExport,
        ),
        (
            r#"(module (memory (export "memory") 1) (global (export "_start") i32 (i32.const 1)))"#,
            FailureKind::MissingExport,
        ),
    ] {
        Row::of(guest::text(text)).fails(kind);
    }
}

/// Small numbers that follow from one another, the same in every run.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

/// Whatever a broken file is taken for, it is one record, in time, and no fault of the host.
#[test]
fn row_31_a_broken_file_is_a_failure_or_another_guest() {
    let mut number = numbers();
    for file in SCRIPTED {
        let whole = std::fs::read(file).unwrap();
        for round in 0..24 {
            let mut bytes = whole.clone();
            if round % 3 == 0 {
                bytes.truncate(number(whole.len()));
            } else {
                for _ in 0..=number(4) {
                    let bit = number(bytes.len() * 8);
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
            }
            let seen = Row::of(bytes)
                .hook(json!({"args": ["exit=0"], "timeout": 1}))
                .run();
            if let Some(failure) = &seen.record.failure {
                assert_ne!(failure.kind, FailureKind::Host, "{failure}");
            }
        }
    }
}

/// What the engine could do and no hook needs is off, and stays off.
#[test]
fn row_47_proposals_that_no_hook_needs_are_off() {
    for (what, extra) in [
        ("shared memory", "(memory $m 1 1 shared)"),
        ("64-bit memory", "(module $x)"),
        (
            "atomics",
            r#"(func (drop (i32.atomic.load (i32.const 0))))"#,
        ),
        (
            "garbage collection",
            "(type $s (struct (field i32))) (func (drop (struct.new_default $s)))",
        ),
        ("exceptions", "(tag $t) (func (throw $t))"),
        (
            "stack switching",
            "(type $f (func)) (type $c (cont $f)) (func (param (ref $f)) (drop (cont.new $c (local.get 0))))",
        ),
        (
            "wide arithmetic",
            "(func (param i64 i64) (i64.mul_wide_u (local.get 0) (local.get 1)) (drop) (drop))",
        ),
        ("custom page sizes", ""),
    ] {
        let text = match what {
            "64-bit memory" => {
                r#"(module (memory (export "memory") i64 1) (func (export "_start")))"#.to_owned()
            }
            "custom page sizes" => {
                r#"(module (memory (export "memory") 1 (pagesize 1)) (func (export "_start")))"#
                    .to_owned()
            }
            _ => {
                format!(r#"(module (memory (export "memory") 1) {extra} (func (export "_start")))"#)
            }
        };
        let seen = Row::of(guest::text(&text)).run();
        let kind = seen.record.failure.as_ref().map(|it| it.kind);
        assert_eq!(
            kind,
            Some(FailureKind::ComponentInvalid),
            "{what}: {:?}",
            seen.record
        );
    }
}

fn says(reason: &str) -> Vec<u8> {
    guest::says(
        json!({"decision": "block", "reason": reason})
            .to_string()
            .as_bytes(),
        b"",
        0,
    )
}

fn pin(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[test]
fn row_34_a_file_that_was_replaced_is_not_what_was_approved() {
    let (approved, other) = (says("approved"), says("other"));
    Row::of(&approved)
        .hook(json!({"sha256": pin(&approved)}))
        .blocks("approved");
    Row::of(&other)
        .hook(json!({"sha256": pin(&approved)}))
        .fails(FailureKind::DigestMismatch)
        .says(&format!(
            "its SHA-256 is {}, and `sha256` pins {}",
            pin(&other),
            pin(&approved)
        ));
    // Bytes that cannot be compiled are not looked at before the pin is.
    Row::of(guests::row_32_fifty_thousand_functions())
        .hook(json!({"sha256": pin(&approved)}))
        .fails(FailureKind::DigestMismatch);
}

/// A host has read its guests once: what is written over the file later is seen by the next host.
#[test]
fn row_34_a_host_runs_what_it_has_read() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hook.wasm");
    let (approved, other) = (says("approved"), says("other"));
    std::fs::write(&path, &approved).unwrap();
    let hooks_json = |pin: &str| {
        json!({"hooks": {
            "Stop": [{"hooks": [{"type": "component", "component": "hook.wasm", "timeout": 20, "sha256": pin}]}],
            "PreToolUse": [{"hooks": [{"type": "component", "component": "builtin:block-dangerous-commands", "timeout": 20}]}],
        }})
    };
    let runtime = runtime();
    let stop = Event::parse("{}", Some("Stop")).unwrap();
    let first = host(&hooks_json(&pin(&approved)), folder.path());
    let reason = |decision: hookcell::Decision| decision.reason;
    assert_eq!(
        reason(runtime.block_on(first.dispatch(&stop))).as_deref(),
        Some("approved")
    );
    std::fs::write(&path, &other).unwrap();
    assert_eq!(
        reason(runtime.block_on(first.dispatch(&stop))).as_deref(),
        Some("approved")
    );
    let second = host(&hooks_json(&pin(&approved)), folder.path());
    let decision = runtime.block_on(second.dispatch(&stop));
    assert_eq!(
        decision.records[0].failure.as_ref().unwrap().kind,
        FailureKind::DigestMismatch
    );
    let third = host(&hooks_json(&pin(&other)), folder.path());
    assert_eq!(
        reason(runtime.block_on(third.dispatch(&stop))).as_deref(),
        Some("other")
    );
    blocks_what_is_dangerous(&runtime, &first);
}

/// Replaced in the very moment in which it is read: it is the approved one or none.
#[test]
fn row_34_a_file_swapped_meanwhile_is_the_approved_one_or_none() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hook.wasm");
    let (approved, other) = (says("approved"), says("other"));
    std::fs::write(&path, &approved).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (done, folder, path) = (Arc::clone(&done), folder.path().to_owned(), path.clone());
        let versions = [approved.clone(), other];
        move || {
            for round in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let version = &versions[round % 2];
                if round % 4 < 2 {
                    std::fs::write(folder.join("next"), version).unwrap();
                    std::fs::rename(folder.join("next"), &path).unwrap();
                } else {
                    // Over the file itself, so that it can be read half one and half the other.
                    std::fs::write(&path, version).unwrap();
                }
            }
        }
    });
    let hooks_json = json!({"hooks": {"Stop": [{"hooks": [
        {"type": "component", "component": "hook.wasm", "timeout": 20, "sha256": pin(&approved)}
    ]}]}});
    let runtime = runtime();
    let stop = Event::parse("{}", Some("Stop")).unwrap();
    let mut ran = 0;
    for _ in 0..200 {
        let host = host(&hooks_json, folder.path());
        let decision = runtime.block_on(host.dispatch(&stop));
        match &decision.records[0].failure {
            None => {
                assert_eq!(
                    (decision.permission, decision.reason.as_deref()),
                    (Some(Permission::Deny), Some("approved"))
                );
                ran += 1;
            }
            Some(failure) => assert!(
                matches!(
                    failure.kind,
                    FailureKind::DigestMismatch | FailureKind::ComponentUnreadable
                ),
                "{failure}"
            ),
        }
    }
    done.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
    assert!(ran > 0, "the approved file was never read whole");
}
