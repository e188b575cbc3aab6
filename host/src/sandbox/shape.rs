//! What a WebAssembly file is, what it asks for and what it can do, without compiling it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmparser::component_types::ComponentEntityType;
use wasmparser::types::Types;
use wasmparser::{Encoding, ExternalKind, Parser, Payload, Validator, WasmFeatures};

use super::bulk::Bulk;
use super::interfaces::{self, Standing};
use super::link::Offer;
use crate::outcome::{Failure, FailureKind};
use crate::text;

/// The module whose functions are WASI preview1.
const PREVIEW1: &str = "wasi_snapshot_preview1";

/// The two kinds of file that can be a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A component of the component model, for WASI 0.2.
    Component,
    /// A core module, for WASI preview1.
    Module,
}

/// Which exit codes a guest can end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitCodes {
    /// Every one: it imports `exit-with-code`, or preview1's `proc_exit`.
    Any,
    /// 0 and 1: it imports only the `exit` that carries a boolean, or reports by its result. A
    /// block must be said in JSON; an exit code 2 that its author wrote arrives as 1.
    ZeroOrOne,
    /// 0 only: a module without `proc_exit`. A block must be said in JSON.
    Zero,
}

/// What a file is, asks for, and can do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shape {
    /// Component or module.
    pub kind: Kind,
    /// The interfaces (for a module: the modules) that it imports, and the functions of each.
    pub imports: BTreeMap<String, Vec<String>>,
    /// What it exports.
    pub exports: Vec<String>,
    /// Which exit codes it can end with.
    pub exit_codes: ExitCodes,
    /// The bytes of its function bodies, all modules together: what compiling is bounded by.
    pub code_bytes: u64,
}

/// Reads and validates a file.
///
/// # Errors
///
/// [`FailureKind::ComponentInvalid`], saying what the bytes are instead, or where they break.
pub fn read(bytes: &[u8]) -> Result<Shape, Failure> {
    let invalid = |message: String| Failure::new(FailureKind::ComponentInvalid, message);
    if let Some(other) = what_else(bytes) {
        return Err(invalid(other));
    }
    let broken = |error: wasmparser::BinaryReaderError| {
        invalid(format!(
            "not valid WebAssembly: {} (at byte {} of {})",
            text::one_line(error.message(), 300),
            error.offset(),
            bytes.len()
        ))
    };
    // Everything is let through here that some toolchain may produce, so that what is not
    // supported is named by what it imports; the engine has the last word.
    let types = Validator::new_with_features(WasmFeatures::all())
        .validate_all(bytes)
        .map_err(broken)?;
    let mut shape = Shape {
        kind: Kind::Module,
        imports: BTreeMap::new(),
        exports: Vec::new(),
        exit_codes: ExitCodes::Zero,
        code_bytes: 0,
    };
    let mut bulk = Bulk::default();
    let mut depth = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(broken)?;
        bulk.count(&payload).map_err(broken)?;
        bulk.check(depth).map_err(invalid)?;
        match payload {
            Payload::Version {
                encoding: Encoding::Component,
                ..
            } if depth == 0 => shape.kind = Kind::Component,
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            // The outermost has an end too.
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    let import = import.map_err(broken)?;
                    shape
                        .imports
                        .entry(shown(import.module))
                        .or_default()
                        .push(shown(import.name));
                }
            }
            Payload::ExportSection(section) => {
                for export in section {
                    let export = export.map_err(broken)?;
                    if matches!(export.kind, ExternalKind::Func | ExternalKind::Memory) {
                        shape.exports.push(shown(export.name));
                    }
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section {
                    let name = import.map_err(broken)?.name.name;
                    shape.imports.insert(shown(name), functions(&types, name));
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section {
                    shape.exports.push(shown(export.map_err(broken)?.name.name));
                }
            }
            _ => {}
        }
    }
    shape.exit_codes = exit_codes(&shape);
    shape.code_bytes = bulk.code_bytes;
    Ok(shape)
}

impl Shape {
    /// Whether the guest can be a hook: what it imports is offered, and it exports what is run.
    /// `offer` is what of the interfaces that must be granted is.
    ///
    /// # Errors
    ///
    /// [`FailureKind::UnsupportedWasi`], [`FailureKind::UnknownImport`] or
    /// [`FailureKind::MissingExport`].
    pub fn check(&self, offer: Offer) -> Result<(), Failure> {
        let of_wasi_0_3 = |name: &&String| name.starts_with("wasi:") && name.contains("@0.3.");
        if let Some(name) = self.imports.keys().chain(&self.exports).find(of_wasi_0_3) {
            return Err(Failure::new(
                FailureKind::UnsupportedWasi,
                format!(
                    "`{name}` is of WASI 0.3, which is not offered; build the hook for WASI 0.2 (`wasm32-wasip2`)"
                ),
            ));
        }
        self.check_imports(offer)?;
        let has = |name: &str| self.exports.iter().any(|export| export == name);
        match self.kind {
            Kind::Component
                if !self
                    .exports
                    .iter()
                    .any(|name| name.starts_with("wasi:cli/run@0.2.")) =>
            {
                Err(Failure::new(
                    FailureKind::MissingExport,
                    "it does not export `wasi:cli/run`; a hook is a component of the `wasi:cli/command` world",
                ))
            }
            Kind::Module if !has("_start") => Err(Failure::new(
                FailureKind::MissingExport,
                if has("_initialize") {
                    "it exports `_initialize` and not `_start`: it is a library, and a hook is a program"
                } else {
                    "it does not export the function `_start`; a hook is a program with a `main`"
                },
            )),
            Kind::Module if !has("memory") => Err(Failure::new(
                FailureKind::MissingExport,
                "it does not export its memory as `memory`, which WASI preview1 needs",
            )),
            _ => Ok(()),
        }
    }

    /// Everything that is imported and not linked, with what would be or what would link it.
    fn check_imports(&self, offer: Offer) -> Result<(), Failure> {
        let names = || self.imports.keys().map(String::as_str);
        let mut wrong = Vec::new();
        if self.kind == Kind::Module {
            let unknown: Vec<&str> = names().filter(|name| *name != PREVIEW1).collect();
            if !unknown.is_empty() {
                wrong.push(format!(
                    "it imports {}, which is not offered; a module may import `{PREVIEW1}`",
                    listed(unknown)
                ));
            }
        } else {
            let standings: Vec<(&str, Standing)> = names()
                .map(|name| (name, interfaces::standing(name, offer)))
                .collect();
            let unknown: Vec<&str> = standings
                .iter()
                .filter(|(_, standing)| *standing == Standing::Unknown)
                .map(|(name, _)| *name)
                .collect();
            if !unknown.is_empty() {
                wrong.push(format!(
                    "it imports {}, which is not offered; {}",
                    listed(unknown),
                    interfaces::ALL
                ));
            }
            for (name, standing) in &standings {
                if let Standing::OtherVersion(offered) = standing {
                    wrong.push(format!(
                        "it imports `{name}`, of which another version is offered: `{offered}`"
                    ));
                }
            }
            let mut grants = Vec::new();
            let mut ungranted = Vec::new();
            for (name, standing) in &standings {
                if let Standing::NotGranted(grant) = standing {
                    ungranted.push(*name);
                    if !grants.contains(grant) {
                        grants.push(*grant);
                    }
                }
            }
            if !ungranted.is_empty() {
                wrong.push(format!(
                    "it imports {}, which it is not granted; add `\"permissions\": {{{}}}` to the hook",
                    listed(ungranted),
                    grants.join(", ")
                ));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Failure::new(FailureKind::UnknownImport, wrong.join("; ")))
    }
}

/// Names in a sentence.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn shown(name: &str) -> String {
    text::one_line(name, 200).into()
}

/// The functions of an imported interface.
fn functions(types: &Types, name: &str) -> Vec<String> {
    let Some(item) = types.component_item_for_import(name) else {
        return Vec::new();
    };
    let ComponentEntityType::Instance(instance) = item.ty else {
        return Vec::new();
    };
    types[instance]
        .exports
        .iter()
        .filter(|(_, item)| matches!(item.ty, ComponentEntityType::Func(_)))
        .map(|(name, _)| shown(name))
        .collect()
}

fn exit_codes(shape: &Shape) -> ExitCodes {
    let imports = |interface: &str, function: &str| {
        shape.imports.iter().any(|(name, functions)| {
            name.starts_with(interface) && functions.iter().any(|name| name == function)
        })
    };
    match shape.kind {
        Kind::Module if imports(PREVIEW1, "proc_exit") => ExitCodes::Any,
        Kind::Module => ExitCodes::Zero,
        Kind::Component if imports("wasi:cli/exit@", "exit-with-code") => ExitCodes::Any,
        Kind::Component => ExitCodes::ZeroOrOne,
    }
}

/// What the bytes are, when they are not WebAssembly at all.
fn what_else(bytes: &[u8]) -> Option<String> {
    let head = bytes.trim_ascii_start();
    let what = if bytes.is_empty() {
        "the file is empty".to_owned()
    } else if bytes.starts_with(b"\0asm") {
        return None;
    } else if b"\0asm".starts_with(bytes) {
        "not valid WebAssembly: the file is cut off in its first 4 bytes".to_owned()
    } else if bytes.starts_with(b"\x7fELF") {
        "this is machine code; a precompiled component is never accepted, only its .wasm file"
            .to_owned()
    } else if bytes.starts_with(b"#!") {
        "this is a script; use it as `\"command\"`".to_owned()
    } else if head.starts_with(b"(module")
        || head.starts_with(b"(component")
        || head.starts_with(b";;")
    {
        "this is WebAssembly text; translate it into a .wasm file first".to_owned()
    } else {
        "this is not WebAssembly: a .wasm file begins with the bytes 00 61 73 6d".to_owned()
    };
    Some(what)
}
