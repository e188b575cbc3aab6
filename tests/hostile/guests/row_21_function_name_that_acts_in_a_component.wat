;; The same in a component.
(component
  (core module $main
    (func $evil (@name "\1b[31mred\1b]0;title\07\0a\0d\e2\80\ae") unreachable)
    (func (export "run") (result i32) (call $evil) (i32.const 0)))
  (core instance $main (instantiate $main))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $interface (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $interface)))
