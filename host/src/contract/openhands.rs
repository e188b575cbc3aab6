//! OpenHands' table: what its own runner would have made of the output.

use serde_json::{Map, Value};

use super::{Permission, Verdict, answer::begins_as_json, ended_badly};
use crate::outcome::{End, Failure, Outcome};
use crate::text::{self, Text};

/// Judges an outcome as OpenHands does: the exit code first, then the one JSON object if there is
/// one; all other output is ignored.
pub(super) fn judge(outcome: &Outcome) -> Result<Verdict, Failure> {
    let exit = match &outcome.end {
        End::Failed(failure) => return Err(failure.clone()),
        End::Exited(code) => Some(*code),
        End::Signaled(_) => None,
    };
    let object = if outcome.stdout.is_cut() {
        None
    } else {
        read(&outcome.stdout.bytes)
    };
    let Some(object) = object else {
        return match exit {
            Some(0) => Ok(Verdict::default()),
            Some(2) => Ok(super::block(None, outcome)),
            _ => Err(ended_badly(&outcome.end, outcome)),
        };
    };
    let mut verdict = Verdict::default();
    if let Some(decision) = object.get("decision").and_then(Value::as_str) {
        if decision.eq_ignore_ascii_case("deny") {
            verdict.permission = Some(Permission::Deny);
        } else if decision.eq_ignore_ascii_case("allow") {
            verdict.permission = Some(Permission::Allow);
        }
    }
    if object.get("continue").is_some_and(is_falsy) {
        verdict.permission = Some(Permission::Deny);
    }
    verdict.reason = object
        .get("reason")
        .map(as_text)
        .filter(|reason| !reason.is_empty());
    verdict.context = object
        .get("additionalContext")
        .map(as_text)
        .filter(|context| !context.is_empty());
    if exit == Some(2) {
        let reason = verdict.reason.take();
        let context = verdict.context.take();
        let blocked = super::block(None, outcome);
        return Ok(Verdict {
            reason: reason.or(blocked.reason.clone()),
            context,
            ..blocked
        });
    }
    if verdict.permission == Some(Permission::Deny) && verdict.reason.is_none() {
        verdict.reason = super::block(None, outcome).reason;
    }
    Ok(verdict)
}

fn read(stdout: &[u8]) -> Option<Map<String, Value>> {
    let text = String::from_utf8_lossy(stdout);
    serde_json::from_str(begins_as_json(&text)?).ok()
}

/// Python's idea of false.
fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

fn as_text(value: &Value) -> Text {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text::several_lines(&text, usize::MAX)
}
