//! Why a value cannot be read into a type.

use std::fmt;
use std::ops::Range;

use jsonc_parser::ast::Value;
use serde::de::{Error, Expected, Unexpected};

use super::values::range;
use crate::text;

/// What a value is, for messages: `the number 5`, `a list`.
pub(super) fn found(value: &Value<'_>) -> String {
    match value {
        Value::StringLit(text) => format!("the string \"{}\"", text::one_line(&text.value, 60)),
        Value::NumberLit(number) => format!("the number {}", text::one_line(number.value, 40)),
        Value::BooleanLit(boolean) => boolean.value.to_string(),
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::NullKeyword(_) => "null".to_owned(),
    }
}

/// One wrong value.
#[derive(Debug)]
pub(super) struct Fault {
    /// Where it is.
    pub(super) range: Range<usize>,
    problem: Problem,
    /// The path to it, from its end to its beginning.
    steps: Vec<Step>,
    pub(super) found: Option<String>,
    /// What to write instead.
    pub(super) help: Option<String>,
}

#[derive(Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

#[derive(Debug)]
enum Problem {
    /// Something else must be there.
    Expected(String),
    /// A member is missing.
    Missing(&'static str),
    Other(String),
}

impl Fault {
    fn new(problem: Problem) -> Self {
        Self {
            range: 0..0,
            problem,
            steps: Vec::new(),
            found: None,
            help: None,
        }
    }

    /// The fault, found in this value unless it was found in a part of it.
    pub(super) fn at(mut self, value: &Value<'_>) -> Self {
        if self.found.is_none() {
            self.range = range(value);
            self.found = Some(found(value));
            if let (Value::StringLit(text), Problem::Expected(expected)) = (value, &self.problem) {
                let bare = text.value.trim();
                let is_meant = (expected.contains("number")
                    && bare.parse::<f64>().is_ok_and(f64::is_finite))
                    || (expected.starts_with("true") && matches!(bare, "true" | "false"));
                self.help = is_meant.then(|| {
                    format!(
                        "write {bare} instead of \"{}\"",
                        text::one_line(&text.value, 60)
                    )
                });
            }
        }
        self
    }

    pub(super) fn inside(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps.iter().rev() {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.extend([".", key]),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        text::one_line(&path, 80).into()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.steps.is_empty() {
            "the hook".to_owned()
        } else {
            format!("`{}`", self.path())
        };
        match &self.problem {
            Problem::Expected(expected) => {
                write!(f, "{what} must be {expected}")?;
                self.found
                    .iter()
                    .try_for_each(|found| write!(f, "; found {found}"))
            }
            Problem::Missing(name) => write!(f, "{what} has no `{name}`"),
            Problem::Other(message) => write!(f, "{what}: {message}"),
        }
    }
}

impl std::error::Error for Fault {}

impl Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Other(message.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Problem::Expected(match expected.to_string().as_str() {
            "a sequence" => "a list".to_owned(),
            "a boolean" => "true or false".to_owned(),
            other => other.to_owned(),
        }))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(unexpected, expected)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(Problem::Expected(one_of(expected)))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(Problem::Missing(name))
    }
}

fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match &quoted[..] {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        words => words.join(", "),
    }
}
