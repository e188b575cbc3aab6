;; Opens a path of 60,000 bytes, a name of 300, one with a NUL in it, and one of nothing at all. Says
;; the number of each error on standard error.
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 100) "a\00b")
  (global $end (mut i32) (i32.const 2048))
  (func $open (param $path i32) (param $length i32) (local $error i32)
    (local.set $error (call $path_open
      (i32.const 3) (i32.const 1) (local.get $path) (local.get $length)
      (i32.const 0) (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 16)))
    (i32.store8 (global.get $end) (i32.add (i32.const 48) (i32.div_u (local.get $error) (i32.const 10))))
    (i32.store8 offset=1 (global.get $end) (i32.add (i32.const 48) (i32.rem_u (local.get $error) (i32.const 10))))
    (i32.store8 offset=2 (global.get $end) (i32.const 32))
    (global.set $end (i32.add (global.get $end) (i32.const 3))))
  (func (export "_start") (local $at i32)
    ;; x/x/x/…
    (memory.fill (i32.const 4096) (i32.const 47) (i32.const 60000))
    (local.set $at (i32.const 4096))
    (loop $again
      (i32.store8 (local.get $at) (i32.const 120))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (br_if $again (i32.lt_u (local.get $at) (i32.const 64096))))
    (call $open (i32.const 4096) (i32.const 60000))
    (memory.fill (i32.const 4096) (i32.const 120) (i32.const 300))
    (call $open (i32.const 4096) (i32.const 300))
    (call $open (i32.const 100) (i32.const 3))
    (call $open (i32.const 100) (i32.const 0))
    (i32.store (i32.const 0) (i32.const 2048))
    (i32.store (i32.const 4) (i32.sub (global.get $end) (i32.const 2048)))
    (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8)))))
