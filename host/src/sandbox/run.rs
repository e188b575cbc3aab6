//! One run of a guest: a fresh store, the event on its standard input, and every limit armed.

use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::task::AbortHandle;
use wasmtime::component::{ResourceTable, ResourceTableError};
use wasmtime::{Engine, Store, Trap, UpdateDeadline, WasmBacktrace};
use wasmtime_wasi::p2::pipe::MemoryInputPipe;
use wasmtime_wasi::{I32Exit, WasiCtxBuilder};

use super::denials::Denials;
use super::engine::Shared;
use super::files::{Files, Folders};
use super::grants;
use super::limits::Meter;
use super::link::Linked;
use super::load::Guest;
use super::provided::Provided;
use super::state;
use super::stdio::CappedOutput;
use super::store::{ComponentState, ModuleState, State};
use super::turns::Turns;
use crate::config::{Component, Limits};
use crate::outcome::{End, Failure, FailureKind, Outcome, Usage};
use crate::text;

/// Since wasmtime 46 instantiating burns fuel too, an amount that no author can know. It gets a
/// purse of its own, so that `limits.fuel` is the hook's.
const SETUP_FUEL: u64 = 100_000_000;

/// Open files, streams and the like that a guest may hold at once.
const RESOURCES: usize = 1024;

/// Bytes that one call of a guest may make the host allocate.
const HOSTCALL_BYTES: usize = 4 << 20;

/// Random bytes that a guest may ask for in one call, which nothing can interrupt.
const RANDOM_BYTES: u64 = 1 << 20;

/// How much later than the guest's own deadline the caller gives up on the guest's threads.
const PATIENCE: Duration = Duration::from_millis(50);

/// One run: what is run on which event, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The hook: arguments, limits, permissions, `config`.
    pub component: &'a Component,
    /// The program name that the guest sees as its first argument.
    pub name: &'a str,
    /// The bytes for its standard input.
    pub payload: &'a Bytes,
    /// The folder that `${workspace}` means.
    pub workspace: &'a Path,
    /// The granted folders that are open already.
    pub folders: &'a Folders,
    /// How long the run may take, waiting for its turn included.
    pub timeout: Duration,
    /// Where it takes its turn.
    pub turns: &'a Turns,
}

/// Runs a guest once, on the guests' own threads. Needs a tokio runtime with a timer.
///
/// Dropping the future ends the guest at its next host call or tick of the epoch.
pub async fn run(guest: std::sync::Arc<Guest>, request: Request<'_>) -> Outcome {
    let shared = match Shared::get() {
        Ok(shared) => shared,
        Err(error) => return Outcome::never_ran(Failure::new(FailureKind::Host, error)),
    };
    let limits = request.component.limits;
    let stdout = CappedOutput::new(limits.stdout);
    let stderr = CappedOutput::new(limits.stderr);
    let denials = Denials::default();
    let files = Files::new(
        &request.component.permissions,
        request.workspace,
        request.folders,
        denials.clone(),
    );
    let files = match files {
        Ok(files) => files,
        Err(failure) => return Outcome::never_ran(failure),
    };
    let mut context = context(&request, &stdout, &stderr);
    let started = Instant::now();
    let timeout = request.timeout;
    // The longest timeout is a day: this cannot overflow, and if it did, the run would be over.
    let deadline = started.checked_add(timeout).unwrap_or(started);
    let turn = match request.turns.take(guest.digest(), deadline).await {
        Ok(turn) => turn,
        Err(why) => {
            let mut outcome = Outcome::never_ran(Failure::new(
                FailureKind::TimedOut,
                format!(
                    "it was not started within {} s (`timeout`): {why}",
                    timeout.as_secs_f64()
                ),
            ));
            outcome.usage.elapsed = started.elapsed();
            return outcome;
        }
    };
    let mut provided = Provided::new(&request, guest.digest(), deadline, &denials, &mut context);
    if request.component.permissions.state {
        match open_store(shared, &request, deadline, &denials).await {
            Ok(store) => provided.store = Some(store),
            Err(failure) => return Outcome::never_ran(failure),
        }
    }
    let ticking = shared.ticking();
    let running = shared.runtime.spawn(async move {
        let (_ticking, _turn) = (ticking, turn);
        run_here(
            &shared.engine,
            &guest,
            context,
            files,
            provided,
            limits,
            deadline,
        )
        .await
    });
    let _abort = AbortOnDrop(running.abort_handle());
    // The guest's threads end it at its deadline. Should all of them be held by other guests,
    // the caller is not kept waiting for that.
    let ended = tokio::time::timeout_at((deadline + PATIENCE).into(), running).await;
    let elapsed = started.elapsed();
    let stdout = stdout.take();
    let (end, fuel, memory_peak) = match ended {
        Ok(Ok(ended)) => {
            let end = ended.refused.map_or(ended.end.clone(), |asked| {
                held_to_its_memory(ended.end, stdout.total, asked, limits.memory)
            });
            (end, Some(ended.fuel), Some(ended.memory_peak))
        }
        Ok(Err(error)) => {
            let failure = Failure::new(
                FailureKind::Host,
                format!("the guest's thread ended: {error}"),
            );
            (End::Failed(failure), None, None)
        }
        Err(_) => (End::Failed(timed_out()), None, None),
    };
    let end = match end {
        End::Failed(failure) if failure.kind == FailureKind::TimedOut => End::Failed(Failure {
            message: format!(
                "still running after {:.3} s; {} s are allowed (`timeout`)",
                elapsed.as_secs_f64(),
                timeout.as_secs_f64()
            )
            .into(),
            ..failure
        }),
        end => end,
    };
    let usage = Usage {
        elapsed,
        fuel,
        memory_peak,
    };
    Outcome {
        end,
        stdout,
        stderr: stderr.take(),
        usage,
        denied: denials.take(),
        not_enforced: Vec::new(),
    }
}

/// Opens a hook's store where waiting for the disk holds nobody up.
async fn open_store(
    shared: &Shared,
    request: &Request<'_>,
    deadline: Instant,
    denials: &Denials,
) -> Result<state::Store, Failure> {
    let (component, workspace) = (request.component.clone(), request.workspace.to_owned());
    let denials = denials.clone();
    let opening = shared
        .runtime
        .spawn_blocking(move || state::Store::open(&component, &workspace, deadline, denials));
    match tokio::time::timeout_at((deadline + PATIENCE).into(), opening).await {
        Ok(Ok(opened)) => opened,
        Ok(Err(error)) => Err(Failure::new(
            FailureKind::Host,
            format!("opening its store was cut off: {error}"),
        )),
        Err(_) => Err(Failure::new(
            FailureKind::TimedOut,
            "its store was not opened within its `timeout`",
        )),
    }
}

/// A guest that was refused memory and then exits without a word has most likely not read its
/// event to the end: that is a failure that names the limit, never an opinion.
fn held_to_its_memory(end: End, stdout_bytes: u64, asked: u64, allowed: u64) -> End {
    match end {
        End::Exited(code) if code != 2 && stdout_bytes == 0 => {
            End::Failed(out_of_memory(asked, allowed))
        }
        end => end,
    }
}

/// The caller of the run, who knows how long it took, writes the message.
fn timed_out() -> Failure {
    Failure::new(FailureKind::TimedOut, "")
}

/// Ends the guest's task with the future that waits for it.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn context(request: &Request<'_>, stdout: &CappedOutput, stderr: &CappedOutput) -> WasiCtxBuilder {
    let mut context = WasiCtxBuilder::new();
    context
        .stdin(MemoryInputPipe::new(request.payload.clone()))
        .stdout(stdout.clone())
        .stderr(stderr.clone())
        .max_random_size(RANDOM_BYTES)
        .arg(request.name)
        .args(&request.component.args);
    if let Some(config) = &request.component.config {
        context.env("HOOKCELL_CONFIG", config);
    }
    grants::apply(&request.component.permissions, &mut context);
    context
}

struct Ended {
    end: End,
    fuel: u64,
    memory_peak: u64,
    refused: Option<u64>,
}

async fn run_here(
    engine: &Engine,
    guest: &Guest,
    mut context: WasiCtxBuilder,
    files: Files,
    provided: Provided,
    limits: Limits,
    deadline: Instant,
) -> Ended {
    let meter = Meter::new(limits.memory);
    let mut purse = limits.fuel.max(SETUP_FUEL);
    match &guest.linked {
        Linked::Component(command) => {
            let mut table = ResourceTable::new();
            table.set_max_capacity(RESOURCES);
            let state = ComponentState {
                wasi: context.build(),
                table,
                files,
                meter,
                provided,
            };
            let mut store = armed(engine, state, purse, deadline);
            let ended = tokio::time::timeout_at(deadline.into(), async {
                let instance = command.instantiate_async(&mut store).await?;
                purse = limits.fuel;
                store.set_fuel(purse)?;
                let result = instance.wasi_cli_run().call_run(&mut store).await?;
                Ok(i32::from(result.is_err()))
            })
            .await;
            conclude(store, ended, purse, &limits)
        }
        Linked::Module(instance) => {
            let state = ModuleState {
                wasi: context.build_p1(),
                files,
                meter,
                provided,
            };
            let mut store = armed(engine, state, purse, deadline);
            let ended = tokio::time::timeout_at(deadline.into(), async {
                let instance = instance.instantiate_async(&mut store).await?;
                purse = limits.fuel;
                store.set_fuel(purse)?;
                let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
                start.call_async(&mut store, ()).await?;
                Ok(0)
            })
            .await;
            conclude(store, ended, purse, &limits)
        }
    }
}

/// A store for one event, with the limits that hold from its first instruction on.
fn armed<T: State>(engine: &Engine, state: T, purse: u64, deadline: Instant) -> Store<T> {
    let mut store = Store::new(engine, state);
    store.limiter(|state| state.meter());
    store.set_hostcall_fuel(HOSTCALL_BYTES);
    store.set_max_component_handles(RESOURCES);
    // Setting fuel fails only where the engine does not count it, and ours does.
    let _ = store.set_fuel(purse);
    store.set_epoch_deadline(1);
    // Counting ticks would be late under load: at each tick the real clock is asked.
    store.epoch_deadline_callback(move |_| {
        if Instant::now() >= deadline {
            Ok(UpdateDeadline::Interrupt)
        } else {
            Ok(UpdateDeadline::Yield(1))
        }
    });
    store
}

type Finished = Result<wasmtime::Result<i32>, tokio::time::error::Elapsed>;

fn conclude<T: State>(mut store: Store<T>, ended: Finished, purse: u64, limits: &Limits) -> Ended {
    let fuel = purse.saturating_sub(store.get_fuel().unwrap_or(0));
    let meter = store.data_mut().meter();
    let end = match ended {
        Ok(Ok(code)) => End::Exited(code),
        Ok(Err(error)) => classify(&error, meter, fuel, limits),
        Err(_) => End::Failed(timed_out()),
    };
    Ended {
        end,
        fuel,
        memory_peak: meter.peak(),
        refused: meter.refused(),
    }
}

/// What an error of the engine means. Limits are told by the state they leave, not by texts.
fn classify(error: &wasmtime::Error, meter: &Meter, fuel: u64, limits: &Limits) -> End {
    if let Some(I32Exit(code)) = error.downcast_ref::<I32Exit>() {
        return End::Exited(*code);
    }
    let trap = error.downcast_ref::<Trap>().copied();
    End::Failed(match trap {
        Some(Trap::OutOfFuel) => Failure::new(
            FailureKind::OutOfFuel,
            format!(
                "{fuel} fuel is used; {} are allowed (`limits.fuel`)",
                limits.fuel
            ),
        ),
        Some(Trap::Interrupt) => timed_out(),
        _ => {
            if let Some(asked) = meter.refused() {
                return End::Failed(out_of_memory(asked, limits.memory));
            }
            if let Some(asked) = meter.refused_table() {
                return End::Failed(Failure::new(
                    FailureKind::TooManyResources,
                    format!(
                        "it asked for a table of {asked} elements, more than any hook may have"
                    ),
                ));
            }
            let message = describe(error, trap);
            if trap.is_none() && is_beyond_a_bound(error) {
                Failure::new(FailureKind::TooManyResources, message)
            } else {
                Failure::new(FailureKind::Trap, message)
            }
        }
    })
}

/// Whether the guest asked for more handles, instances or bytes a call than any may have. Most of
/// the engine's errors for that have no type that others can name, so their words are known here;
/// the hostile suite holds them.
fn is_beyond_a_bound(error: &wasmtime::Error) -> bool {
    const WORDS: [&str; 5] = [
        "exceeds limit",
        "fuel allocated for hostcalls has been exhausted",
        "store handle limit exceeded",
        "resource limit exceeded",
        "resource table has no free keys",
    ];
    error.downcast_ref::<ResourceTableError>().is_some()
        || WORDS
            .iter()
            .any(|words| error.root_cause().to_string().contains(words))
}

fn out_of_memory(asked: u64, allowed: u64) -> Failure {
    let size = |bytes| bytesize::ByteSize::b(bytes).display().iec().to_string();
    Failure::new(
        FailureKind::OutOfMemory,
        format!(
            "it asked for {} of memory; {} are allowed (`limits.memory`)",
            size(asked),
            size(allowed)
        ),
    )
}

/// The trap, and the functions that it came through: names are the guest's own, so they are data.
fn describe(error: &wasmtime::Error, trap: Option<Trap>) -> String {
    let cause = match trap {
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    };
    let mut message = text::one_line(&cause, 300).to_string();
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        let names: Vec<String> = backtrace
            .frames()
            .iter()
            .filter_map(|frame| frame.func_name())
            .take(5)
            .map(|name| text::one_line(name, 80).into())
            .collect();
        if !names.is_empty() {
            message.push_str(&format!(" (in {})", names.join(" < ")));
        }
    }
    message
}
