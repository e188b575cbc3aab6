//! What the host keeps for one run of a guest, in its store.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::files::Files;
use super::limits::Meter;
use super::provided::Provided;

/// What belongs to a run of a component.
pub(super) struct ComponentState {
    pub(super) wasi: WasiCtx,
    pub(super) table: ResourceTable,
    pub(super) files: Files,
    pub(super) meter: Meter,
    pub(super) provided: Provided,
}

impl WasiView for ComponentState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// What belongs to a run of a preview1 module.
pub(super) struct ModuleState {
    pub(super) wasi: WasiP1Ctx,
    pub(super) files: Files,
    pub(super) meter: Meter,
    pub(super) provided: Provided,
}

/// What every run has.
pub(super) trait State: Send + 'static {
    /// The meter of its memories and tables.
    fn meter(&mut self) -> &mut Meter;
}

impl State for ComponentState {
    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
}

impl State for ModuleState {
    fn meter(&mut self) -> &mut Meter {
        &mut self.meter
    }
}
