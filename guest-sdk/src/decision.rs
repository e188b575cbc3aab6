//! What a hook decides, and how it is written down.

use serde_json::{Map, Value};

use crate::event::Event;

/// What a hook decides about an event.
///
/// ```
/// use hookcell_guest::Decision;
///
/// let decision = Decision::deny("`rm -rf` needs a person").with_context("Use the trash instead.");
/// assert!(decision.blocks());
/// assert_eq!(Decision::none(), Decision::default());
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    opinion: Option<Opinion>,
    reason: Option<String>,
    updated_input: Option<Value>,
    context: Option<String>,
    system_message: Option<String>,
    stop: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opinion {
    Allow,
    Ask,
    Defer,
    Deny,
}

impl Decision {
    /// No opinion: what would have happened without the hook happens.
    pub fn none() -> Self {
        Self::default()
    }

    /// Lets the tool run without asking the user. Rules that deny or ask still hold. For events
    /// that ask for no permission this is no opinion.
    pub fn allow(reason: impl Into<String>) -> Self {
        Self::of(Opinion::Allow, Some(reason.into()))
    }

    /// Does not let it happen. The model is told the reason.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::of(Opinion::Deny, Some(reason.into()))
    }

    /// Lets the user decide about the tool call.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::of(Opinion::Ask, Some(reason.into()))
    }

    /// Sends the prompt back, lets the agent go on instead of stopping, tells the model that the
    /// tool's result is not good enough: the word for [`Decision::deny`] at events that are not
    /// about permission. The two are the same; each is written as the event wants it.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::deny(reason)
    }

    /// Puts the tool call off, to be decided outside of the session.
    pub fn defer() -> Self {
        Self::of(Opinion::Defer, None)
    }

    /// Calls the tool with another input, an object that replaces the whole of it. It does not
    /// approve the call: for that, see [`Decision::allow`] and [`Decision::with_updated_input`].
    pub fn updated_input(input: Value) -> Self {
        Self::none().with_updated_input(input)
    }

    /// Gives the model a text to read.
    pub fn additional_context(text: impl Into<String>) -> Self {
        Self::none().with_context(text)
    }

    /// Shows the user a message.
    pub fn system_message(text: impl Into<String>) -> Self {
        Self::none().with_system_message(text)
    }

    /// Ends the agent's turn, whatever other hooks decide. The user is told the reason.
    pub fn stop(reason: impl Into<String>) -> Self {
        Self {
            stop: Some(reason.into()),
            ..Self::none()
        }
    }

    /// The same decision, with another input for the tool.
    pub fn with_updated_input(self, input: Value) -> Self {
        Self {
            updated_input: Some(input),
            ..self
        }
    }

    /// The same decision, with a text for the model.
    pub fn with_context(self, text: impl Into<String>) -> Self {
        Self {
            context: Some(text.into()),
            ..self
        }
    }

    /// The same decision, with a message for the user.
    pub fn with_system_message(self, text: impl Into<String>) -> Self {
        Self {
            system_message: Some(text.into()),
            ..self
        }
    }

    /// Whether the hook stands in the way: it then exits with code 2.
    pub fn blocks(&self) -> bool {
        self.opinion == Some(Opinion::Deny)
    }

    /// Why, if a reason was given.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    fn of(opinion: Opinion, reason: Option<String>) -> Self {
        Self {
            opinion: Some(opinion),
            reason,
            ..Self::default()
        }
    }

    /// The decision as the answer to `event`: one JSON object, or nothing if there is nothing to
    /// say.
    ///
    /// The form is the Claude contract's. OpenHands reads neither `hookSpecificOutput` nor the
    /// word `block`, so an event of its form is answered with its members beside Claude's; other
    /// agents do not get them, since `"decision": "deny"` is not a valid answer there.
    pub(crate) fn render(&self, event: &Event<'_>) -> Option<Value> {
        let name = event.name();
        let mut answer = Map::new();
        let mut specific = Map::new();
        let permission_event = asks_for_permission(&name);
        if let Some(opinion) = self.opinion {
            if permission_event {
                specific.insert("permissionDecision".into(), opinion.word().into());
                insert_text(&mut specific, "permissionDecisionReason", self.reason());
            } else if name == "PermissionRequest" {
                if let Some(behavior) = self.behavior(opinion) {
                    specific.insert("decision".into(), behavior);
                }
            } else if opinion == Opinion::Deny && !event.is_of_openhands() {
                answer.insert("decision".into(), "block".into());
                insert_text(&mut answer, "reason", self.reason());
            }
            if event.is_of_openhands() && matches!(opinion, Opinion::Allow | Opinion::Deny) {
                answer.insert("decision".into(), opinion.word().into());
                insert_text(&mut answer, "reason", self.reason());
            }
        }
        if let Some(input) = self.updated_input.as_ref().filter(|_| permission_event) {
            specific.insert("updatedInput".into(), input.clone());
        }
        insert_text(&mut specific, "additionalContext", self.context.as_deref());
        if event.is_of_openhands() {
            insert_text(&mut answer, "additionalContext", self.context.as_deref());
        }
        insert_text(&mut answer, "systemMessage", self.system_message.as_deref());
        if self.stop.is_some() {
            answer.insert("continue".into(), false.into());
            insert_text(&mut answer, "stopReason", self.stop.as_deref());
        }
        if !specific.is_empty() {
            specific.insert("hookEventName".into(), name.into());
            answer.insert("hookSpecificOutput".into(), specific.into());
        }
        (!answer.is_empty()).then(|| answer.into())
    }

    /// `hookSpecificOutput.decision` of a `PermissionRequest`, which can be allowed or denied.
    fn behavior(&self, opinion: Opinion) -> Option<Value> {
        let mut behavior = Map::new();
        match opinion {
            Opinion::Allow => {
                behavior.insert("behavior".into(), "allow".into());
                if let Some(input) = &self.updated_input {
                    behavior.insert("updatedInput".into(), input.clone());
                }
            }
            Opinion::Deny => {
                behavior.insert("behavior".into(), "deny".into());
                insert_text(&mut behavior, "message", self.reason());
            }
            Opinion::Ask | Opinion::Defer => return None,
        }
        Some(behavior.into())
    }
}

impl Opinion {
    fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Deny => "deny",
        }
    }
}

/// Whether the event is answered with a `permissionDecision`.
fn asks_for_permission(event_name: &str) -> bool {
    matches!(
        event_name,
        "PreToolUse" | "PreModelSwitch" | "PreSkillShellCommand"
    )
}

fn insert_text(object: &mut Map<String, Value>, key: &str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        object.insert(key.to_owned(), text.into());
    }
}

/// What a hook may return: a [`Decision`], perhaps none, perhaps an error.
pub trait IntoDecision {
    /// The decision, or why the hook failed to decide.
    ///
    /// # Errors
    ///
    /// The message of the error that the hook returned.
    fn into_decision(self) -> Result<Decision, String>;
}

impl IntoDecision for Decision {
    fn into_decision(self) -> Result<Decision, String> {
        Ok(self)
    }
}

impl IntoDecision for () {
    fn into_decision(self) -> Result<Decision, String> {
        Ok(Decision::none())
    }
}

impl IntoDecision for Option<Decision> {
    fn into_decision(self) -> Result<Decision, String> {
        Ok(self.unwrap_or_default())
    }
}

impl<D: IntoDecision, E: std::fmt::Display> IntoDecision for Result<D, E> {
    fn into_decision(self) -> Result<Decision, String> {
        self.map_err(|error| error.to_string())
            .and_then(D::into_decision)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(decision: &Decision, event: &str) -> Option<Value> {
        decision.render(&Event::parse(event.as_bytes()).unwrap())
    }

    fn for_claude(decision: &Decision, name: &str) -> Option<Value> {
        rendered(decision, &json!({"hook_event_name": name}).to_string())
    }

    fn for_openhands(decision: &Decision, name: &str) -> Option<Value> {
        rendered(decision, &json!({"event_type": name}).to_string())
    }

    #[test]
    fn a_decision_about_a_tool_call_is_a_permission_decision() {
        for (decision, word) in [
            (Decision::allow("why"), "allow"),
            (Decision::deny("why"), "deny"),
            (Decision::block("why"), "deny"),
            (Decision::ask("why"), "ask"),
        ] {
            assert_eq!(
                for_claude(&decision, "PreToolUse"),
                Some(json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": "why"
                }}))
            );
        }
        assert_eq!(
            for_claude(&Decision::defer(), "PreToolUse"),
            Some(
                json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}})
            )
        );
        assert_eq!(
            for_claude(
                &Decision::updated_input(json!({"command": "ls"})).with_context("c"),
                "PreToolUse"
            ),
            Some(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}, "additionalContext": "c"
            }}))
        );
    }

    #[test]
    fn a_denial_of_another_event_is_a_block() {
        for name in ["Stop", "PostToolUse", "UserPromptSubmit", "tool.use", ""] {
            assert_eq!(
                for_claude(&Decision::block("why"), name),
                Some(json!({"decision": "block", "reason": "why"}))
            );
            assert_eq!(for_claude(&Decision::allow("why"), name), None);
            assert_eq!(for_claude(&Decision::ask("why"), name), None);
            assert_eq!(for_claude(&Decision::updated_input(json!({})), name), None);
        }
        assert_eq!(
            for_claude(&Decision::block("").with_context("c"), "Stop"),
            Some(
                json!({"decision": "block", "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "c"}})
            )
        );
    }

    #[test]
    fn a_permission_request_is_allowed_or_denied() {
        assert_eq!(
            for_claude(&Decision::deny("why"), "PermissionRequest"),
            Some(json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "why"}
            }}))
        );
        assert_eq!(
            for_claude(
                &Decision::allow("why").with_updated_input(json!({"a": 1})),
                "PermissionRequest"
            ),
            Some(json!({"hookSpecificOutput": {
                "hookEventName": "PermissionRequest", "decision": {"behavior": "allow", "updatedInput": {"a": 1}}
            }}))
        );
        assert_eq!(for_claude(&Decision::ask("why"), "PermissionRequest"), None);
    }

    #[test]
    fn an_event_of_openhands_is_answered_in_both_forms() {
        assert_eq!(
            for_openhands(&Decision::deny("why"), "PreToolUse"),
            Some(
                json!({"decision": "deny", "reason": "why", "hookSpecificOutput": {
                    "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "why"
                }})
            )
        );
        assert_eq!(
            for_openhands(&Decision::block("why"), "Stop"),
            Some(json!({"decision": "deny", "reason": "why"}))
        );
        assert_eq!(
            for_openhands(&Decision::allow(""), "Stop"),
            Some(json!({"decision": "allow"}))
        );
        assert_eq!(
            for_openhands(&Decision::additional_context("c"), "UserPromptSubmit"),
            Some(json!({"additionalContext": "c", "hookSpecificOutput": {
                "hookEventName": "UserPromptSubmit", "additionalContext": "c"
            }}))
        );
    }

    #[test]
    fn what_concerns_the_session_stands_at_the_top() {
        assert_eq!(
            for_claude(
                &Decision::stop("enough").with_system_message("bye"),
                "PostToolUse"
            ),
            Some(json!({"continue": false, "stopReason": "enough", "systemMessage": "bye"}))
        );
        assert_eq!(
            for_claude(&Decision::system_message("hi"), "Stop"),
            Some(json!({"systemMessage": "hi"}))
        );
    }

    #[test]
    fn no_opinion_is_nothing() {
        assert_eq!(for_claude(&Decision::none(), "PreToolUse"), None);
        assert_eq!(
            for_claude(&Decision::additional_context(""), "PreToolUse"),
            None
        );
    }

    #[test]
    fn a_hook_may_return_what_suits_it() {
        assert_eq!(().into_decision(), Ok(Decision::none()));
        assert_eq!(None.into_decision(), Ok(Decision::none()));
        assert_eq!(
            Ok::<_, String>(Decision::defer()).into_decision(),
            Ok(Decision::defer())
        );
        assert_eq!(Err::<(), _>("no").into_decision(), Err("no".to_owned()));
    }
}
