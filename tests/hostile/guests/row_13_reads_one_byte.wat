;; Reads one byte of the event and decides.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\20\00\00\00\01\00\00\00")
  (data (i32.const 8) "\40\00\00\00\2b\00\00\00")
  (data (i32.const 64) "{\"decision\":\"block\",\"reason\":\"one byte: ?\"}")
  (func (export "_start")
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (i32.store8 (i32.const 104) (i32.load8_u (i32.const 32)))
    (drop (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 16)))))
