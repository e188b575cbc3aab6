//! An element segment of 200,000 nulls, each of which becomes code.

pub fn wat() -> String {
    format!(
        r#"(module (memory (export "memory") 1) (func (export "_start"))
            (table 1 funcref) (elem $nulls funcref {}))"#,
        "(ref.null func)".repeat(200_000)
    )
}
