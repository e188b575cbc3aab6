//! The JSON Schema of hooks.json, made from the types that it is read with.

use super::entry::FileEntry;

/// The JSON Schema (draft 2020-12) of hooks.json.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(FileEntry).to_value()
}
