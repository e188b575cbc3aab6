//! One function of 300,000 loads.

pub fn wat() -> String {
    format!(
        r#"(module (memory (export "memory") 1) (func (export "_start"))
            (func (result i32) i32.const 0 {}))"#,
        "i32.load ".repeat(300_000)
    )
}
