//! One function of 50,000 blocks, one within the other.

pub fn wat() -> String {
    format!(
        r#"(module (memory (export "memory") 1) (func (export "_start"))
            (func (param i32) {} {}))"#,
        "block local.get 0 br_if 0 ".repeat(50_000),
        "end ".repeat(50_000)
    )
}
