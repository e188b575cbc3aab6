//! `hookcell test`: one component, one event, and everything there is to know about the run.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::problem::Problem;
use crate::config::{Configuration, Severity};
use crate::contract::Permission;
use crate::dialect::Dialect;
use crate::event::Event;
use crate::host::Host;
use crate::merge::Decision;
use crate::record::Record;
use crate::text::Text;

/// Run one component on one event, and show its verdict, exit code, time, fuel, memory and output
///
/// Exit code 0 if it kept to the contract, whatever it decided, and 1 if it failed.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A .wasm file, or builtin:NAME
    #[arg(value_name = "FILE")]
    component: String,

    /// The file that holds the event; `-` is standard input
    #[arg(long, value_name = "FILE")]
    event: PathBuf,

    /// The event's name [default: the one that the payload names]
    #[arg(long, value_name = "NAME")]
    event_name: Option<String>,

    /// An argument for the component; may be repeated
    #[arg(long = "arg", value_name = "TEXT", allow_hyphen_values = true)]
    args: Vec<String>,

    /// How many seconds it may run [default: 10]
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,

    /// How much fuel it may use [default: 10000000000]
    #[arg(long, value_name = "NUMBER")]
    fuel: Option<u64>,

    /// How much memory it may have [default: 256MiB]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,

    /// Grant a folder for reading; may be repeated
    #[arg(long, value_name = "FOLDER")]
    read: Vec<String>,

    /// Grant a folder for reading and writing; may be repeated
    #[arg(long, value_name = "FOLDER")]
    write: Vec<String>,

    /// Grant a variable of the environment; may be repeated
    #[arg(long, value_name = "NAME")]
    environment: Vec<String>,

    /// Grant HTTP requests to a host; may be repeated
    #[arg(long, value_name = "HOST:PORT")]
    network: Vec<String>,

    /// Grant a store that is kept from event to event
    #[arg(long)]
    state: bool,

    /// Which clock it sees [default: real]
    #[arg(long, value_name = "CLOCK", value_parser = ["real", "coarse", "fixed"])]
    clock: Option<String>,

    /// Which random numbers it is given [default: real]
    #[arg(long, value_name = "NUMBERS", value_parser = ["real", "seeded"])]
    random: Option<String>,

    /// The hook's `config` object, as JSON
    #[arg(long = "hook-config", value_name = "JSON")]
    hook_config: Option<String>,

    /// The project's folder, which `${workspace}` means [default: the current folder]
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    project: PathBuf,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, stdout: &mut dyn Write) -> Result<u8, Problem> {
    let event = read_event(arguments)?;
    let host = host(arguments, &event)?;
    let decision = super::runtime()?.block_on(host.dispatch(&event));
    let Some(record) = decision.records.first() else {
        return Err(Problem::new("the hook was not selected for its own event"));
    };
    if arguments.json {
        let json = serde_json::to_string_pretty(&decision)
            .map_err(|error| Problem::new(format!("the decision cannot be printed: {error}")))?;
        writeln!(stdout, "{}", Text::json(&json))?;
    } else {
        print(&decision, record, stdout)?;
    }
    Ok(u8::from(record.failure.is_some()))
}

fn read_event(arguments: &Arguments) -> Result<Event, Problem> {
    let read = |error: std::io::Error| {
        Problem::new(format!(
            "the event `{}` cannot be read: {error}",
            arguments.event.display()
        ))
    };
    let limit = Event::DEFAULT_LIMIT as u64 + 1;
    let mut bytes = Vec::new();
    if arguments.event == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(limit)
            .read_to_end(&mut bytes)
            .map_err(read)?;
    } else {
        let file = std::fs::File::open(&arguments.event).map_err(read)?;
        file.take(limit).read_to_end(&mut bytes).map_err(read)?;
    }
    let name = arguments.event_name.as_deref();
    Event::parse(bytes, name).map_err(|error| {
        let problem = Problem::new(&error);
        match error {
            crate::EventError::NoName => {
                problem.hint("name it with `--event-name`, or in `hook_event_name`")
            }
            _ => problem.hint(error.hint()),
        }
    })
}

/// A host with the one hook, written as hooks.json would have it, so that the same rules hold.
fn host(arguments: &Arguments, event: &Event) -> Result<Host, Problem> {
    let mut hook = Map::new();
    let component = match arguments.component.strip_prefix("builtin:") {
        Some(_) => arguments.component.clone(),
        None => std::path::absolute(&arguments.component)
            .map_err(|error| {
                Problem::new(format!("`{}` is no path: {error}", arguments.component))
            })?
            .display()
            .to_string(),
    };
    hook.insert("component".into(), component.into());
    hook.insert("args".into(), json!(arguments.args));
    let mut limits = Map::new();
    limits.extend(arguments.fuel.map(|fuel| ("fuel".to_owned(), fuel.into())));
    limits.extend(
        arguments
            .memory
            .clone()
            .map(|memory| ("memory".to_owned(), memory.into())),
    );
    hook.insert("limits".into(), limits.into());
    hook.extend(
        arguments
            .timeout
            .map(|timeout| ("timeout".to_owned(), json!(timeout))),
    );
    let grant = |access: &'static str| move |path: &String| json!({"path": path, "access": access});
    let filesystem: Vec<Value> = arguments
        .read
        .iter()
        .map(grant("read"))
        .chain(arguments.write.iter().map(grant("write")))
        .collect();
    hook.insert(
        "permissions".into(),
        json!({
            "filesystem": filesystem,
            "environment": arguments.environment,
            "network": arguments.network,
            "state": arguments.state,
            "clock": arguments.clock.as_deref().unwrap_or("real"),
            "random": arguments.random.as_deref().unwrap_or("real"),
        }),
    );
    if let Some(config) = &arguments.hook_config {
        let config: Value = serde_json::from_str(config)
            .map_err(|error| Problem::new(format!("`--hook-config` is not JSON: {error}")))?;
        hook.insert("config".into(), config);
    }
    let text = json!({"hooks": {event.name(): [{"hooks": [hook]}]}}).to_string();
    let configuration = Configuration::parse(
        text.as_bytes(),
        Path::new("the command line"),
        Dialect::Claude,
    )
    .map_err(Problem::new)?;
    if let Some(error) = configuration
        .diagnostics
        .iter()
        .find(|it| it.severity == Severity::Error)
    {
        let problem = Problem::new(&error.message);
        return Err(match &error.help {
            Some(help) => problem.hint(help),
            None => problem,
        });
    }
    Ok(Host::builder()
        .project(&arguments.project)
        .configuration(configuration)
        .build())
}

fn print(decision: &Decision, record: &Record, stdout: &mut dyn Write) -> Result<(), Problem> {
    let verdict = match (&record.failure, record.permission) {
        (Some(failure), _) => format!("failure ({})", failure.kind),
        (None, Some(Permission::Deny)) => "deny".into(),
        (None, Some(Permission::Defer)) => "defer".into(),
        (None, Some(Permission::Ask)) => "ask".into(),
        (None, Some(Permission::Allow)) => "allow".into(),
        (None, None) => "no opinion".into(),
    };
    writeln!(stdout, "event     {}", decision.event)?;
    writeln!(stdout, "verdict   {verdict}")?;
    if let Some(failure) = &record.failure {
        writeln!(stdout, "why       {}", failure.message)?;
    }
    for (name, text) in [
        ("reason", record.reason.as_deref()),
        (
            "halt",
            decision
                .halt
                .as_ref()
                .map(|halt| halt.reason.as_deref().unwrap_or("yes")),
        ),
        ("context", decision.contexts.first().map(Text::as_str)),
        (
            "message",
            decision.system_messages.first().map(Text::as_str),
        ),
        (
            "input",
            decision.updated_input.as_ref().map(|input| input.get()),
        ),
    ] {
        if let Some(text) = text {
            writeln!(stdout, "{name:<9} {}", text.replace('\n', "\n          "))?;
        }
    }
    let exit = match (record.exit_code, record.signal) {
        (Some(code), _) => code.to_string(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "none".into(),
    };
    writeln!(stdout, "exit      {exit}")?;
    writeln!(
        stdout,
        "time      {}",
        super::demo::milliseconds(record.elapsed_microseconds)
    )?;
    if let Some(fuel) = record.fuel {
        writeln!(stdout, "fuel      {fuel}")?;
    }
    if let Some(peak) = record.memory_peak {
        writeln!(
            stdout,
            "memory    {}",
            bytesize::ByteSize::b(peak).display().iec()
        )?;
    }
    for denied in &record.denied {
        let times = match denied.count {
            1 => String::new(),
            count => format!(" ({count} times)"),
        };
        writeln!(stdout, "denied    {}{times}", denied.what)?;
        if let Some(grant) = &denied.grant {
            writeln!(stdout, "          granted by \"permissions\": {{{grant}}}")?;
        }
    }
    for (name, text, bytes) in [
        ("stdout", &record.stdout, record.stdout_bytes),
        ("stderr", &record.stderr, record.stderr_bytes),
    ] {
        writeln!(stdout, "{name:<9} {bytes} bytes")?;
        for line in text.lines() {
            writeln!(stdout, "  | {line}")?;
        }
    }
    Ok(())
}
