;; Makes one empty file after the other in its folder.
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (memory (export "memory") 1)
  (global $number (mut i32) (i32.const 0))
  (func (export "_start") (local $digit i32)
    (loop $again
      (local.set $digit (i32.const 0))
      (loop $digits
        (i32.store8 offset=100 (local.get $digit) (i32.add (i32.const 97)
          (i32.and (i32.shr_u (global.get $number) (i32.shl (local.get $digit) (i32.const 2))) (i32.const 15))))
        (local.set $digit (i32.add (local.get $digit) (i32.const 1)))
        (br_if $digits (i32.lt_u (local.get $digit) (i32.const 8))))
      (if (call $path_open
            (i32.const 3) (i32.const 0) (i32.const 100) (i32.const 8)
            (i32.const 1) (i64.const 64) (i64.const 64) (i32.const 0) (i32.const 16))
        (then (unreachable)))
      (drop (call $close (i32.load (i32.const 16))))
      (global.set $number (i32.add (global.get $number) (i32.const 1)))
      (br $again))))
