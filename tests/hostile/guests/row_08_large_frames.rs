//! Calls itself without end, with 4,000 values on the stack at each level.

use std::fmt::Write as _;

pub fn wat() -> String {
    let mut text = String::from(
        r#"(module (memory (export "memory") 1)
            (func $deeper (param $level i64) (result i64)
                (local "#,
    );
    text.push_str(&"i64 ".repeat(4000));
    text.push_str(")\n");
    // All are alive across the call, so that none can be left out of the frame.
    for local in 1..=4000 {
        let _ = writeln!(text, "(local.set {local} (i64.load offset={local} (i32.wrap_i64 (local.get 0))))");
    }
    text.push_str("(call $deeper (i64.add (local.get 0) (i64.const 1)))\n");
    for local in 1..=4000 {
        let _ = writeln!(text, "(i64.add (local.get {local}))");
    }
    text.push_str(")\n(func (export \"_start\") (drop (call $deeper (i64.const 0)))))");
    text
}
