//! One entry of hooks.json, as it is written: these types are what an entry is read with, and what
//! the JSON Schema is made from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

use super::value::{Fuel, Seconds, Sha256, Size};

/// A command: a process of the operating system, with the user's rights.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "command")]
#[allow(dead_code, reason = "`type`, `statusMessage`, `once` and `events` are read for their form alone")]
pub(super) struct CommandEntry {
    /// `command`; may be left out where `command` is given.
    #[serde(rename = "type")]
    pub(super) kind: Option<CommandKind>,
    /// How the hook is called in messages and records.
    pub(super) name: Option<String>,
    /// A line for the shell; with `args`, a program; as a list, a program and its arguments.
    pub(super) command: CommandText,
    /// The arguments of the program: no shell takes part. `${CLAUDE_PROJECT_DIR}` and
    /// `${workspace}` are replaced.
    pub(super) args: Option<Vec<String>>,
    /// The shell of a command line. Default: `/bin/sh`.
    pub(super) shell: Option<ShellWord>,
    /// Seconds that the hook may run. Default: 600, on UserPromptSubmit and the model-switch
    /// events 30.
    pub(super) timeout: Option<Seconds>,
    /// What a failure means: the operation goes on, or it is blocked.
    pub(super) on_failure: Option<OnFailureWord>,
    /// How much output is kept.
    pub(super) limits: Option<OutputLimits>,
    /// Handed to the hook as JSON in the variable `HOOKCELL_CONFIG`.
    pub(super) config: Option<AnyObject>,
    /// Accepted and unused: for agents that show it while the hook runs.
    pub(super) status_message: Option<String>,
    /// Accepted and unused, as the Claude contract has it for settings files.
    pub(super) once: Option<bool>,
    /// In a list of hooks: the events that it is for. Absent or empty: all.
    pub(super) events: Option<Vec<String>>,
}

/// A WASI component, or a core module of WASI preview1, in the sandbox.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "component")]
#[allow(dead_code, reason = "`type`, `statusMessage`, `once` and `events` are read for their form alone")]
pub(super) struct ComponentEntry {
    /// `component`; may be left out where `component` is given.
    #[serde(rename = "type")]
    pub(super) kind: Option<ComponentKind>,
    /// How the hook is called in messages and records.
    pub(super) name: Option<String>,
    /// A .wasm file, relative to the folder of this file, or `builtin:NAME`.
    pub(super) component: ComponentText,
    /// The digest that the file must have.
    pub(super) sha256: Option<Sha256>,
    /// The component's arguments, after the program's name.
    pub(super) args: Option<Vec<String>>,
    /// Seconds that the hook may run, compiling not counted. Default: 10.
    pub(super) timeout: Option<Seconds>,
    /// What a failure means: the operation goes on, or it is blocked.
    pub(super) on_failure: Option<OnFailureWord>,
    /// The limits of one run.
    pub(super) limits: Option<ComponentLimits>,
    /// What the component may touch. Without it: nothing.
    pub(super) permissions: Option<PermissionsEntry>,
    /// Handed to the hook as JSON in the variable `HOOKCELL_CONFIG`.
    pub(super) config: Option<AnyObject>,
    /// Accepted and unused: for agents that show it while the hook runs.
    pub(super) status_message: Option<String>,
    /// Accepted and unused, as the Claude contract has it for settings files.
    pub(super) once: Option<bool>,
    /// In a list of hooks: the events that it is for. Absent or empty: all.
    pub(super) events: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum CommandKind {
    Command,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ComponentKind {
    Component,
}

/// The shell of a command line.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum ShellWord {
    /// `bash -c`
    Bash,
    /// `pwsh -Command`
    Powershell,
}

/// What a failure means.
#[derive(Deserialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum OnFailureWord {
    /// It is reported, and the operation goes on: the default.
    Continue,
    /// It is a block whose reason names the failure.
    Block,
}

/// The smallest and the largest cap on an output: 1 KiB and 64 MiB.
type OutputSize = Size<1024, { 64 << 20 }>;

/// How much of a command's output is kept.
#[derive(Deserialize, JsonSchema, Default)]
pub(super) struct OutputLimits {
    /// Standard output; more than that is a failure. Default: 1 MiB.
    pub(super) stdout: Option<OutputSize>,
    /// Standard error; the rest is dropped. Default: 64 KiB.
    pub(super) stderr: Option<OutputSize>,
}

/// The limits of one run of a component.
#[derive(Deserialize, JsonSchema, Default)]
pub(super) struct ComponentLimits {
    /// Work: about one unit a wasm instruction. Default: 10000000000.
    pub(super) fuel: Option<Fuel>,
    /// The sum of its memories. Default: 256 MiB.
    pub(super) memory: Option<Size<{ 64 << 10 }, { 4 << 30 }>>,
    /// Standard output; more than that is a failure. Default: 1 MiB.
    pub(super) stdout: Option<OutputSize>,
    /// Standard error; the rest is dropped. Default: 64 KiB.
    pub(super) stderr: Option<OutputSize>,
}

/// What a component may touch.
#[derive(Deserialize, JsonSchema, Default)]
pub(super) struct PermissionsEntry {
    /// Folders, with all that is below them.
    pub(super) filesystem: Option<Vec<GrantEntry>>,
    /// Names of variables whose values it sees.
    pub(super) environment: Option<Vec<VariableName>>,
}

/// A granted folder.
#[derive(Deserialize, JsonSchema)]
pub(super) struct GrantEntry {
    /// The folder: absolute, or relative to the project. `${workspace}` is the project, `${home}`
    /// and `~` the home folder.
    pub(super) path: PathText,
    /// What may be done below it.
    pub(super) access: AccessWord,
}

/// What may be done in a granted folder.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum AccessWord {
    /// Open, list, read.
    Read,
    /// Also create, write, rename, delete.
    Write,
}

/// A command line, or a program and its arguments.
pub(super) enum CommandText {
    Line(String),
    List(Vec<String>),
}

impl<'de> Deserialize<'de> for CommandText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = CommandText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a command line as text, or a program and its arguments as a list of texts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<CommandText, E> {
                if text.is_empty() {
                    return Err(E::invalid_value(Unexpected::Str(text), &self));
                }
                Ok(CommandText::Line(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<CommandText, A::Error> {
                let mut parts = Vec::new();
                while let Some(part) = sequence.next_element::<String>()? {
                    parts.push(part);
                }
                if parts.first().is_none_or(String::is_empty) {
                    return Err(A::Error::custom(format_args!("no program is named, expected {}", &self as &dyn serde::de::Expected)));
                }
                Ok(CommandText::List(parts))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for CommandText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CommandText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string"}, "minItems": 1}
        ]})
    }
}

/// Text of a kind, with what it expects and which texts it takes.
macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $expecting:literal, $accepts:expr, $schema:tt) => {
        $(#[$doc])*
        pub(super) struct $name(pub(super) String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;
                impl Visitor<'_> for Reader {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                        let accepts: fn(&str) -> bool = $accepts;
                        if accepts(text) {
                            Ok($name(text.to_owned()))
                        } else {
                            Err(E::invalid_value(Unexpected::Str(text), &self))
                        }
                    }
                }
                deserializer.deserialize_str(Reader)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    };
}

text!(
    /// Where a component is. Precompiled code is never accepted.
    ComponentText,
    "the path of a .wasm file, or builtin:NAME; precompiled code (.cwasm) is never accepted",
    |text| !text.is_empty() && !text.contains('\0') && !text.ends_with(".cwasm") && text != "builtin:",
    {"type": "string", "minLength": 1, "examples": ["no-rm.wasm", "builtin:block-dangerous-commands"]}
);

text!(
    /// A folder to grant.
    PathText,
    "the path of a folder",
    |text| !text.is_empty() && !text.contains('\0'),
    {"type": "string", "minLength": 1, "examples": ["${workspace}"]}
);

text!(
    /// The name of a variable.
    VariableName,
    "the name of an environment variable, without `=`",
    |text| !text.is_empty() && !text.contains(['\0', '=']),
    {"type": "string", "pattern": "^[^=]+$"}
);

/// An object, whatever is in it.
pub(super) struct AnyObject;

impl<'de> Deserialize<'de> for AnyObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = AnyObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AnyObject, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(AnyObject)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

impl JsonSchema for AnyObject {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyObject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object"})
    }
}

/// A group of hooks with one matcher; only for the schema, since its members are read one by one.
#[derive(JsonSchema)]
#[schemars(title = "group")]
#[allow(dead_code, reason = "the schema's types")]
pub(super) struct GroupEntry {
    /// Which tools (or other values of the event) the hooks are for: exact names, a list of them
    /// (`Bash|Write`), or else a JavaScript regular expression that may match anywhere. Absent,
    /// empty or `*`: all.
    matcher: Option<String>,
    /// The hooks.
    hooks: Vec<HandlerEntry>,
}

/// One hook; only for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "the schema's types")]
pub(super) enum HandlerEntry {
    Command(CommandEntry),
    Component(ComponentEntry),
}

/// A whole file; only for the schema.
#[derive(JsonSchema)]
#[schemars(title = "hooks.json", description = "The hooks of hookcell.")]
#[allow(dead_code, reason = "the schema's types")]
pub(super) struct FileEntry {
    /// The schema of this file.
    #[serde(rename = "$schema")]
    schema: Option<String>,
    /// What these hooks are for.
    description: Option<String>,
    /// The hooks, by event, or as a list.
    hooks: HooksEntry,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "the schema's types")]
pub(super) enum HooksEntry {
    /// By event: `PreToolUse`, `PostToolUse`, `UserPromptSubmit`, `Stop`, or any other name.
    Events(BTreeMap<String, Vec<GroupEntry>>),
    /// As a list of hooks that name their events.
    List(Vec<HandlerEntry>),
}
