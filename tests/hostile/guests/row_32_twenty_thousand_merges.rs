//! One function in which control flow parts and meets again 20,000 times, with values alive across.

pub fn wat() -> String {
    format!(
        r#"(module (memory (export "memory") 1) (func (export "_start"))
            (func (param i32 i64 i64 i64) (result i64) {} local.get 3))"#,
        "local.get 0 if local.get 1 local.get 2 i64.add local.set 3 \
         else local.get 3 local.set 1 end "
            .repeat(20_000)
    )
}
