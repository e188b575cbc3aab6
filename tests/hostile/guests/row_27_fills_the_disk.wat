;; Writes to a file in its folder without end.
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "\80\00\00\00\00\00\01\00")
  (data (i32.const 100) "large")
  (func (export "_start")
    (if (call $path_open
          (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 5)
          (i32.const 1) (i64.const 64) (i64.const 64) (i32.const 0) (i32.const 16))
      (then (unreachable)))
    (loop $again
      (drop (call $write (i32.load (i32.const 16)) (i32.const 0) (i32.const 1) (i32.const 20)))
      (br $again))))
