//! A component type that doubles with each of 40 levels.

use std::fmt::Write as _;

pub fn wat() -> String {
    let mut types = String::from("(type $t0 (tuple u64 u64))");
    for level in 1..=40 {
        let inner = level - 1;
        let _ = write!(types, "(type $t{level} (tuple $t{inner} $t{inner}))");
    }
    format!("(component {types} (type (func (param \"x\" $t40))))")
}
