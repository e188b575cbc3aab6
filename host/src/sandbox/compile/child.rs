//! The child's side of compiling: limits on itself, bytes in, machine code out.

use std::io::{Read, Write};

use rustix::process::{
    Resource, Rlimit, Signal, set_parent_process_death_signal, setpriority_process, setrlimit,
};
use wasmtime::Engine;

use super::{INVALID, OPENING};
use crate::sandbox::engine;
use crate::sandbox::shape::Kind;

/// Steps of niceness: whatever the agent does meanwhile goes first.
const NICENESS: i32 = 5;

/// What the child is asked to do.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// What the bytes on standard input are.
    pub kind: Kind,
    /// How many seconds of processor time all threads may take together.
    pub seconds: u64,
    /// How many bytes of address space it may have.
    pub memory: u64,
}

/// Compiles what comes on `input` and writes the machine code to `output`. The exit code is 0, or
/// with a line on `errors` 3 for bytes that cannot be compiled, and 1 for all else. Beyond a limit
/// the process is ended by the kernel, or aborts for want of memory.
///
/// Must be called first thing in a process of its own: the limits hold for all of it, for ever.
pub fn serve(
    task: Task,
    input: &mut dyn Read,
    output: &mut dyn Write,
    errors: &mut dyn Write,
) -> u8 {
    // Where in the compiler's source it broke helps nobody who wrote the component.
    std::panic::set_hook(Box::new(|panic| {
        let message = panic
            .payload_as_str()
            .unwrap_or("for a reason that it does not give");
        // The standard library's own hook does not stop at a broken pipe either.
        let _ = writeln!(std::io::stderr(), "{message}");
    }));
    let result = confine(task)
        .map_err(|error| (1, format!("the compiler cannot be limited: {error}")))
        .and_then(|()| compile(task.kind, input))
        .and_then(|code| {
            output
                .write_all(OPENING)
                .and_then(|()| output.write_all(&code))
                .and_then(|()| output.flush())
                .map_err(|error| (1, format!("the result cannot be written: {error}")))
        });
    match result {
        Ok(()) => 0,
        Err((code, message)) => {
            // Nobody is left to be told of a failure of this.
            let _ = writeln!(errors, "{message}");
            code
        }
    }
}

fn confine(task: Task) -> std::io::Result<()> {
    let at_most = |limit| Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    // It ends with the one that waits for it.
    #[cfg(target_os = "linux")]
    set_parent_process_death_signal(Some(Signal::KILL))?;
    setrlimit(Resource::Core, at_most(0))?;
    setrlimit(Resource::Cpu, at_most(task.seconds))?;
    setrlimit(Resource::As, at_most(task.memory))?;
    // Writes to nothing but its standard output, which is a pipe.
    setrlimit(Resource::Fsize, at_most(0))?;
    give_up_files_and_network();
    // Being nice is a courtesy, not a limit.
    let _ = setpriority_process(None, NICENESS);
    Ok(())
}

/// What it reads and writes is open already. Where the kernel cannot do this, the limits above and
/// the compiler's own safety stand alone.
#[cfg(target_os = "linux")]
fn give_up_files_and_network() {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetError,
    };

    let give_up = || -> Result<_, RulesetError> {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V7))?
            .handle_access(AccessNet::from_all(ABI::V7))?
            .create()?
            .restrict_self()
    };
    let _ = give_up();
}

#[cfg(not(target_os = "linux"))]
fn give_up_files_and_network() {}

fn compile(kind: Kind, input: &mut dyn Read) -> Result<Vec<u8>, (u8, String)> {
    let mut bytes = Vec::new();
    input
        .read_to_end(&mut bytes)
        .map_err(|error| (1, format!("the component cannot be read: {error}")))?;
    let invalid = |error: wasmtime::Error| (INVALID, format!("{error:#}"));
    let engine = Engine::new(&engine::config()).map_err(|error| (1, format!("{error:#}")))?;
    match kind {
        Kind::Component => engine.precompile_component(&bytes),
        Kind::Module => engine.precompile_module(&bytes),
    }
    .map_err(invalid)
}
