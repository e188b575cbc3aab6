//! Guests that are made where they are used.

/// A guest given as text.
pub fn text(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// A preview1 module that writes these bytes and exits with this code, whatever it is.
pub fn says(stdout: &[u8], stderr: &[u8], exit: i32) -> Vec<u8> {
    let escaped = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("\\{byte:02x}"))
            .collect::<String>()
    };
    let pages = (stdout.len() + stderr.len()) / 65_536 + 2;
    text(&format!(
        r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") {pages})
            (data (i32.const 1024) "{stdout}{stderr}")
            (func $put (param $stream i32) (param $at i32) (param $length i32)
                (loop $again
                    (if (i32.eqz (local.get $length)) (then (return)))
                    (i32.store (i32.const 0) (local.get $at))
                    (i32.store (i32.const 4) (local.get $length))
                    (if (call $write (local.get $stream) (i32.const 0) (i32.const 1) (i32.const 8))
                        (then (unreachable)))
                    (local.set $at (i32.add (local.get $at) (i32.load (i32.const 8))))
                    (local.set $length (i32.sub (local.get $length) (i32.load (i32.const 8))))
                    (br $again)))
            (func (export "_start")
                (call $put (i32.const 1) (i32.const 1024) (i32.const {stdout_length}))
                (call $put (i32.const 2) (i32.const {stderr_at}) (i32.const {stderr_length}))
                (call $exit (i32.const {exit}))))"#,
        stdout = escaped(stdout),
        stderr = escaped(stderr),
        stdout_length = stdout.len(),
        stderr_at = 1024 + stdout.len(),
        stderr_length = stderr.len(),
    ))
}

/// A preview1 module whose `_start` is these instructions.
pub fn start(instructions: &str) -> Vec<u8> {
    text(&format!(
        r#"(module (memory (export "memory") 1) (func (export "_start") {instructions}))"#
    ))
}
