;; Writes 5 MiB to standard error, and ends well.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 0) "\10\00\00\00\00\00\01\00")
  (func (export "_start") (local $left i32)
    (memory.fill (i32.const 16) (i32.const 69) (i32.const 65536))
    (local.set $left (i32.const 80))
    (loop $again
      (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))
      (if (i32.ne (i32.load (i32.const 8)) (i32.const 65536)) (then (unreachable)))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))))
