;; A component whose instantiation computes for ever, in a core module that it starts.
(component
  (core module $first (func $spin (loop $again (br $again))) (start $spin))
  (core instance (instantiate $first))
  (core module $main (func (export "run") (result i32) (i32.const 0)))
  (core instance $main (instantiate $main))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
