//! One function of 500,000 multiplications.

pub fn wat() -> String {
    format!(
        r#"(module (memory (export "memory") 1) (func (export "_start"))
            (func (param i64) (result i64) local.get 0 {}))"#,
        "i64.const 0x1234567890 i64.mul ".repeat(500_000)
    )
}
