;; Traps in the middle of its work on the first event. On a next one in the same memory it would find
;; what it left, and approve.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (table $table 1 funcref)
  (global $begun (mut i32) (i32.const 0))
  (data (i32.const 0) "\10\00\00\00\16\00\00\00")
  (data (i32.const 16) "{\"decision\":\"approve\"}")
  (func $start (export "_start")
    (if (i32.or (i32.or
          (global.get $begun)
          (i32.load (i32.const 1024)))
          (i32.eqz (ref.is_null (table.get $table (i32.const 0)))))
      (then
        (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
        (return)))
    (global.set $begun (i32.const 1))
    (i32.store (i32.const 1024) (i32.const 1))
    (table.set $table (i32.const 0) (ref.func $start))
    (unreachable)))
