//! What one confined command may do, as it is handed to the program that confines it.

use std::ffi::OsString;
use std::path::PathBuf;

/// What a command may do: nothing is left to be looked up or expanded.
///
/// It goes over as words of a command line and not as JSON, since a path need not be text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    /// What may be read and run, with everything below it, beside the system's own.
    pub(crate) read: Vec<PathBuf>,
    /// What may also be written.
    pub(crate) write: Vec<PathBuf>,
    /// The TCP ports that may be connected to. Without any, there are no sockets.
    pub(crate) ports: Vec<u16>,
    /// Bytes of address space of each process.
    pub(crate) memory: Option<u64>,
    /// Seconds of processor time of each process.
    pub(crate) cpu: Option<u64>,
    /// Whether the command is run where not all of this can be enforced.
    pub(crate) best_effort: bool,
}

impl Policy {
    /// The words that `hookcell confine-command` reads it from.
    pub(super) fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let mut add = |name: &str, value: OsString| words.extend([name.into(), value]);
        for path in &self.read {
            add("--read", path.into());
        }
        for path in &self.write {
            add("--write", path.into());
        }
        for port in &self.ports {
            add("--port", port.to_string().into());
        }
        if let Some(memory) = self.memory {
            add("--memory", memory.to_string().into());
        }
        if let Some(cpu) = self.cpu {
            add("--cpu", cpu.to_string().into());
        }
        if self.best_effort {
            words.push("--best-effort".into());
        }
        words
    }
}
