//! The single values of an entry, each with what it must be and its part of the schema.

use std::borrow::Cow;
use std::fmt;

use bytesize::ByteSize;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{
    Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};

use super::deny;
use super::permissions::{NetworkGrant, port_number};

/// The longest timeout, in seconds: a day.
pub(super) const LONGEST_TIMEOUT: f64 = 86_400.0;

/// What `timeout` must be.
pub(super) const TIMEOUT: &str = "a number of seconds, greater than 0 and at most 86400";

/// `timeout`. Whether the number is in range is for the file's dialect to say.
#[derive(Clone, Copy)]
pub(super) struct Seconds(pub(super) f64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Seconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(TIMEOUT)
            }

            fn visit_f64<E: Error>(self, seconds: f64) -> Result<Seconds, E> {
                Ok(Seconds(seconds))
            }

            fn visit_u64<E: Error>(self, seconds: u64) -> Result<Seconds, E> {
                Ok(Seconds(seconds as f64))
            }

            fn visit_i64<E: Error>(self, seconds: i64) -> Result<Seconds, E> {
                Ok(Seconds(seconds as f64))
            }
        }
        deserializer.deserialize_f64(Reader)
    }
}

/// A whole number from `LOW` to `HIGH`.
#[derive(Clone, Copy)]
pub(super) struct Count<const LOW: u64, const HIGH: u64>(pub(super) u64);

/// `limits.fuel`.
pub(super) type Fuel = Count<1, 1_000_000_000_000_000>;

impl<'de, const LOW: u64, const HIGH: u64> Deserialize<'de> for Count<LOW, HIGH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<const LOW: u64, const HIGH: u64>;
        impl<const LOW: u64, const HIGH: u64> Visitor<'_> for Reader<LOW, HIGH> {
            type Value = Count<LOW, HIGH>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from {LOW} to {HIGH}")
            }

            fn visit_u64<E: Error>(self, count: u64) -> Result<Self::Value, E> {
                if (LOW..=HIGH).contains(&count) {
                    Ok(Count(count))
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(count), &self))
                }
            }

            fn visit_f64<E: Error>(self, count: f64) -> Result<Self::Value, E> {
                match whole(count) {
                    Some(count) => self.visit_u64(count),
                    None => Err(E::invalid_value(Unexpected::Float(count), &self)),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A number of bytes from `LOW` to `HIGH`.
#[derive(Clone, Copy)]
pub(super) struct Size<const LOW: u64, const HIGH: u64>(pub(super) u64);

impl<'de, const LOW: u64, const HIGH: u64> Deserialize<'de> for Size<LOW, HIGH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<const LOW: u64, const HIGH: u64>;
        impl<const LOW: u64, const HIGH: u64> Visitor<'_> for Reader<LOW, HIGH> {
            type Value = Size<LOW, HIGH>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (low, high) = (
                    ByteSize::b(LOW).display().iec(),
                    ByteSize::b(HIGH).display().iec(),
                );
                write!(
                    f,
                    "a size from {low} to {high}: a number of bytes, or a string such as \"64MiB\""
                )
            }

            fn visit_u64<E: Error>(self, bytes: u64) -> Result<Self::Value, E> {
                if (LOW..=HIGH).contains(&bytes) {
                    Ok(Size(bytes))
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(bytes), &self))
                }
            }

            fn visit_f64<E: Error>(self, bytes: f64) -> Result<Self::Value, E> {
                match whole(bytes) {
                    Some(bytes) => self.visit_u64(bytes),
                    None => Err(E::invalid_value(Unexpected::Float(bytes), &self)),
                }
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                match text.parse::<ByteSize>() {
                    Ok(size) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                        self.visit_u64(size.as_u64())
                    }
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// The caps on an output: 1 KiB to 64 MiB.
pub(super) type OutputSize = Size<{ 1 << 10 }, { 64 << 20 }>;

/// The whole number that `1e9` is.
fn whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
    is_whole.then_some(number as u64)
}

/// `command`.
pub(super) enum CommandText {
    Line(String),
    List(Argv),
}

impl<'de> Deserialize<'de> for CommandText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = CommandText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string for the shell that is not empty, or a list of strings, the program first")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<CommandText, E> {
                if text.is_empty() {
                    return Err(E::invalid_value(Unexpected::Str(text), &self));
                }
                Ok(CommandText::Line(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<CommandText, A::Error> {
                argv(sequence)?
                    .map(CommandText::List)
                    .ok_or_else(|| A::Error::invalid_value(Unexpected::Seq, &self))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A program and its arguments.
pub(super) struct Argv {
    pub(super) program: String,
    pub(super) args: Vec<String>,
}

impl<'de> Deserialize<'de> for Argv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Argv;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of strings that begins with a program")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Argv, A::Error> {
                argv(sequence)?.ok_or_else(|| A::Error::invalid_value(Unexpected::Seq, &self))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

fn argv<'de, A: SeqAccess<'de>>(mut sequence: A) -> Result<Option<Argv>, A::Error> {
    let program = sequence.next_element::<String>()?;
    let mut args = Vec::new();
    while let Some(argument) = sequence.next_element()? {
        args.push(argument);
    }
    Ok(program
        .filter(|program| !program.is_empty())
        .map(|program| Argv { program, args }))
}

/// `events`. A text by itself is one name, for deepagents' sake.
pub(super) struct Events {
    pub(super) names: Vec<String>,
    pub(super) is_list: bool,
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Events;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of event names")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Events, E> {
                Ok(Events {
                    names: vec![name.to_owned()],
                    is_list: false,
                })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Events, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = sequence.next_element()? {
                    names.push(name);
                }
                Ok(Events {
                    names,
                    is_list: true,
                })
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// `sha256`.
#[derive(Clone, Copy)]
pub(super) struct Sha256(pub(super) [u8; 32]);

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Sha256;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("64 hexadecimal digits in a string, as `sha256sum` prints them")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Sha256, E> {
                let mut digest = [0; 32];
                match hex::decode_to_slice(text, &mut digest) {
                    Ok(()) => Ok(Sha256(digest)),
                    Err(_) => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

/// Any object.
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

/// Any value.
pub(super) struct Anything;

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// A string of a kind: what it must be, and which strings are of it.
macro_rules! string {
    ($(#[$doc:meta])* $name:ident, $expecting:literal, $accepts:expr) => {
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
    };
}

string!(
    /// `component`.
    ComponentText,
    "the path of a WebAssembly file, or `builtin:` and a name",
    |text| !text.is_empty() && !text.contains('\0') && text != "builtin:"
);

string!(
    /// `path` of a granted folder.
    PathText,
    "the path of a folder; it may begin with `${workspace}`, `${home}` or `~`",
    |text| {
        let rest = ["${workspace}", "${home}", "~"].iter().find_map(|start| text.strip_prefix(start));
        let starts_well = rest.map_or(!text.starts_with("${"), |rest| rest.is_empty() || rest.starts_with('/'));
        !text.is_empty() && !text.contains('\0') && starts_well
    }
);

string!(
    /// A name in `environment`.
    VariableName,
    "the name of a variable: not empty, and without `=`",
    |text| !text.is_empty() && !text.contains(['\0', '='])
);

string!(
    /// A pattern in `deny`.
    DenyPattern,
    "a pattern as in `.gitignore`, such as `*.pem` or `secrets/`; not empty, and without `!` or `..`",
    |text| deny::is_pattern(text)
);

string!(
    /// An entry of `permissions.network`.
    HostAndPort,
    "a host and its port, such as `api.example.com:443` or `127.0.0.1:8080`",
    |text| NetworkGrant::parse(text).is_some()
);

string!(
    /// An entry of `sandbox.network`.
    PortOfAnyHost,
    "`*:` and a port, such as `*:443`; the kernel knows ports, not hosts",
    |text| text.strip_prefix("*:").is_some_and(|port| port_number(port).is_some())
);

/// The schema of a type that is read by hand.
macro_rules! schema {
    ($($name:ident $(<$($parameter:ident),*>)? => $schema:tt;)*) => {$(
        impl $(<$(const $parameter: u64),*>)? JsonSchema for $name $(<$($parameter),*>)? {
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
    )*};
}

schema! {
    Seconds => {"type": "number", "exclusiveMinimum": 0, "maximum": 86_400};
    Count<LOW, HIGH> => {"type": "integer", "minimum": LOW, "maximum": HIGH};
    Size<LOW, HIGH> => {"anyOf": [
        {"type": "integer", "minimum": LOW, "maximum": HIGH},
        {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? *([kKmMgG][iI]?[bB]?|[bB])?$", "examples": ["64MiB"]}
    ]};
    CommandText => {"anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "items": {"type": "string"}, "minItems": 1}
    ]};
    Events => {"type": "array", "items": {"type": "string"}};
    Sha256 => {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"};
    AnyObject => {"type": "object"};
    ComponentText => {"type": "string", "minLength": 1, "examples": ["no-rm.wasm", "builtin:block-dangerous-commands"]};
    PathText => {"type": "string", "minLength": 1, "examples": ["${workspace}"]};
    DenyPattern => {"type": "string", "minLength": 1, "examples": ["*.pem", "secrets/"]};
    HostAndPort => {"type": "string", "pattern": "^[^/*@]+:[0-9]{1,5}$", "examples": ["api.example.com:443"]};
    PortOfAnyHost => {"type": "string", "pattern": "^[*]:[0-9]{1,5}$", "examples": ["*:443"]};
    VariableName => {"type": "string", "pattern": "^[^=]+$"};
}
