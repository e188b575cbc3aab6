;; Waits for the first of no events at all.
(component
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "poll" (func (param "in" (list (borrow $pollable))) (result (list u32))))))
  (core module $memory
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 64)))
  (core instance $memory (instantiate $memory))
  (core func $poll (canon lower (func $poll "poll")
    (memory (core memory $memory "memory")) (realloc (core func $memory "realloc"))))
  (core module $main
    (import "host" "poll" (func $poll (param i32 i32 i32)))
    (func (export "run") (result i32)
      (call $poll (i32.const 0) (i32.const 0) (i32.const 32))
      (i32.const 0)))
  (core instance $main (instantiate $main (with "host" (instance (export "poll" (func $poll))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
