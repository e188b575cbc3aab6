//! A component that is five hundred instances of nothing.

pub fn wat() -> String {
    let instances = "(core instance (instantiate $nothing))".repeat(500);
    format!(
        r#"(component
            (core module $nothing)
            {instances}
            (core module $main (func (export "run") (result i32) (i32.const 0)))
            (core instance $main (instantiate $main))
            (func $run (result (result)) (canon lift (core func $main "run")))
            (instance $interface (export "run" (func $run)))
            (export "wasi:cli/run@0.2.0" (instance $interface)))"#
    )
}
