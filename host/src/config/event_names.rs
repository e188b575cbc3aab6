//! The names of events as files spell them.

use super::near::did_you_mean;
use crate::dialect::Dialect;
use crate::select::EVENTS;

/// The events of OpenHands.
const OPENHANDS: [&str; 6] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
];

/// The events of deepagents' list.
const DEEPAGENTS: [&str; 12] = [
    "session.start",
    "user.prompt",
    "user.name.set",
    "tool.use",
    "tool.result",
    "tool.error",
    "task.complete",
    "session.end",
    "context.offload",
    "context.compact",
    "permission.request",
    "input.required",
];

/// An event's name as hooks are given it: `pre_tool_use` and `preToolUse`, OpenHands' spellings,
/// are `PreToolUse`; every other name stays as it is.
pub(super) fn normalised(written: &str) -> String {
    let begins_small = written.starts_with(|c: char| c.is_ascii_lowercase());
    let is_spelling_of = |event: &&&str| {
        let snake: String = event
            .char_indices()
            .flat_map(|(index, c)| {
                let gap = if c.is_ascii_uppercase() && index > 0 {
                    Some('_')
                } else {
                    None
                };
                gap.into_iter().chain([c.to_ascii_lowercase()])
            })
            .collect();
        let camel = event[..1].to_ascii_lowercase() + &event[1..];
        written == snake || written == camel
    };
    let known = if begins_small {
        OPENHANDS.iter().find(is_spelling_of)
    } else {
        None
    };
    known.map_or(written, |event| *event).to_owned()
}

/// Why an event's name in a file of this dialect is probably not meant, and what may be.
pub(super) fn doubt(
    event: &str,
    dialect: Dialect,
    in_list: bool,
) -> Option<(String, Option<String>)> {
    let claude = EVENTS.iter().map(|(name, _)| *name);
    match dialect {
        Dialect::OpenHands if OPENHANDS.contains(&event) => None,
        Dialect::OpenHands => Some((
            format!("`{event}` is not an event of OpenHands"),
            did_you_mean(event, OPENHANDS),
        )),
        _ if EVENTS.iter().any(|(name, _)| *name == event) => None,
        _ if in_list => {
            let is_known = DEEPAGENTS.contains(&event);
            let near = did_you_mean(event, claude.chain(DEEPAGENTS));
            (!is_known).then(|| {
                (
                    format!("`{event}` is not an event of the Claude contract or of deepagents"),
                    near,
                )
            })
        }
        _ => Some((
            format!("`{event}` is not an event of the Claude contract"),
            did_you_mean(event, claude),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openhands_spellings_are_the_contracts_names() {
        for (written, name) in [
            ("PreToolUse", "PreToolUse"),
            ("pre_tool_use", "PreToolUse"),
            ("preToolUse", "PreToolUse"),
            ("stop", "Stop"),
            ("user_prompt_submit", "UserPromptSubmit"),
            ("pretooluse", "pretooluse"),
            ("Pre_Tool_Use", "Pre_Tool_Use"),
            ("notification", "notification"),
            ("tool.use", "tool.use"),
            ("", ""),
        ] {
            assert_eq!(normalised(written), name, "{written}");
        }
    }

    #[test]
    fn unknown_names_are_doubted_with_the_near_one() {
        let near = |event, dialect, in_list| doubt(event, dialect, in_list).map(|(_, near)| near);
        assert_eq!(near("PreToolUse", Dialect::Claude, false), None);
        assert_eq!(
            near("PreTolUse", Dialect::Claude, false),
            Some(Some("did you mean `PreToolUse`?".into()))
        );
        assert_eq!(near("my.own", Dialect::Claude, false), Some(None));
        assert_eq!(near("tool.use", Dialect::Claude, true), None);
        assert_eq!(
            near("tool.usee", Dialect::Deepagents, true),
            Some(Some("did you mean `tool.use`?".into()))
        );
        assert_eq!(near("Notification", Dialect::OpenHands, false), Some(None));
    }
}
