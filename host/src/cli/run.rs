//! `hookcell run`: one event through the hooks, answered as the agent expects.

use std::io::{Read as _, Write};

use bytes::Bytes;
use bytesize::ByteSize;
use clap::Args;

use super::problem::Problem;
use super::source::Source;
use crate::config::Severity;
use crate::dialect;
use crate::event::Event;
use crate::host::Host;
use crate::merge::Decision;
use crate::text::Text;

/// Run one event, read from standard input, through the hooks, and answer as the agent expects
///
/// The answer is that of the Claude hook contract: a JSON object on stdout (nothing, if no hook has
/// an opinion), the reason of a block on stderr, exit code 2 for a block and 0 otherwise. An event
/// of OpenHands is answered in OpenHands' form. Exit code 1 says that the event or the
/// configuration cannot be read; agents report that and go on.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The event's name [default: the one that the payload names]
    event: Option<String>,

    #[command(flatten)]
    source: Source,

    /// Print the whole decision as JSON, with a record of every hook, and exit with 0 or 2
    #[arg(long)]
    json: bool,

    /// The largest event that is accepted, for instance 64MiB
    #[arg(long, value_name = "SIZE", default_value = "64MiB")]
    max_event_size: ByteSize,
}

pub(super) fn run(
    arguments: &Arguments,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<u8, Problem> {
    let event = read_event(arguments)?;
    let host = arguments.source.host()?.build();
    let Some(decision) = super::runtime()?.block_on(dispatch(&host, &event))? else {
        return Ok(INTERRUPTED);
    };
    // On a block, stderr is the reason that the model reads, and nothing else.
    if !decision.is_blocked() {
        for diagnostic in host
            .diagnostics()
            .filter(|it| it.severity == Severity::Error)
        {
            writeln!(stderr, "{}", diagnostic.one_line())?;
        }
    }
    answer(arguments, &event, &decision, stdout, stderr)
}

/// The exit code of a program that a signal asked to end.
const INTERRUPTED: u8 = 130;

fn read_event(arguments: &Arguments) -> Result<Event, Problem> {
    let limit = usize::try_from(arguments.max_event_size.as_u64()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take((limit as u64).saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| {
            Problem::new(format!(
                "the event cannot be read from standard input: {error}"
            ))
        })?;
    Event::parse_within(Bytes::from(bytes), arguments.event.as_deref(), limit)
        .map_err(|error| Problem::new(&error).hint(error.hint()))
}

/// The decision, or `None` if the agent ended us: then the hooks, which have process groups of
/// their own and would live on, are ended with the future.
async fn dispatch(host: &Host, event: &Event) -> Result<Option<Decision>, Problem> {
    use tokio::signal::unix::{SignalKind, signal};
    let no_signal = |error| Problem::new(format!("signals cannot be listened to: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(no_signal)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signal)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(no_signal)?;
    Ok(tokio::select! {
        decision = host.dispatch(event) => Some(decision),
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        _ = hang_up.recv() => None,
    })
}

fn answer(
    arguments: &Arguments,
    event: &Event,
    decision: &Decision,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<u8, Problem> {
    let answer = dialect::answer(event, decision);
    let (text, exit_code) = if arguments.json {
        let json = serde_json::to_string_pretty(decision)
            .map_err(|error| Problem::new(format!("the decision cannot be printed: {error}")))?;
        (
            Text::json(&json).line(),
            if decision.is_blocked() { 2 } else { 0 },
        )
    } else {
        // A reader that is gone must not turn a block into anything else.
        let _ = stderr.write_all(answer.stderr.as_bytes());
        (answer.stdout, answer.exit_code)
    };
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if exit_code == 0 => Err(error.into()),
        _ => Ok(exit_code),
    }
}
