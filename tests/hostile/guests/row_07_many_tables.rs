//! Sixty tables, each as large as one may be, with something in every element.

pub fn wat() -> String {
    let tables: String = (0..60).map(|table| format!("(table $t{table} 100_000 funcref)")).collect();
    let fills: String = (0..60)
        .map(|table| {
            format!("(table.fill $t{table} (i32.const 0) (ref.func $start) (i32.const 100_000))")
        })
        .collect();
    format!(
        r#"(module (memory (export "memory") 1) {tables}
            (func $start (export "_start") {fills}))"#
    )
}
