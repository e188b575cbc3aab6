;; Closes all its streams and exits with 2.
(module
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $close (i32.const 0)))
    (drop (call $close (i32.const 1)))
    (drop (call $close (i32.const 2)))
    (call $exit (i32.const 2))))
