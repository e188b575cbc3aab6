//! The host: configurations, and events run through their hooks to a decision.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::config::{
    Component, ConfigError, Configuration, Diagnostic, Handler, Hook, OnFailure, Severity,
};
use crate::contract::{self, Contract, Permission, Verdict};
use crate::dialect::{Dialect, Order};
use crate::event::Event;
use crate::merge::{Decision, merge};
use crate::outcome::{Failure, FailureKind, Outcome};
use crate::program::Program;
use crate::record::Record;
use crate::run;
use crate::run::component::Guests;
use crate::sandbox::cache::Place;
use crate::sandbox::turns::{self, Turns};
use crate::sandbox::{Compiler, Guest};
use crate::select;

/// The events on which hooks that run in turn stop at the first block (OpenHands).
const STOP_AT_FIRST_BLOCK: [&str; 3] = ["PreToolUse", "UserPromptSubmit", "Stop"];

/// Runs the hooks of its configurations on events. Cheap to clone; clones share loaded guests.
///
/// A configuration is a snapshot: what changes on disk afterwards, the file or a component, is
/// seen by the next host.
///
/// # Examples
///
/// ```
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use hookcell::{Event, Host};
///
/// let host = Host::builder()
///     .configuration_text(
///         r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
///             {"type": "component", "component": "builtin:block-dangerous-commands"}]}]}}"#,
///     )?
///     .build();
/// let event = Event::parse(
///     r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}"#,
///     None,
/// )?;
/// let decision = host.dispatch(&event).await;
/// assert!(decision.is_blocked());
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    configurations: Vec<Configuration>,
    project: PathBuf,
    guests: Guests,
    program: Program,
}

/// Makes a [`Host`].
#[derive(Debug, Default)]
pub struct HostBuilder {
    configurations: Vec<Configuration>,
    project: Option<PathBuf>,
    program: Program,
    cache: Place,
    guests_at_once: Option<usize>,
}

impl HostBuilder {
    /// The hookcell program, which the host starts to compile components, and to confine commands
    /// that have a `sandbox`: neither is done in the embedder's own process. Default: the one that
    /// the variable `HOOKCELL_PROGRAM` names, the running program if it is hookcell itself, one
    /// beside it, or the first on `PATH`. It must be of this crate's version.
    #[must_use]
    pub fn program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = Program::at(path);
        self
    }

    /// The project's folder: the value of `CLAUDE_PROJECT_DIR` for commands, what `${workspace}`
    /// means in grants, and where a hook runs whose event names no `cwd`. Default: the current
    /// folder.
    #[must_use]
    pub fn project(mut self, folder: impl Into<PathBuf>) -> Self {
        self.project = Some(folder.into());
        self
    }

    /// How many guests may run at once, 1 or more; a quarter of them, but at least one, of one
    /// component. Default: 128. A hook's `timeout` counts while it waits for its turn.
    #[must_use]
    pub fn guests_at_once(mut self, most: usize) -> Self {
        self.guests_at_once = Some(most);
        self
    }

    /// Keeps compiled components in this folder instead of the user's own
    /// (`$HOOKCELL_CACHE_DIRECTORY`, else `hookcell/compiled` in `~/.cache`). It must be
    /// this user's and closed to all others (`chmod 700`); it is made if it is not there.
    #[must_use]
    pub fn cache_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Place::Folder(folder.into());
        self
    }

    /// Keeps nothing that is compiled beyond the life of the process.
    #[must_use]
    pub fn no_cache(mut self) -> Self {
        self.cache = Place::Nowhere;
        self
    }

    /// Adds a configuration; those of several add up, in the order in which they were added.
    #[must_use]
    pub fn configuration(mut self, configuration: Configuration) -> Self {
        self.configurations.push(configuration);
        self
    }

    /// Reads a configuration file by the rules of `dialect` and adds it.
    ///
    /// # Errors
    ///
    /// When the file as a whole cannot be used. Mistakes in single entries are no error: those
    /// entries are dropped and stand in [`Host::diagnostics`].
    pub fn configuration_file(self, path: &Path, dialect: Dialect) -> Result<Self, ConfigError> {
        Ok(self.configuration(Configuration::read(path, dialect)?))
    }

    /// Adds a configuration given as text, by hookcell's own rules.
    ///
    /// # Errors
    ///
    /// As [`HostBuilder::configuration_file`].
    pub fn configuration_text(self, text: &str) -> Result<Self, ConfigError> {
        Ok(self.configuration(Configuration::parse(
            text.as_bytes(),
            Path::new("hooks.json"),
            Dialect::Claude,
        )?))
    }

    /// The host.
    #[must_use]
    pub fn build(self) -> Host {
        let project = self.project.unwrap_or_else(|| PathBuf::from("."));
        // A project that is gone is told by the hooks that need it.
        let project = std::path::absolute(&project).unwrap_or(project);
        Host {
            inner: Arc::new(Inner {
                configurations: self.configurations,
                project,
                guests: Guests::new(
                    Compiler {
                        program: self.program.clone(),
                        cache: self.cache,
                    },
                    Turns::new(self.guests_at_once.unwrap_or(turns::DEFAULT)),
                ),
                program: self.program,
            }),
        }
    }
}

impl Host {
    /// A builder for a host without configurations.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Everything that is wrong with the configurations, file by file.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.inner
            .configurations
            .iter()
            .flat_map(|configuration| &configuration.diagnostics)
    }

    /// All hooks, in configuration order.
    pub fn hooks(&self) -> impl Iterator<Item = &Hook> {
        self.inner
            .configurations
            .iter()
            .flat_map(|configuration| &configuration.hooks)
    }

    /// The project's folder, absolute.
    pub fn project(&self) -> &Path {
        &self.inner.project
    }

    /// Loads a component of this host's project, or finds it loaded.
    ///
    /// # Errors
    ///
    /// Why it cannot be a hook.
    pub async fn load(&self, component: &Component) -> Result<Arc<Guest>, Failure> {
        self.inner.guests.get(component, &self.inner.project).await
    }

    /// Loads every component, so that no event waits for a compiler. Returns those that cannot be
    /// loaded, each hook with the reason; dispatching to them fails the same way.
    pub async fn prepare(&self) -> Vec<(&Hook, Failure)> {
        let hooks: Vec<&Hook> = self.hooks().collect();
        let mut loading = JoinSet::new();
        for (index, hook) in hooks.iter().enumerate() {
            if let Handler::Component(component) = &hook.handler {
                let (host, component) = (self.clone(), component.clone());
                loading.spawn(async move { (index, host.load(&component).await.err()) });
            }
        }
        let mut failures: Vec<_> = loading
            .join_all()
            .await
            .into_iter()
            .filter_map(|(index, failure)| Some((index, failure?)))
            .collect();
        failures.sort_by_key(|(index, _)| *index);
        failures
            .into_iter()
            .map(|(index, failure)| (hooks[index], failure))
            .collect()
    }

    /// Runs all hooks that `event` selects and merges what they say.
    ///
    /// Never fails: whatever goes wrong with a hook stands in that hook's record, and loses no
    /// other hook's verdict. Must be called within a tokio runtime with I/O and time enabled;
    /// components run on threads of their own, so the caller's timers stay on time. Dropping the
    /// future ends every hook that is still running.
    pub async fn dispatch(&self, event: &Event) -> Decision {
        let mut judged: Vec<(&Hook, Verdict, Record)> = Vec::new();
        for (index, configuration) in self.inner.configurations.iter().enumerate() {
            let name = event.name();
            let field = select::matched_field(name).and_then(|field| event.field(field));
            let selected: Vec<usize> = (0..configuration.hooks.len())
                .filter(|&hook| configuration.hooks[hook].selector.selects(name, field))
                .collect();
            match configuration.dialect.rules().order {
                Order::Concurrent => {
                    judged.extend(self.side_by_side(event, index, selected).await);
                }
                Order::UntilBlocked => {
                    for hook in selected {
                        let outcome = self.inner.run(event, index, hook).await;
                        judged.push(self.judge(event, index, hook, &outcome));
                        let blocked = judged.last().is_some_and(|(_, verdict, _)| {
                            verdict.permission == Some(Permission::Deny)
                        });
                        if blocked && STOP_AT_FIRST_BLOCK.contains(&name) {
                            break;
                        }
                    }
                }
            }
        }
        let records = judged.iter().map(|(_, _, record)| record.clone()).collect();
        let verdicts = judged
            .into_iter()
            .map(|(hook, verdict, _)| (hook.label.as_str(), verdict));
        let mut decision = merge(event.name(), verdicts);
        decision.records = records;
        let dropped = self
            .diagnostics()
            .filter(|it| it.severity == Severity::Error)
            .count();
        if dropped > 0 {
            let notice = format!(
                "{dropped} mistake{} in the configuration; `hookcell check` shows {}",
                if dropped == 1 { "" } else { "s" },
                if dropped == 1 { "it" } else { "them" }
            );
            decision.notices.push(notice.into());
        }
        decision
    }

    async fn side_by_side(
        &self,
        event: &Event,
        index: usize,
        hooks: Vec<usize>,
    ) -> Vec<(&Hook, Verdict, Record)> {
        let mut running = JoinSet::new();
        for (position, &hook) in hooks.iter().enumerate() {
            let (inner, event) = (Arc::clone(&self.inner), event.clone());
            running.spawn(async move { (position, inner.run(&event, index, hook).await) });
        }
        let mut outcomes: Vec<Option<Outcome>> = vec![None; hooks.len()];
        while let Some(joined) = running.join_next().await {
            // A run that panicked leaves its place empty, and only its own.
            if let Ok((position, outcome)) = joined {
                outcomes[position] = Some(outcome);
            }
        }
        let lost =
            || Outcome::never_ran(Failure::new(FailureKind::Host, "running the hook panicked"));
        hooks
            .into_iter()
            .zip(outcomes)
            .map(|(hook, outcome)| self.judge(event, index, hook, &outcome.unwrap_or_else(lost)))
            .collect()
    }

    fn judge(
        &self,
        event: &Event,
        index: usize,
        hook: usize,
        outcome: &Outcome,
    ) -> (&Hook, Verdict, Record) {
        let configuration = &self.inner.configurations[index];
        let hook = &configuration.hooks[hook];
        let contract = match configuration.dialect {
            _ if !hook.decides => Contract::Watch,
            Dialect::OpenHands => Contract::OpenHands,
            Dialect::Claude | Dialect::Deepagents => Contract::Claude,
        };
        let verdict = contract::judge(
            contract,
            event.name(),
            outcome,
            hook.on_failure == OnFailure::Block,
        );
        let record = Record::new(hook, outcome, &verdict);
        tell(&record);
        (hook, verdict, record)
    }
}

impl Inner {
    async fn run(&self, event: &Event, configuration: usize, hook: usize) -> Outcome {
        let hook = &self.configurations[configuration].hooks[hook];
        match &hook.handler {
            Handler::Refused(message) => {
                Outcome::never_ran(Failure::new(FailureKind::Refused, message.clone()))
            }
            Handler::Component(component) => {
                run::component::run(
                    &self.guests,
                    component,
                    event.bytes(),
                    &self.project,
                    hook.timeout,
                )
                .await
            }
            Handler::Command(command) => {
                let working_dir = event.cwd().map_or(self.project.as_path(), Path::new);
                let context = run::command::CommandContext {
                    payload: event.bytes().clone(),
                    event_name: event.name(),
                    session_id: event.session_id(),
                    tool_name: event.tool_name(),
                    project_dir: &self.project,
                    working_dir,
                    timeout: hook.timeout,
                    program: &self.program,
                };
                run::command::run(command, &context).await
            }
        }
    }
}

/// One line a run, for whoever listens (`RUST_LOG=hookcell=info`).
fn tell(record: &Record) {
    match &record.failure {
        Some(failure) => tracing::warn!(
            hook = record.hook.as_str(),
            elapsed_microseconds = record.elapsed_microseconds,
            fuel = record.fuel,
            "failed: {failure}"
        ),
        None => tracing::info!(
            hook = record.hook.as_str(),
            elapsed_microseconds = record.elapsed_microseconds,
            fuel = record.fuel,
            exit_code = record.exit_code,
            permission = ?record.permission,
            "ran"
        ),
    }
}
