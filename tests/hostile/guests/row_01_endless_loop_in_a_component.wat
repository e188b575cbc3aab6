;; Computes for ever, as a component.
(component
  (core module $main (func (export "run") (result i32) (loop $again (br $again)) (unreachable)))
  (core instance $main (instantiate $main))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
