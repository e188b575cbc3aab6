//! The plugins that are embedded in hookcell, used as `"component": "builtin:NAME"`.

use crate::outcome::{Failure, FailureKind};

/// The embedded plugins: name, and the bytes that stand in `plugins/`.
pub const PLUGINS: [(&str, &[u8]); 4] = [
    (
        "block-dangerous-commands",
        include_bytes!("../../plugins/block-dangerous-commands/block-dangerous-commands.wasm"),
    ),
    (
        "inject-git-context",
        include_bytes!("../../plugins/inject-git-context/inject-git-context.wasm"),
    ),
    (
        "log-tool-use",
        include_bytes!("../../plugins/log-tool-use/log-tool-use.wasm"),
    ),
    (
        "require-summary",
        include_bytes!("../../plugins/require-summary/require-summary.wasm"),
    ),
];

/// The guest that `hookcell demo` shows being stopped; it does what its arguments say.
const SCRIPTED: &[u8] = include_bytes!("../../tests/guests/scripted/scripted.component.wasm");

/// The bytes of an embedded plugin.
///
/// # Errors
///
/// [`FailureKind::ComponentUnreadable`], with the names that there are.
pub fn bytes(name: &str) -> Result<&'static [u8], Failure> {
    if name == "scripted" {
        return Ok(SCRIPTED);
    }
    PLUGINS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, bytes)| *bytes)
        .ok_or_else(|| {
            let names: Vec<&str> = PLUGINS.iter().map(|(name, _)| *name).collect();
            Failure::new(
                FailureKind::ComponentUnreadable,
                format!(
                    "there is no embedded plugin `{}`; there are {}",
                    crate::text::one_line(name, 80),
                    names.join(", ")
                ),
            )
        })
}
