//! A guest's variables: those that were granted, and a count of the asking where there are none.
//!
//! Its arguments are beside them in the same interface, and stay as they are.

use wasmtime::{Caller, Extern, Linker, component};
use wasmtime_wasi::cli::WasiCliView as _;
use wasmtime_wasi::p2::bindings::cli::environment::{self, Host};

use super::denials::Denials;
use super::store::{ComponentState, ModuleState};

/// What asking for variables is told as where none is there to be seen.
const ASKED: &str = "variables: it asks for the environment, which is empty";

/// What would give it some.
const GRANT: &str = "\"environment\": [\"NAME\"]";

impl Host for ComponentState {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        let variables = self.cli().get_environment()?;
        told(&self.provided.denials, &variables);
        Ok(variables)
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        self.cli().get_arguments()
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        self.cli().initial_cwd()
    }
}

fn told(denials: &Denials, variables: &[(String, String)]) {
    if variables.is_empty() {
        denials.note(ASKED, Some(GRANT));
    }
}

/// Puts the counting interface in the place of WASI's.
pub(super) fn link_component(
    linker: &mut component::Linker<ComponentState>,
) -> wasmtime::Result<()> {
    environment::add_to_linker::<_, component::HasSelf<ComponentState>>(linker, |state| state)
}

/// Puts a counting `environ_sizes_get`, which every look at variables begins with, in the place of
/// preview1's.
pub(super) fn link_module(linker: &mut Linker<ModuleState>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "wasi_snapshot_preview1",
        "environ_sizes_get",
        |mut caller: Caller<'_, ModuleState>, count: u32, size: u32| -> wasmtime::Result<i32> {
            let state = caller.data_mut();
            let variables = state.wasi.cli().get_environment()?;
            told(&state.provided.denials, &variables);
            // Each is kept as `NAME=VALUE` with a NUL behind it.
            let bytes: usize = variables.iter().map(|(k, v)| k.len() + v.len() + 2).sum();
            let (Ok(number), Ok(bytes)) = (u32::try_from(variables.len()), u32::try_from(bytes))
            else {
                return Ok(EOVERFLOW);
            };
            let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
                return Err(wasmtime::Error::msg("missing required memory export"));
            };
            memory.write(&mut caller, count as usize, &number.to_le_bytes())?;
            memory.write(&mut caller, size as usize, &bytes.to_le_bytes())?;
            Ok(0)
        },
    )?;
    Ok(())
}

/// preview1's error for a number that does not fit.
const EOVERFLOW: i32 = 61;
