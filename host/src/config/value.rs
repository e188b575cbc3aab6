//! The single values of an entry, each with its range and with what it expects.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytesize::ByteSize;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// `timeout`: seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Seconds(pub(super) Duration);

/// The longest timeout, in seconds: a day.
const LONGEST: f64 = 86_400.0;

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Seconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds, greater than 0 and at most 86400")
            }

            fn visit_f64<E: Error>(self, seconds: f64) -> Result<Seconds, E> {
                if seconds > 0.0 && seconds <= LONGEST {
                    Ok(Seconds(Duration::from_secs_f64(seconds)))
                } else {
                    Err(E::invalid_value(Unexpected::Float(seconds), &self))
                }
            }

            fn visit_u64<E: Error>(self, seconds: u64) -> Result<Seconds, E> {
                if (1..=LONGEST as u64).contains(&seconds) {
                    Ok(Seconds(Duration::from_secs(seconds)))
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(seconds), &self))
                }
            }

            fn visit_i64<E: Error>(self, seconds: i64) -> Result<Seconds, E> {
                Err(E::invalid_value(Unexpected::Signed(seconds), &self))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Seconds {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "exclusiveMinimum": 0, "maximum": 86_400})
    }
}

/// A number of bytes from `LOW` to `HIGH`: an integer, or text such as `"64MiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size<const LOW: u64, const HIGH: u64>(pub(super) u64);

impl<'de, const LOW: u64, const HIGH: u64> Deserialize<'de> for Size<LOW, HIGH> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<const LOW: u64, const HIGH: u64>;
        impl<const LOW: u64, const HIGH: u64> Visitor<'_> for Reader<LOW, HIGH> {
            type Value = Size<LOW, HIGH>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let shown = |bytes| ByteSize::b(bytes).display().iec().to_string();
                write!(f, "a size from {} to {}, as a number of bytes or as text such as \"64MiB\"", shown(LOW), shown(HIGH))
            }

            fn visit_u64<E: Error>(self, bytes: u64) -> Result<Self::Value, E> {
                if (LOW..=HIGH).contains(&bytes) {
                    Ok(Size(bytes))
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(bytes), &self))
                }
            }

            fn visit_i64<E: Error>(self, bytes: i64) -> Result<Self::Value, E> {
                Err(E::invalid_value(Unexpected::Signed(bytes), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                match text.parse::<ByteSize>() {
                    Ok(size) if (LOW..=HIGH).contains(&size.as_u64()) => Ok(Size(size.as_u64())),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<const LOW: u64, const HIGH: u64> JsonSchema for Size<LOW, HIGH> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [
            {"type": "integer", "minimum": LOW, "maximum": HIGH},
            {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? ?([kKMGT]i?B?|B)?$", "examples": ["64MiB"]}
        ]})
    }
}

/// `limits.fuel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fuel(pub(super) u64);

const MOST_FUEL: u64 = 1_000_000_000_000_000;

impl<'de> Deserialize<'de> for Fuel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Fuel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number from 1 to 1000000000000000")
            }

            fn visit_u64<E: Error>(self, fuel: u64) -> Result<Fuel, E> {
                if (1..=MOST_FUEL).contains(&fuel) {
                    Ok(Fuel(fuel))
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(fuel), &self))
                }
            }

            fn visit_i64<E: Error>(self, fuel: i64) -> Result<Fuel, E> {
                Err(E::invalid_value(Unexpected::Signed(fuel), &self))
            }

            fn visit_f64<E: Error>(self, fuel: f64) -> Result<Fuel, E> {
                Err(E::invalid_value(Unexpected::Float(fuel), &self))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl JsonSchema for Fuel {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fuel".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": MOST_FUEL})
    }
}

/// `sha256`: 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sha256(pub(super) [u8; 32]);

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Sha256;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a SHA-256 digest of 64 hexadecimal digits, as `sha256sum` prints it")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Sha256, E> {
                let mut digest = [0; 32];
                hex::decode_to_slice(text, &mut digest)
                    .map(|()| Sha256(digest))
                    .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

impl JsonSchema for Sha256 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sha256".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9a-fA-F]{64}$"})
    }
}
