;; Makes handles of a resource of its own, and drops none.
(component
  (type $resource (resource (rep i32)))
  (core func $new (canon resource.new $resource))
  (core module $main
    (import "host" "new" (func $new (param i32) (result i32)))
    (func (export "run") (result i32)
      (loop $again (drop (call $new (i32.const 1))) (br $again))
      (unreachable)))
  (core instance $main (instantiate $main (with "host" (instance (export "new" (func $new))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
