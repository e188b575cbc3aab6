;; Opens one name again and again, which somebody else makes a file and a link out of the folder in
;; turn. Exits with 3 as soon as it has read what lies outside.
(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\20\00\00\00\01\00\00\00")
  (data (i32.const 100) "swapped")
  (func (export "_start") (local $left i32)
    (local.set $left (i32.const 5000))
    (loop $again
      (i32.store8 (i32.const 32) (i32.const 0))
      (if (i32.eqz (call $path_open
            (i32.const 3) (i32.const 1) (i32.const 100) (i32.const 7)
            (i32.const 0) (i64.const 2) (i64.const 2) (i32.const 0) (i32.const 16)))
        (then
          (drop (call $read (i32.load (i32.const 16)) (i32.const 0) (i32.const 1) (i32.const 20)))
          (drop (call $close (i32.load (i32.const 16))))
          ;; The file begins with `i`, what lies outside does not.
          (if (i32.ne (i32.load8_u (i32.const 32)) (i32.const 105)) (then (call $exit (i32.const 3))))))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))))
