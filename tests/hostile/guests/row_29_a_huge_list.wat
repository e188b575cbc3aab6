;; Waits for the first of ten million events, all the same one.
(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "poll" (func (param "in" (list (borrow $pollable))) (result (list u32))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable_))
    (export "pollable" (type $pollable (eq $pollable_)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (core module $memory
    (memory (export "memory") 800)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $memory (instantiate $memory))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $poll (canon lower (func $poll "poll")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core module $main
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "poll" (func $poll (param i32 i32 i32)))
    (import "host" "memory" (memory 800))
    (func (export "run") (result i32) (local $at i32) (local $pollable i32)
      (local.set $pollable (call $subscribe (i64.const 0)))
      (local.set $at (i32.const 1024))
      (loop $again
        (i32.store (local.get $at) (local.get $pollable))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br_if $again (i32.lt_u (local.get $at) (i32.const 40_001_024))))
      (call $poll (i32.const 1024) (i32.const 10_000_000) (i32.const 0))
      (i32.const 0)))
  (core instance $main (instantiate $main (with "host" (instance
    (export "subscribe" (func $subscribe))
    (export "poll" (func $poll))
    (export "memory" (memory $memory "memory"))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
