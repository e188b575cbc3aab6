//! How much of everything a file holds: cheap bounds that are looked at before a compiler is.
//!
//! They are far above what the largest known guests have, and below what stops a compiler.

use wasmparser::{BinaryReaderError, ElementItems, Payload};

/// Function bodies; the largest known guest, Python with its libraries, has some 30,000.
const FUNCTIONS: u64 = 100_000;
/// Types of functions, components and instances.
const TYPES: u64 = 100_000;
/// Elements of tables that a file initialises.
const ELEMENTS: u64 = 100_000;
/// Segments of data.
const DATA_SEGMENTS: u64 = 100_000;
/// Imports and exports.
const NAMES: u64 = 20_000;
/// Modules and components within each other.
const DEPTH: u64 = 16;
/// Modules and components.
const MODULES: u64 = 1_000;

/// The counts of one file, all its modules and components together.
#[derive(Debug, Default)]
pub(super) struct Bulk {
    functions: u64,
    types: u64,
    elements: u64,
    data_segments: u64,
    names: u64,
    modules: u64,
    /// The bytes of all function bodies.
    pub(super) code_bytes: u64,
}

impl Bulk {
    /// Counts what a payload brings.
    pub(super) fn count(&mut self, payload: &Payload<'_>) -> Result<(), BinaryReaderError> {
        match payload {
            Payload::CodeSectionStart { size, .. } => self.code_bytes += u64::from(*size),
            Payload::FunctionSection(section) => self.functions += u64::from(section.count()),
            Payload::TypeSection(section) => self.types += u64::from(section.count()),
            Payload::CoreTypeSection(section) => self.types += u64::from(section.count()),
            Payload::ComponentTypeSection(section) => self.types += u64::from(section.count()),
            Payload::ElementSection(section) => {
                for element in section.clone() {
                    self.elements += u64::from(match element?.items {
                        ElementItems::Functions(items) => items.count(),
                        ElementItems::Expressions(_, items) => items.count(),
                    });
                }
            }
            Payload::DataSection(section) => self.data_segments += u64::from(section.count()),
            Payload::ImportSection(section) => self.names += u64::from(section.count()),
            Payload::ExportSection(section) => self.names += u64::from(section.count()),
            Payload::ComponentImportSection(section) => self.names += u64::from(section.count()),
            Payload::ComponentExportSection(section) => self.names += u64::from(section.count()),
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => self.modules += 1,
            _ => {}
        }
        Ok(())
    }

    /// The first count that is beyond its bound, in words.
    pub(super) fn check(&self, depth: u64) -> Result<(), String> {
        for (count, most, what) in [
            (self.functions, FUNCTIONS, "functions"),
            (self.types, TYPES, "types"),
            (self.elements, ELEMENTS, "table elements"),
            (self.data_segments, DATA_SEGMENTS, "data segments"),
            (self.names, NAMES, "imports and exports"),
            (self.modules, MODULES, "modules and components"),
            (depth, DEPTH, "levels of components within each other"),
        ] {
            if count > most {
                return Err(format!(
                    "it has {count} {what}; at most {most} are compiled"
                ));
            }
        }
        Ok(())
    }
}
