//! 50,000 empty functions: 200 KB, each of which costs the compiler far more than it costs to write.

pub fn wat() -> String {
    format!(
        r#"(module (memory (export "memory") 1) (func (export "_start")) {})"#,
        "(func)".repeat(50_000)
    )
}
