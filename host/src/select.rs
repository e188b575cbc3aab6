//! Which hooks an event selects: its name, and the one field of it that a `matcher` looks at.
//!
//! Pure functions over text. Two rules exist for a matcher: the Claude contract's
//! ([`Matcher::claude`]) and OpenHands' ([`Matcher::openhands`]). Both fail towards running: where
//! a matcher cannot be held against an event in bounded time, the hook is selected, since a guard
//! must not be skipped by a long name.

mod expression;

pub use expression::MatcherError;
use expression::{Searched, Whole};

/// The events of the Claude contract, each with the field that a matcher looks at; `None` for those
/// on which a matcher is ignored.
pub const EVENTS: [(&str, Option<&str>); 34] = [
    ("PreToolUse", Some("tool_name")),
    ("PostToolUse", Some("tool_name")),
    ("PostToolUseFailure", Some("tool_name")),
    ("PostToolBatch", None),
    ("Notification", Some("notification_type")),
    ("UserPromptSubmit", None),
    ("UserPromptExpansion", Some("command_name")),
    ("SessionStart", Some("source")),
    ("SessionEnd", Some("reason")),
    ("Stop", None),
    ("StopFailure", Some("error")),
    ("SubagentStart", Some("agent_type")),
    ("SubagentStop", Some("agent_type")),
    ("PreCompact", Some("trigger")),
    ("PostCompact", Some("trigger")),
    ("PreModelSwitch", Some("to_model")),
    ("PostModelSwitch", Some("to_model")),
    ("PermissionRequest", Some("tool_name")),
    ("PermissionDenied", Some("tool_name")),
    ("Setup", Some("trigger")),
    ("TeammateIdle", None),
    ("TaskCreated", None),
    ("TaskCompleted", None),
    ("Elicitation", Some("mcp_server_name")),
    ("ElicitationResult", Some("mcp_server_name")),
    ("ConfigChange", Some("source")),
    ("WorktreeCreate", None),
    ("WorktreeRemove", None),
    ("InstructionsLoaded", Some("load_reason")),
    ("CwdChanged", None),
    ("FileChanged", Some("file_path")),
    ("DirectoryAdded", Some("source")),
    ("MessageDisplay", None),
    ("PreSkillShellCommand", Some("tool_name")),
];

/// The events on which OpenHands holds a matcher against the tool's name; on all others a matcher
/// that is not `*` or empty selects nothing.
const OPENHANDS_TOOL_EVENTS: [&str; 2] = ["PreToolUse", "PostToolUse"];

/// The field of an event that a matcher looks at. `None` for an event on which matchers are
/// ignored: some of the contract's, and every event that the contract does not know.
pub fn matched_field(event_name: &str) -> Option<&'static str> {
    EVENTS
        .iter()
        .find(|(name, _)| *name == event_name)
        .and_then(|(_, field)| *field)
}

/// Which events a hook is for.
#[derive(Debug, Clone)]
pub struct Selector {
    events: Events,
    matcher: Matcher,
}

#[derive(Debug, Clone)]
enum Events {
    All,
    Named(Vec<String>),
}

impl Selector {
    /// Every event.
    pub const ALL: Self = Self {
        events: Events::All,
        matcher: Matcher::ALL,
    };

    /// The event of this name, if its matched field fits.
    pub fn event(name: impl Into<String>, matcher: Matcher) -> Self {
        Self {
            events: Events::Named(vec![name.into()]),
            matcher,
        }
    }

    /// The events of these names, compared exactly; none named is every event.
    pub fn events(names: Vec<String>) -> Self {
        if names.is_empty() {
            return Self::ALL;
        }
        Self {
            events: Events::Named(names),
            matcher: Matcher::ALL,
        }
    }

    /// The names of the events that the hook is for; `None` is every event.
    pub fn event_names(&self) -> Option<&[String]> {
        match &self.events {
            Events::All => None,
            Events::Named(names) => Some(names),
        }
    }

    /// Whether the event of this name selects the hook.
    ///
    /// `matched` is the value of the event's [`matched_field`]. By the Claude rule an event without
    /// that value, or with an empty one, selects the hook as if there were no matcher: the contract
    /// always sends the value, so one that is missing is a malformed event, and a guard is to see
    /// it. By OpenHands' rule it selects nothing but the matchers `*` and empty.
    pub fn selects(&self, event_name: &str, matched: Option<&str>) -> bool {
        let named = match &self.events {
            Events::All => true,
            Events::Named(names) => names.iter().any(|name| name == event_name),
        };
        named && self.matcher.matches(event_name, matched)
    }
}

/// A `matcher`.
#[derive(Debug, Clone)]
pub struct Matcher(Rule);

#[derive(Debug, Clone)]
enum Rule {
    All,
    Claude {
        usual: Test,
        /// What it means on the events with the narrower set of plain characters, if that differs.
        narrow: Option<Test>,
    },
    OpenHands(Test),
}

#[derive(Debug, Clone)]
enum Test {
    Names(Vec<String>),
    Searched(Searched),
    Whole(Whole),
    /// An expression between slashes that is not valid.
    Nothing,
}

impl Matcher {
    /// The matcher that fits everything: what an absent one means.
    pub const ALL: Self = Self(Rule::All);

    /// A matcher by the Claude contract.
    ///
    /// * empty or `*`: everything;
    /// * only `A-Z a-z 0-9 _ -`, blank, `,` and `|`: a name, or a list of names split at `|` and
    ///   `,`, compared exactly. On `FileChanged` and `StopFailure` only `A-Z a-z 0-9 _ |` count as
    ///   plain, and only `|` splits;
    /// * anything else: a JavaScript regular expression that must be found anywhere in the text,
    ///   upper and lower case told apart.
    ///
    /// # Errors
    ///
    /// When it is such an expression and not a valid one, or one of more than 2,000 characters.
    pub fn claude(text: &str) -> Result<Self, MatcherError> {
        if matches!(text, "" | "*") {
            return Ok(Self::ALL);
        }
        let plain = |also: &[char]| {
            text.chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_' || also.contains(&c))
        };
        let names = |separators: &[char]| {
            Test::Names(
                text.split(separators)
                    .map(|name| name.trim_matches(' ').to_owned())
                    .collect(),
            )
        };
        let narrowly = plain(&['|']);
        Ok(Self(if plain(&['|', ',', '-', ' ']) {
            let narrow = if narrowly {
                None
            } else {
                Some(Test::Searched(Searched::new(text)?))
            };
            Rule::Claude {
                usual: names(&['|', ',']),
                narrow,
            }
        } else {
            Rule::Claude {
                usual: Test::Searched(Searched::new(text)?),
                narrow: None,
            }
        }))
    }

    /// A matcher by OpenHands' rule.
    ///
    /// * empty or `*`: everything;
    /// * `/…/`: a Python regular expression that must match the whole name; if it is not valid, the
    ///   matcher fits nothing;
    /// * text with one of ``| . * + ? [ ] ( ) ^ $ \``: the same, but if it is not valid, the text
    ///   is compared with the name;
    /// * anything else: the name, compared exactly.
    pub fn openhands(text: &str) -> Self {
        if matches!(text, "" | "*") {
            return Self::ALL;
        }
        let between_slashes = text
            .strip_prefix('/')
            .and_then(|text| text.strip_suffix('/'))
            .filter(|text| !text.is_empty());
        Self(Rule::OpenHands(if let Some(expression) = between_slashes {
            Whole::new(expression).map_or(Test::Nothing, Test::Whole)
        } else if text.contains(['|', '.', '*', '+', '?', '[', ']', '(', ')', '^', '$', '\\'])
            && let Some(expression) = Whole::new(text)
        {
            Test::Whole(expression)
        } else {
            Test::Names(vec![text.to_owned()])
        }))
    }

    /// Whether it fits nothing at all, on any event.
    pub fn fits_nothing(&self) -> bool {
        match &self.0 {
            Rule::All => false,
            Rule::Claude { usual, .. } | Rule::OpenHands(usual) => match usual {
                Test::Names(names) => names.iter().all(String::is_empty),
                Test::Nothing => true,
                Test::Searched(_) | Test::Whole(_) => false,
            },
        }
    }

    fn matches(&self, event_name: &str, matched: Option<&str>) -> bool {
        match &self.0 {
            Rule::All => true,
            Rule::OpenHands(test) => {
                OPENHANDS_TOOL_EVENTS.contains(&event_name)
                    && matched.is_some_and(|text| test.fits(text))
            }
            Rule::Claude { usual, narrow } => {
                let Some(text) = matched.filter(|text| !text.is_empty()) else {
                    return true;
                };
                match event_name {
                    _ if matched_field(event_name).is_none() => true,
                    // The contract's matcher names files; its event carries their whole path.
                    "FileChanged" => {
                        let test = narrow.as_ref().unwrap_or(usual);
                        let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
                        test.fits(text) || test.fits(name)
                    }
                    "StopFailure" => narrow.as_ref().unwrap_or(usual).fits(text),
                    _ => usual.fits(text),
                }
            }
        }
    }
}

impl Test {
    fn fits(&self, text: &str) -> bool {
        match self {
            Self::Names(names) => names.iter().any(|name| name == text),
            Self::Searched(expression) => expression.is_found_in(text),
            Self::Whole(expression) => expression.matches(text),
            Self::Nothing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claude(matcher: &str, event: &str, matched: Option<&str>) -> bool {
        let matcher = Matcher::claude(matcher).unwrap_or_else(|error| panic!("{matcher}: {error}"));
        Selector::event(event, matcher).selects(event, matched)
    }

    #[test]
    fn claude_matchers_on_tool_names() {
        for (matcher, fits, differs) in [
            ("", &["Bash", "anything at all", ""][..], &[][..]),
            ("*", &["Bash", ""], &[]),
            ("Bash", &["Bash"], &["bash", "BashOutput", "xBash", "Bash "]),
            (
                "Edit|Write",
                &["Edit", "Write"],
                &["MultiEdit", "Edit|Write", "EditWrite"],
            ),
            ("Edit,Write", &["Edit", "Write"], &["Edit,Write"]),
            (
                "Edit , Write | Read",
                &["Edit", "Write", "Read"],
                &["Edit ", " Write"],
            ),
            ("my-tool", &["my-tool"], &["my-tools", "my", "tool"]),
            ("mcp__memory", &["mcp__memory"], &["mcp__memory__read"]),
            ("Bash|", &["Bash"], &["|", "Edit"]),
            (" ", &[], &["Bash", " "]),
            (",|", &[], &["Bash"]),
            (
                "mcp__memory.*",
                &["mcp__memory", "mcp__memory__read", "x_mcp__memory"],
                &["mcp__git"],
            ),
            (
                "mcp__.*__write.*",
                &["mcp__fs__write_file"],
                &["mcp__fs__read", "MCP__fs__write"],
            ),
            (".*", &["Bash", "x"], &[]),
            ("^Notebook", &["NotebookEdit"], &["xNotebook"]),
            (
                "^(Edit|Write)$",
                &["Edit", "Write"],
                &["MultiEdit", "Writer"],
            ),
            ("Edit.?", &["Edit", "MultiEdit", "Edits"], &["edit"]),
            ("^(?!Bash$).*", &["Edit", "Bash2"], &["Bash"]),
            (r"(.)\1", &["Foo"], &["Bash"]),
            (r"^\w+$", &["Bash_1"], &["my-tool", "größe"]),
            ("[^]x", &["ax", "\nx"], &["x"]),
            ("**", &["unreachable"], &[]),
        ] {
            if Matcher::claude(matcher).is_err() {
                assert_eq!(matcher, "**");
                continue;
            }
            for tool in fits {
                assert!(
                    claude(matcher, "PreToolUse", Some(tool)),
                    "{matcher} must fit {tool}"
                );
            }
            for tool in differs {
                assert!(
                    !claude(matcher, "PreToolUse", Some(tool)),
                    "{matcher} must not fit {tool}"
                );
            }
        }
    }

    #[test]
    fn each_event_has_its_field() {
        for (event, field) in [
            ("PermissionDenied", Some("tool_name")),
            ("SubagentStart", Some("agent_type")),
            ("PostModelSwitch", Some("to_model")),
            ("Stop", None),
            ("UserPromptSubmit", None),
            ("tool.use", None),
            ("pretooluse", None),
        ] {
            assert_eq!(matched_field(event), field, "{event}");
        }
        assert!(!claude("startup", "SessionStart", Some("resume")));
        assert!(claude("startup|resume", "SessionStart", Some("resume")));
        assert!(claude("manual", "PreCompact", Some("manual")));
    }

    #[test]
    fn a_matcher_is_ignored_where_the_event_has_no_field_or_no_value() {
        for event in ["Stop", "UserPromptSubmit", "CwdChanged", "my.event"] {
            assert!(claude("Bash", event, None), "{event}");
            assert!(claude("Bash", event, Some("Edit")), "{event}");
        }
        assert!(
            claude("Bash", "PreToolUse", None),
            "a malformed event is shown to every guard"
        );
        assert!(claude("Bash", "PreToolUse", Some("")));
    }

    #[test]
    fn two_events_have_a_narrower_set_of_plain_characters() {
        assert!(claude(
            "rate_limit|overloaded",
            "StopFailure",
            Some("overloaded")
        ));
        assert!(!claude("rate_limit", "StopFailure", Some("rate_limits")));
        // A hyphen makes it an expression there, and that is found anywhere.
        assert!(claude("rate-limit", "StopFailure", Some("a rate-limit b")));
        assert!(!claude("rate-limit", "SessionEnd", Some("a rate-limit b")));
        assert!(claude("a, b", "StopFailure", Some("xa, b")));
        assert!(!claude("a, b", "StopFailure", Some("a")));
    }

    #[test]
    fn file_changed_knows_files_by_name_and_by_path() {
        for (matcher, path, expected) in [
            ("Makefile", "/p/Makefile", true),
            ("Makefile", "/p/Makefile.am", false),
            (".envrc|.env", "/p/.env", true),
            ("^src/", "/p/src/a", false),
            ("/src/", "/p/src/a", true),
            ("Makefile", r"C:\p\Makefile", true),
        ] {
            assert_eq!(
                claude(matcher, "FileChanged", Some(path)),
                expected,
                "{matcher} {path}"
            );
        }
    }

    #[test]
    fn openhands_matchers() {
        for (matcher, tool, expected) in [
            ("*", None, true),
            ("", None, true),
            ("x", None, false),
            (".*", None, false),
            ("terminal", Some("terminal"), true),
            ("terminal", Some("terminal2"), false),
            ("terminal", Some("Terminal"), false),
            ("terminal|file_editor", Some("file_editor"), true),
            ("terminal|file_editor", Some("file_editor2"), false),
            ("a|ab", Some("ab"), true),
            ("file_.*", Some("file_editor"), true),
            ("file_.*", Some("xfile_editor"), false),
            ("file_", Some("file_editor"), false),
            ("/term.*/", Some("terminal"), true),
            ("/term/", Some("terminal"), false),
            ("/terminal/", Some("terminal"), true),
            ("/(/", Some("("), false),
            ("/(/", Some("/(/"), false),
            ("//", Some("//"), true),
            ("/", Some("/"), true),
            ("a{2}", Some("aa"), false),
            ("a{2}", Some("a{2}"), true),
            ("/a{2}/", Some("aa"), true),
            ("a{2}.?", Some("aa"), true),
            ("Bash,Edit", Some("Bash"), false),
            ("Bash,Edit", Some("Bash,Edit"), true),
            ("***", Some("***"), true),
            ("[", Some("["), true),
            ("[", Some("x"), false),
            ("Bash(git *)", Some("Bash(git *)"), false),
            ("Bash(git *)", Some("Bashgit  "), true),
            ("(?i)TERMINAL", Some("terminal"), true),
            ("(?!bash).*", Some("bash2"), false),
            ("(?!bash).*", Some("term"), true),
            (r"(?P<x>a)(?P=x)", Some("aa"), true),
            (r"(.)\1", Some("aa"), true),
            (r"\d+", Some("12"), true),
            ("a.b", Some("a\nb"), false),
            ("(?s)a.b", Some("a\nb"), true),
            ("a$", Some("a\n"), false),
        ] {
            let selector = Selector::event("PreToolUse", Matcher::openhands(matcher));
            assert_eq!(
                selector.selects("PreToolUse", tool),
                expected,
                "{matcher} {tool:?}"
            );
        }
    }

    #[test]
    fn openhands_looks_at_tools_only() {
        let selects = |event, matcher| {
            Selector::event(event, Matcher::openhands(matcher)).selects(event, Some("x"))
        };
        assert!(selects("PostToolUse", "x"));
        assert!(selects("SessionStart", "*"));
        for event in ["Stop", "SessionStart", "UserPromptSubmit"] {
            assert!(!selects(event, "x"), "{event}");
            assert!(!selects(event, ".*"), "{event}");
        }
    }

    #[test]
    fn names_of_events_are_compared_exactly() {
        let list = Selector::events(vec!["tool.use".into(), "Stop".into()]);
        assert!(list.selects("tool.use", None) && list.selects("Stop", None));
        assert!(
            !list.selects("stop", None)
                && !list.selects("tool", None)
                && !list.selects("xtool.use", None)
        );
        assert!(Selector::events(Vec::new()).selects("whatever", Some("x")));
        assert!(Selector::ALL.selects("whatever", None));
    }

    #[test]
    fn what_can_never_fit_is_known() {
        for (matcher, nothing) in [
            (Matcher::claude(" , ").unwrap(), true),
            (Matcher::claude("Bash").unwrap(), false),
            (Matcher::openhands("/(/"), true),
            (Matcher::openhands("["), false),
            (Matcher::ALL, false),
        ] {
            assert_eq!(matcher.fits_nothing(), nothing, "{matcher:?}");
        }
    }
}
