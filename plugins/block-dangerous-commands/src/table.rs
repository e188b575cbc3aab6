//! Sets of bytes, as tables: most of a text's bytes are looked up in one.

/// Which bytes are in the set.
pub type Table = [bool; 256];

pub const fn table(bytes: &[u8]) -> Table {
    let mut table = [false; 256];
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
}

pub const fn with_control_characters(mut table: Table) -> Table {
    let mut byte = 0;
    while byte < b' ' as usize {
        table[byte] = true;
        byte += 1;
    }
    table
}
