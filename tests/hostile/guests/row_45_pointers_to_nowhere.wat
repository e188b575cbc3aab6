;; Gives the host addresses beyond its memory, lengths beyond it, and both.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  ;; 64 KiB from the memory's last byte on.
  (data (i32.const 0) "\ff\ff\00\00\00\00\01\00")
  (func (export "_start")
    (drop (call $write (i32.const 1) (i32.const -8) (i32.const 1) (i32.const 16)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const -1) (i32.const 16)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const -1)))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (drop (call $args (i32.const -4) (i32.const -4)))
    (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 65533)))
    (drop (call $random (i32.const 65535) (i32.const 65536)))))
