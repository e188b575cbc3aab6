//! Whose rules a configuration file follows, and how a decision is told to an agent.
//!
//! hookcell's own files follow Claude's rules. A peer's file, found in the peer's place or named
//! with `--from`, follows the peer's. As far as it can be, a dialect is data: [`Rules`].

pub mod claude;
pub mod openhands;

use std::time::Duration;

use crate::event::Event;
use crate::merge::Decision;
use crate::text::Text;

/// Whose rules a configuration file follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The Claude hook contract: hookcell's own files, and the `hooks` of `.claude/settings.json`.
    #[default]
    Claude,
    /// OpenHands: `.openhands/hooks.json`.
    OpenHands,
    /// deepagents: `~/.deepagents/hooks.json`.
    Deepagents,
}

/// How `matcher` is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatcherRule {
    /// Exact names and lists, else an unanchored JavaScript regular expression.
    Claude,
    /// Exact name, or a Python regular expression that must match the whole name.
    OpenHands,
}

/// In which order the hooks of one event run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Side by side; every one runs to its end.
    Concurrent,
    /// In turn; on events that can be blocked, those after the first block do not run.
    UntilBlocked,
}

/// The part of a dialect that is data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How `matcher` is read.
    pub matcher: MatcherRule,
    /// In which order the hooks of one event run.
    pub order: Order,
    /// The timeout of a command hook that names none.
    pub command_timeout: Duration,
    /// The timeout of a component hook that names none.
    pub component_timeout: Duration,
    /// The same on `UserPromptSubmit`, `PreModelSwitch` and `PostModelSwitch`.
    pub prompt_timeout: Duration,
}

impl Dialect {
    /// The dialect's rules.
    pub const fn rules(self) -> Rules {
        match self {
            Self::Claude => Rules {
                matcher: MatcherRule::Claude,
                order: Order::Concurrent,
                command_timeout: Duration::from_secs(600),
                component_timeout: Duration::from_secs(10),
                prompt_timeout: Duration::from_secs(30),
            },
            Self::OpenHands => Rules {
                matcher: MatcherRule::OpenHands,
                order: Order::UntilBlocked,
                command_timeout: Duration::from_secs(60),
                component_timeout: Duration::from_secs(10),
                prompt_timeout: Duration::from_secs(60),
            },
            Self::Deepagents => Rules {
                matcher: MatcherRule::Claude,
                order: Order::Concurrent,
                command_timeout: Duration::from_secs(600),
                component_timeout: Duration::from_secs(10),
                prompt_timeout: Duration::from_secs(30),
            },
        }
    }

    /// The name as it stands after `--from`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::OpenHands => "openhands",
            Self::Deepagents => "deepagents",
        }
    }
}

/// What a hook program prints and how it exits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// For standard output: one JSON object and a line break, or nothing.
    pub stdout: Text,
    /// For standard error: the reason of a block, or nothing.
    pub stderr: Text,
    /// 0, or 2 for a block.
    pub exit_code: u8,
}

/// Answers in the form of the agent that sent `event`: OpenHands' if it speaks OpenHands'
/// (`event_type` names the event), else that of the Claude contract.
pub fn answer(event: &Event, decision: &Decision) -> Answer {
    let names = |field| event.field(field) == Some(event.name());
    let openhands = !names("hook_event_name") && names("event_type");
    if openhands {
        openhands::answer(decision)
    } else {
        claude::answer(decision)
    }
}
