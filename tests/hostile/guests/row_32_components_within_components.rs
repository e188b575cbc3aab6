//! 2,000 components, one within the other.

pub fn wat() -> String {
    // Written as bytes: the text format is read by a parser that would run out of stack.
    let mut inner = Vec::from(*b"\0asm\x0d\0\x01\0");
    for _ in 0..2000 {
        let mut outer = Vec::from(*b"\0asm\x0d\0\x01\0\x04");
        let mut left = inner.len();
        while left >= 0x80 {
            outer.push((left & 0x7f) as u8 | 0x80);
            left >>= 7;
        }
        outer.push(left as u8);
        outer.extend(&inner);
        inner = outer;
    }
    let escaped: String = inner.iter().map(|byte| format!("\\{byte:02x}")).collect();
    format!("(component binary \"{escaped}\")")
}
