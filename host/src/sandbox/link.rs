//! What a guest's imports are linked to: all that language runtimes import by themselves, inert
//! until granted, and the rest only where it is granted.

use wasmtime::component::types::{ComponentExtern, ComponentItem};
use wasmtime::component::{self, Component, Type};
use wasmtime::{Engine, ExternType, InstancePre, Linker, Module};
use wasmtime_wasi::p2::bindings::CommandPre;
use wasmtime_wasi::{I32Exit, p2};

use super::compiled::Code;
use super::store::{ComponentState, ModuleState};
use super::{clock, environment, files, network, settings, sockets, state};
use crate::config::{Clock, Permissions};
use crate::outcome::{Failure, FailureKind};
use crate::text;

/// Which of the interfaces that no runtime imports by itself are linked, and how the others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Offer {
    /// `wasi:http`.
    pub network: bool,
    /// `wasi:keyvalue`.
    pub state: bool,
    /// Whether sleeping takes no time, since the clock is fixed.
    pub sleepless: bool,
}

impl Offer {
    /// All that may be granted.
    pub const ALL: Self = Self {
        network: true,
        state: true,
        sleepless: false,
    };

    /// What `permissions` grant.
    pub fn of(permissions: &Permissions) -> Self {
        Self {
            network: !permissions.network.is_empty(),
            state: permissions.state,
            sleepless: permissions.clock == Clock::Fixed,
        }
    }
}

/// A guest with its imports linked.
pub(super) enum Linked {
    Component(CommandPre<ComponentState>),
    Module(InstancePre<ModuleState>),
}

/// Links a guest.
///
/// # Errors
///
/// [`FailureKind::UnknownImport`] for an import of another type than the one that is offered, and
/// [`FailureKind::MissingExport`] for an export of another type than the one that is run.
pub(super) fn link(engine: &Engine, code: &Code, offer: Offer) -> Result<Linked, Failure> {
    match code {
        Code::Component(component) => {
            link_component(engine, component, offer).map(Linked::Component)
        }
        Code::Module(module) => link_module(engine, module, offer).map(Linked::Module),
    }
}

fn link_component(
    engine: &Engine,
    component: &Component,
    offer: Offer,
) -> Result<CommandPre<ComponentState>, Failure> {
    let linker = component_linker(engine, offer).map_err(host_fault)?;
    let instance = linker.instantiate_pre(component).map_err(unlinkable)?;
    let command = CommandPre::new(instance).map_err(|error| {
        Failure::new(
            FailureKind::MissingExport,
            text::one_line(&format!("{error:#}"), 500),
        )
    })?;
    if !runs(engine, component) {
        return Err(Failure::new(
            FailureKind::MissingExport,
            "its `wasi:cli/run` has no function `run` without parameters and with a plain `result`",
        ));
    }
    Ok(command)
}

/// Whether a component's `wasi:cli/run` has the function that is run, with its type.
fn runs(engine: &Engine, component: &Component) -> bool {
    component
        .component_type()
        .exports(engine)
        .filter(|(name, _)| name.starts_with("wasi:cli/run@0.2."))
        .any(|(_, export)| match export.ty {
            ComponentItem::ComponentInstance(run) => match run.get_export(engine, "run") {
                Some(ComponentExtern { ty: ComponentItem::ComponentFunc(run), .. }) => {
                    let results: Vec<_> = run.results().collect();
                    run.params().len() == 0
                        && matches!(&results[..], [Type::Result(it)] if it.ok().is_none() && it.err().is_none())
                }
                _ => false,
            },
            _ => false,
        })
}

fn component_linker(
    engine: &Engine,
    offer: Offer,
) -> wasmtime::Result<component::Linker<ComponentState>> {
    let mut linker = component::Linker::new(engine);
    p2::add_to_linker_async(&mut linker)?;
    // What follows takes the place of what wasmtime has.
    linker.allow_shadowing(true);
    files::link_component(&mut linker)?;
    environment::link_component(&mut linker)?;
    sockets::link_component(&mut linker)?;
    clock::link_component(&mut linker)?;
    settings::link_component(&mut linker)?;
    if offer.network {
        network::link_component(&mut linker)?;
    }
    if offer.state {
        state::link_component(&mut linker)?;
    }
    Ok(linker)
}

fn link_module(
    engine: &Engine,
    module: &Module,
    offer: Offer,
) -> Result<InstancePre<ModuleState>, Failure> {
    let linker = module_linker(engine, offer).map_err(host_fault)?;
    let instance = linker.instantiate_pre(module).map_err(unlinkable)?;
    match module.get_export("_start") {
        Some(ExternType::Func(start))
            if start.params().len() == 0 && start.results().len() == 0 =>
        {
            Ok(instance)
        }
        _ => Err(Failure::new(
            FailureKind::MissingExport,
            "its `_start` is no function without parameters and results",
        )),
    }
}

fn module_linker(engine: &Engine, offer: Offer) -> wasmtime::Result<Linker<ModuleState>> {
    let mut linker = Linker::new(engine);
    files::link_module(&mut linker)?;
    // What follows takes the place of what wasmtime has.
    linker.allow_shadowing(true);
    // wasmtime's own refuses codes from 126 on, which commands do use.
    linker.func_wrap(
        "wasi_snapshot_preview1",
        "proc_exit",
        |code: i32| -> wasmtime::Result<()> { Err(I32Exit(code).into()) },
    )?;
    environment::link_module(&mut linker)?;
    if offer.sleepless {
        clock::link_module(&mut linker)?;
    }
    Ok(linker)
}

/// The names are known to be offered; what can still differ is their type.
fn unlinkable(error: wasmtime::Error) -> Failure {
    Failure::new(
        FailureKind::UnknownImport,
        text::one_line(&format!("{error:#}"), 500),
    )
}

fn host_fault(error: wasmtime::Error) -> Failure {
    Failure::new(FailureKind::Host, format!("{error:#}"))
}
