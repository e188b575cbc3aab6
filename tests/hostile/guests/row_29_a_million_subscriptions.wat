;; Has preview1's poll take a million subscriptions at once, each of which the host would keep. Exits with
;; the number of the error.
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1000)
  (func (export "_start") (local $at i32)
    (loop $again
      (i32.store offset=16 (local.get $at) (i32.const 1))
      (i64.store offset=24 (local.get $at) (i64.const 3_600_000_000_000))
      (local.set $at (i32.add (local.get $at) (i32.const 48)))
      (br_if $again (i32.lt_u (local.get $at) (i32.const 48_000_000))))
    (call $exit (call $poll (i32.const 0) (i32.const 0) (i32.const 1_000_000) (i32.const 65_000_000)))))
