//! A JSON value that has not been parsed yet.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::lenient::normalise;

/// A JSON value that is parsed only as far as it is asked for.
///
/// A hook that asks for `tool_input.command` gets it whatever else the event holds: nesting of ten
/// thousand levels, half of a surrogate pair, numbers beyond double precision and duplicate keys
/// (the last one counts, as in JavaScript and Python) are no obstacle.
///
/// ```
/// use hookcell_guest::Event;
///
/// let event = Event::parse(br#"{"tool_input": {"command": "ls", "odd": "\ud800", "n": 1e999}}"#)?;
/// let input = event.tool_input();
/// assert_eq!(input.get("command").text().as_deref(), Some("ls"));
/// assert_eq!(input.get("odd").text().as_deref(), Some("\u{fffd}"));
/// assert_eq!(input.get("none").text(), None);
/// # Ok::<(), hookcell_guest::EventError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// What is missing reads as `null`.
    pub(crate) const NULL: Json<'static> = Json(Cow::Borrowed("null"));

    /// `raw` must be one JSON value.
    pub(crate) fn new(raw: &'a str) -> Self {
        Self(Cow::Borrowed(raw.trim_ascii()))
    }

    /// The value's text as it stands in the event.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether the value is `null`, or is not there.
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// The member `key` of an object; `null` if the value is not an object or has no such member.
    pub fn get(&self, key: &str) -> Json<'a> {
        match &self.0 {
            Cow::Borrowed(raw) => Json(member(raw, key)),
            Cow::Owned(raw) => Json(Cow::Owned(member(raw, key).into_owned())),
        }
    }

    /// The text of a string; `None` if the value is not a string. Half of a surrogate pair reads
    /// as U+FFFD.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        match &self.0 {
            raw if !raw.starts_with('"') => None,
            Cow::Borrowed(raw) if is_plain(raw) => raw.get(1..raw.len() - 1).map(Cow::Borrowed),
            _ => self.parse().ok().map(Cow::Owned),
        }
    }

    /// The value of a boolean; `None` if it is none.
    pub fn boolean(&self) -> Option<bool> {
        match &*self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The value as a type of yours.
    ///
    /// # Errors
    ///
    /// If the value does not have the type's shape.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        // The strict parser's message is the better one, since it speaks of the original text.
        serde_json::from_str(&self.0)
            .or_else(|strict| serde_json::from_str(&normalise(&self.0)).map_err(|_| strict))
    }

    /// The whole value. A number beyond double precision becomes the largest one, and what is
    /// nested more than a hundred levels deep becomes a string that holds its JSON text.
    pub fn to_value(&self) -> Value {
        self.parse().unwrap_or_default()
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The member `key` of the value `raw`, unparsed.
fn member<'a>(raw: &'a str, key: &str) -> Cow<'a, str> {
    const NULL: Cow<'static, str> = Cow::Borrowed("null");
    if !raw.starts_with('{') {
        return NULL;
    }
    match members(raw, [key]) {
        Ok([found]) => found.map_or(NULL, Cow::Borrowed),
        Err(_) => match members(&normalise(raw), [key]) {
            Ok([Some(found)]) => Cow::Owned(found.to_owned()),
            _ => NULL,
        },
    }
}

/// Whether a string, with its quotes, holds no escapes: a command of ten megabytes is not copied.
fn is_plain(string: &str) -> bool {
    string.len() >= 2 && !string.bytes().any(|byte| byte == b'\\' || byte < b' ')
}

/// The members of these names, each unparsed, of the object that `text` is. Of members of the same
/// name the last one counts. Nothing else is kept, since an object can have millions of members.
///
/// # Errors
///
/// If `text` is not exactly one JSON object, or one of its keys holds half of a surrogate pair.
pub(crate) fn members<'a, const COUNT: usize>(
    text: &'a str,
    names: [&str; COUNT],
) -> Result<[Option<&'a str>; COUNT], serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let members = deserializer.deserialize_map(Members(names))?;
    deserializer.end()?;
    Ok(members)
}

/// [`RawValue`] walks over a value without recursion and does not look into its strings and
/// numbers, so neither depth nor odd content costs the event.
struct Members<'n, const COUNT: usize>([&'n str; COUNT]);

impl<'de, const COUNT: usize> Visitor<'de> for Members<'_, COUNT> {
    type Value = [Option<&'de str>; COUNT];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = [None; COUNT];
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let raw = map.next_value::<&RawValue>()?.get();
            if let Some(index) = self.0.iter().position(|name| *name == key.0) {
                members[index] = Some(raw);
            }
        }
        Ok(members)
    }
}

/// A key that is borrowed where it holds no escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_is_found_whatever_stands_beside_it() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for odd in [
            r#""\ud800""#,
            "1e999",
            "NaN",
            "-Infinity",
            &"9".repeat(400),
            &deep,
            r#"{"a":1,"a":2}"#,
            "\"\u{1}\"",
        ] {
            for text in [
                format!(r#"{{"command":"ls","odd":{odd}}}"#),
                format!(r#"{{"odd":{odd},"command":"ls"}}"#),
                format!(r#"{{"odd":{odd},"\ud800":{odd},"comm\u0061nd":"ls"}}"#),
            ] {
                let json = Json::new(&text);
                assert_eq!(
                    json.get("command").text().as_deref(),
                    Some("ls"),
                    "{text:.80}"
                );
                assert_eq!(json.to_value()["command"], "ls", "{text:.80}");
            }
        }
    }

    #[test]
    fn of_duplicate_members_the_last_one_counts() {
        let json = Json::new(r#"{"a":"first","a":"last"}"#);
        assert_eq!(json.get("a").text().as_deref(), Some("last"));
        assert_eq!(json.to_value(), json!({"a": "last"}));
    }

    #[test]
    fn a_value_of_another_kind_has_no_text_and_no_members() {
        for raw in ["null", "1", "[\"a\"]", "true", "\"a\""] {
            assert!(Json::new(raw).get("a").is_null(), "{raw}");
        }
        assert_eq!(Json::new("1").text(), None);
        assert_eq!(Json::new("[]").text(), None);
        assert_eq!(Json::new("{}").get("a").text(), None);
    }

    #[test]
    fn strings_are_decoded() {
        assert_eq!(
            Json::new(r#""a\"\u00e9\n""#).text().as_deref(),
            Some("a\"é\n")
        );
        assert_eq!(
            Json::new(r#""\ud83d\ude00\ud83d""#).text().as_deref(),
            Some("\u{1f600}\u{fffd}")
        );
        assert!(matches!(
            Json::new(r#""plain""#).text(),
            Some(Cow::Borrowed("plain"))
        ));
        assert_eq!(Json::new(r#""""#).text().as_deref(), Some(""));
    }

    #[test]
    fn a_typed_value_is_read_and_refused_with_a_reason() {
        assert_eq!(Json::new("[1, 2]").parse::<Vec<u8>>().unwrap(), [1, 2]);
        assert_eq!(
            Json::new("[1, 256]")
                .parse::<Vec<u8>>()
                .unwrap_err()
                .to_string(),
            "invalid value: integer `256`, expected u8 at line 1 column 7"
        );
        assert_eq!(
            (Json::new("true").boolean(), Json::new("1").boolean()),
            (Some(true), None)
        );
    }
}
