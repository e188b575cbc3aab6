//! A module that does nothing, and 10 MB of names of its functions.

pub fn wat() -> String {
    let name = "n".repeat(100_000);
    let functions: String = (0..100).map(|index| format!("(func ${name}{index})")).collect();
    format!(r#"(module (memory (export "memory") 1) (func (export "_start") unreachable) {functions})"#)
}
