;; Makes things to wait for, and drops none.
(component
  (import "wasi:io/poll@0.2.0" (instance $poll (export "pollable" (type $pollable (sub resource)))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $pollable_))
    (export "pollable" (type $pollable (eq $pollable_)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core module $main
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (func (export "run") (result i32)
      (loop $again (drop (call $subscribe (i64.const 1_000_000_000))) (br $again))
      (unreachable)))
  (core instance $main (instantiate $main (with "host" (instance (export "subscribe" (func $subscribe))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
