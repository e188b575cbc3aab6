;; Waits for a moment that no clock will reach, in a component.
(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable_))
    (export "pollable" (type $pollable (eq $pollable_)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core module $main
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "block" (func $block (param i32)))
    (func (export "run") (result i32)
      (call $block (call $subscribe (i64.const -1)))
      (i32.const 0)))
  (core instance $main (instantiate $main (with "host" (instance
    (export "subscribe" (func $subscribe))
    (export "block" (func $block))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
