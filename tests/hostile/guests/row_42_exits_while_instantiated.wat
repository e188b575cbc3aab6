;; Blocks before anything is called: exits with 2 while it is instantiated.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (func $start (call $exit (i32.const 2)))
  (start $start)
  (memory (export "memory") 1)
  (func (export "_start")))
