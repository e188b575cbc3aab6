//! The JSON Schema of hooks.json, made from the types that an entry is read with.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::entry::Entry;
use crate::select::EVENTS;

/// The JSON Schema (draft 2020-12) of hookcell's own hooks.json.
///
/// It knows both shapes and the form without `hooks`. What it accepts is accepted without an error;
/// names of events that the Claude contract does not know are allowed.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let entry = generator.root_schema_for::<Entry>().to_value();
    let listed = with_kinds(entry);
    let mut grouped = listed.clone();
    if let Some(properties) = grouped.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("events");
    }
    let events: Map<String, Value> = EVENTS
        .iter()
        .map(|(name, field)| ((*name).to_owned(), event(*field)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hooks.json",
        "description": "The hooks of hookcell.",
        "type": "object",
        "properties": {
            "$schema": {"type": "string", "description": "The address of this schema."},
            "description": {"type": "string", "description": "What these hooks are for."},
            "hooks": {
                "description": "The hooks: by event, or as a list in which each hook names its events.",
                "anyOf": [
                    {"type": "object", "properties": events, "additionalProperties": {"$ref": "#/$defs/groups"}},
                    {"type": "array", "items": {"$ref": "#/$defs/listedHook"}}
                ]
            }
        },
        "additionalProperties": {"$ref": "#/$defs/groups"},
        "$defs": {
            "groups": {
                "description": "The hooks of one event.",
                "type": "array",
                "items": {"$ref": "#/$defs/group"}
            },
            "group": {
                "description": "Hooks with one matcher.",
                "type": "object",
                "properties": {
                    "matcher": {
                        "type": "string",
                        "description": "Which values of the event's matched field the hooks are for. Absent, empty or `*`: all. Of letters, digits, `_`, `-`, blanks, `,` and `|` alone: exact names, separated by `|` or `,`. Anything else: a JavaScript regular expression that is searched for anywhere in the value."
                    },
                    "hooks": {"type": "array", "items": {"$ref": "#/$defs/hook"}, "description": "The hooks."}
                },
                "required": ["hooks"],
                "additionalProperties": false
            },
            "hook": grouped,
            "listedHook": listed
        }
    })
}

fn event(field: Option<&str>) -> Value {
    let matched = match field {
        Some(field) => format!("The matcher looks at `{field}`."),
        None => "A matcher is ignored.".to_owned(),
    };
    json!({"$ref": "#/$defs/groups", "description": matched})
}

/// An entry's schema, with what belongs to a command and what to a component.
fn with_kinds(mut entry: Value) -> Value {
    forbid_null(&mut entry);
    if let Some(entry) = entry.as_object_mut() {
        entry.remove("$schema");
        entry.remove("title");
        let none_of = |names: &[&str]| json!({"anyOf": names.iter().map(|name| json!({"required": [name]})).collect::<Vec<_>>()});
        entry.insert(
            "oneOf".to_owned(),
            json!([
                {
                    "title": "command",
                    "required": ["command"],
                    "properties": {
                        "type": {"const": "command"},
                        "limits": {"not": none_of(&["fuel", "requests", "bodies", "state"])}
                    },
                    "not": none_of(&["component", "sha256", "permissions"]),
                    "if": {"not": {"required": ["sandbox"]}},
                    "then": {"properties": {"limits": {"not": {"required": ["memory"]}}}}
                },
                {
                    "title": "component",
                    "required": ["component"],
                    "properties": {"type": {"const": "component"}},
                    "not": none_of(&["command", "shell", "sandbox"])
                }
            ]),
        );
    }
    entry
}

/// A member that may be absent is not one that may be `null`.
fn forbid_null(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(forbid_null);
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|it| it != "null");
                if let [one] = &types[..] {
                    let one = one.clone();
                    members.insert("type".to_owned(), one);
                }
            }
            if let Some(Value::Array(options)) = members.get_mut("anyOf") {
                options.retain(|it| *it != json!({"type": "null"}));
                if let [Value::Object(one)] = &options[..] {
                    let one = one.clone();
                    members.remove("anyOf");
                    // What is said of the member goes before what is said of its type.
                    for (key, value) in one {
                        members.entry(key).or_insert(value);
                    }
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(forbid_null),
        _ => {}
    }
}
