//! A decision as a hook writes it on standard output, in the Claude contract's form.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Halt, Permission, Verdict};
use crate::text::{self, Text};

/// The members of the object that mean something; all others are tolerated. Of these, a duplicate
/// is an error: a hook that says both `allow` and `deny` has not decided.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(rename = "continue")]
    go_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<Word>,
    reason: Option<String>,
    additional_context: Option<String>,
    hook_specific_output: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<Word>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Box<RawValue>>,
    additional_context: Option<String>,
    decision: Option<Behavior>,
}

/// The members of [`Specific`] by name: all others are passed on.
const SPECIFIC_FIELDS: [&str; 6] = [
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
    "decision",
];

/// `hookSpecificOutput.decision` of a `PermissionRequest`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Behavior {
    behavior: BehaviorWord,
    message: Option<String>,
    updated_input: Option<Box<RawValue>>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "String")]
enum BehaviorWord {
    Allow,
    Deny,
}

impl TryFrom<String> for BehaviorWord {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "allow" => Ok(Self::Allow),
            "deny" => Ok(Self::Deny),
            _ => Err(format!(
                "unknown variant `{word}`, expected `allow` or `deny`"
            )),
        }
    }
}

/// How many objects and lists an answer may have within each other. Who reads it further on may
/// read it with less care than the reader here.
const DEEPEST: usize = 128;

/// The words for a decision. `approve` and `block` are the Claude contract's at the top level,
/// `allow` and `deny` OpenHands'; each is understood in both places.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "String")]
enum Word {
    Approve,
    Allow,
    Ask,
    Defer,
    Block,
    Deny,
}

impl TryFrom<String> for Word {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        match word.as_str() {
            "approve" => Ok(Self::Approve),
            "allow" => Ok(Self::Allow),
            "ask" => Ok(Self::Ask),
            "defer" => Ok(Self::Defer),
            "block" => Ok(Self::Block),
            "deny" => Ok(Self::Deny),
            _ => Err(format!(
                "unknown variant `{word}`, expected one of `approve`, `allow`, `ask`, `defer`, `block`, `deny`"
            )),
        }
    }
}

impl From<Word> for Permission {
    fn from(word: Word) -> Self {
        match word {
            Word::Approve | Word::Allow => Self::Allow,
            Word::Ask => Self::Ask,
            Word::Defer => Self::Defer,
            Word::Block | Word::Deny => Self::Deny,
        }
    }
}

/// Whether the output has begun as JSON, and the output from there on.
pub(super) fn begins_as_json(text: &str) -> Option<&str> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    text.starts_with('{').then_some(text)
}

/// Reads standard output: `None` if it is empty or text.
///
/// # Errors
///
/// A message for the hook's author, if the output has begun as JSON and is not exactly one valid
/// decision object.
pub(super) fn read(event: &str, stdout: &[u8]) -> Result<Option<Verdict>, String> {
    let text = String::from_utf8_lossy(stdout);
    if is_json_in_another_encoding(stdout) {
        return Err("standard output begins as JSON and is not UTF-8, which JSON has to be".into());
    }
    let Some(text) = begins_as_json(&text) else {
        return Ok(None);
    };
    if is_too_deep(text) {
        return Err(format!(
            "standard output has more than {DEEPEST} objects and lists within each other"
        ));
    }
    let bad = |error: serde_json::Error| {
        let error = text::one_line(&error.to_string(), 300);
        if error.starts_with("trailing characters") {
            format!("standard output holds more than one JSON object: {error}")
        } else {
            format!("standard output is not a decision: {error}")
        }
    };
    let answer: Answer = serde_json::from_str(text).map_err(bad)?;
    let mut permission = answer.decision.map(Permission::from);
    let mut reason = answer.reason;
    let mut context = answer.additional_context;
    let mut verdict = Verdict {
        halt: (answer.go_on == Some(false)).then(|| Halt {
            reason: answer.stop_reason.map(Text::from),
        }),
        system_message: answer.system_message.map(Text::from),
        ..Verdict::default()
    };
    if let Some(specific) = answer.hook_specific_output {
        let specific_text = specific.get();
        let specific: Specific = serde_json::from_str(specific_text).map_err(bad)?;
        if let Some(name) = specific
            .hook_event_name
            .as_deref()
            .filter(|name| *name != event)
        {
            return Err(format!(
                "`hookSpecificOutput.hookEventName` is `{}`, and the event is `{event}`",
                text::one_line(name, 80)
            ));
        }
        let (behavior, message, behavior_input) = match specific.decision {
            Some(Behavior {
                behavior: BehaviorWord::Deny,
                message,
                ..
            }) => (Some(Permission::Deny), message, None),
            Some(Behavior {
                behavior: BehaviorWord::Allow,
                updated_input,
                ..
            }) => (Some(Permission::Allow), None, updated_input),
            None => (None, None, None),
        };
        // A hook that decides in two places is held to the stricter one.
        let inner = specific
            .permission_decision
            .map(Permission::from)
            .max(behavior);
        if inner >= permission {
            reason = specific.permission_decision_reason.or(message).or(reason);
        }
        permission = permission.max(inner);
        verdict.updated_input = specific.updated_input.or(behavior_input);
        context = joined(context, specific.additional_context);
        verdict.other = serde_json::from_str(specific_text).map_err(bad)?;
        verdict
            .other
            .retain(|name, _| !SPECIFIC_FIELDS.contains(&name.as_str()));
    }
    if let Some(input) = verdict
        .updated_input
        .as_ref()
        .filter(|input| !input.get().starts_with('{'))
    {
        return Err(format!(
            "`updatedInput` must be an object, and is {}",
            text::one_line(input.get(), 80)
        ));
    }
    verdict.permission = permission;
    verdict.reason = reason
        .map(Text::from)
        .filter(|reason| !reason.trim().is_empty());
    verdict.context = context
        .map(Text::from)
        .filter(|context| !context.is_empty());
    Ok(Some(verdict))
}

/// Whether bytes that are not UTF-8, or that have NULs as UTF-16 does, were meant as JSON: whether
/// behind white space, NULs and byte order marks they begin with a brace.
fn is_json_in_another_encoding(bytes: &[u8]) -> bool {
    let is_utf_8 = std::str::from_utf8(bytes).is_ok();
    let is_before = |byte: &u8| {
        byte.is_ascii_whitespace() || matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff)
    };
    let first = bytes.iter().position(|byte| !is_before(byte));
    let begins = first.is_some_and(|index| bytes[index] == b'{');
    let has_nul_before = first.is_some_and(|index| bytes[..index].contains(&0));
    let has_nul_behind = first.is_some_and(|index| bytes.get(index + 1) == Some(&0));
    begins && (!is_utf_8 || has_nul_before || has_nul_behind)
}

/// Whether there are more than [`DEEPEST`] objects and lists within each other.
fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

/// A hook that speaks to several agents gives the same context in both places: once is enough.
fn joined(top: Option<String>, inner: Option<String>) -> Option<String> {
    match (top, inner) {
        (Some(top), Some(inner)) if top != inner => Some(format!("{top}\n{inner}")),
        (top, inner) => inner.or(top),
    }
}
