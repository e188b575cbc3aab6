//! Twenty memories of 56.25 MiB: each alone is within the limit.

pub fn wat() -> String {
    let instances = "(core instance (instantiate $memory))".repeat(20);
    format!(
        r#"(component
            (core module $memory (memory 900))
            {instances}
            (core module $main (func (export "run") (result i32) (i32.const 0)))
            (core instance $main (instantiate $main))
            (func $run (result (result)) (canon lift (core func $main "run")))
            (instance $interface (export "run" (func $run)))
            (export "wasi:cli/run@0.2.0" (instance $interface)))"#
    )
}
