//! What the fuzz targets share. Each target is a file in `targets/`; what it asserts stands there.

mod shown;
mod smith;
mod whole;

pub use shown::{assert_shown, assert_shown_on_one_line};
pub use smith::{broken, config};
pub use whole::assert_one_record;

/// Events of every kind that the contract tells apart, and two that it does not know.
pub const EVENTS: [&str; 12] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "Stop",
    "SubagentStop",
    "TaskCompleted",
    "TeammateIdle",
    "PermissionRequest",
    "FileChanged",
    "StopFailure",
    "tool.use",
];
