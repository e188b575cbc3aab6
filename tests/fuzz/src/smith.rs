//! What modules may be like.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use wasm_smith::Config;

/// What the engine takes, and one time in eight anything at all. Small, since what a guest is
/// compiled for is to be run.
///
/// # Errors
///
/// When the input has no bytes left to choose by.
pub fn config(input: &mut Unstructured<'_>) -> Result<Config> {
    // This way round, since an input that is used up is all zeros.
    let anything = !input.ratio(7, 8)?;
    Ok(Config {
        max_memories: if anything { 2 } else { 1 },
        max_memory32_bytes: 8 << 20,
        max_instructions: 300,
        max_funcs: 12,
        max_tables: 2,
        max_table_elements: 200_000,
        bulk_memory_enabled: true,
        compact_imports_enabled: anything,
        exceptions_enabled: anything,
        gc_enabled: anything,
        memory64_enabled: anything,
        multi_value_enabled: true,
        reference_types_enabled: anything,
        relaxed_simd_enabled: anything,
        simd_enabled: input.arbitrary()?,
        tail_call_enabled: input.arbitrary()?,
        threads_enabled: anything,
        wide_arithmetic_enabled: anything,
        generate_custom_sections: input.arbitrary()?,
        ..Config::default()
    })
}

/// `bytes` with a few of them replaced, and sometimes cut.
///
/// # Errors
///
/// When the input has no bytes left to choose by.
pub fn broken(mut bytes: Vec<u8>, input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    for _ in 0..input.int_in_range(1..=8)? {
        let index = input.choose_index(bytes.len())?;
        bytes[index] = input.arbitrary()?;
    }
    if input.ratio(1, 4)? {
        bytes.truncate(input.choose_index(bytes.len())?);
    }
    Ok(bytes)
}
