//! Reads values of a parsed file into types, and says exactly where and why that fails.
//!
//! This is a deserializer over the syntax tree, since everything that is told about a file needs
//! the place of a value. It is stricter than usual: a list is no struct, `null` is no absent value.
//! In a file of OpenHands, whose reader is lax, `null` is an absent value, and text and booleans
//! may be numbers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jsonc_parser::ast::{NumberLit, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error, IntoDeserializer as _, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::fault::{Fault, Step};

/// How many wrong values of one entry are told.
const MOST_FAULTS: usize = 20;

/// What reading a value came to.
pub(super) struct Read<T> {
    /// The value, without what is wrong in it; `None` if nothing can be made of the rest.
    pub(super) value: Option<T>,
    /// What is wrong.
    pub(super) faults: Vec<Fault>,
    /// Keys that no type knows, with their places and the keys that are known there.
    pub(super) unknown: BTreeMap<usize, UnknownKey>,
}

/// A key that no type knows.
pub(super) struct UnknownKey {
    pub(super) range: Range<usize>,
    pub(super) name: String,
    pub(super) known: &'static [&'static str],
}

/// Reads an object. Its members named in `without` count as absent.
pub(super) fn read<'t, T: Deserialize<'t>>(
    object: &Object<'t>,
    lax: bool,
    without: &[&str],
) -> Read<T> {
    let reading = Reading {
        lax,
        skipped: RefCell::default(),
        unknown: RefCell::default(),
    };
    reading.skipped.borrow_mut().extend(
        members(object)
            .filter(|it| without.contains(&it.name.as_str()))
            .map(|it| it.value.start()),
    );
    let mut faults: Vec<Fault> = Vec::new();
    let mut value = None;
    while faults.len() < MOST_FAULTS {
        match T::deserialize(Struct {
            object,
            reading: &reading,
        }) {
            Ok(read) => {
                value = Some(read);
                break;
            }
            Err(fault) => {
                // Read again as if the wrong value were absent: there may be more to tell. What is
                // missing only because of that is no news.
                let range = fault.range.clone();
                let is_news = !faults
                    .iter()
                    .any(|it| range.start <= it.range.start && it.range.end <= range.end);
                let again = reading.skipped.borrow_mut().insert(range.start);
                if is_news {
                    faults.push(fault);
                }
                if !again || range.start == object.range.start {
                    break;
                }
            }
        }
    }
    Read {
        value,
        faults,
        unknown: reading.unknown.into_inner(),
    }
}

/// The members of an object; of duplicates the last, as every agent's parser has it.
pub(super) fn members<'v, 't>(object: &'v Object<'t>) -> impl Iterator<Item = &'v ObjectProp<'t>> {
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, property) in object.properties.iter().enumerate() {
        last.insert(property.name.as_str(), index);
    }
    let mut indices: Vec<usize> = last.into_values().collect();
    indices.sort_unstable();
    indices.into_iter().map(|index| &object.properties[index])
}

/// The member of this name.
pub(super) fn member<'v, 't>(object: &'v Object<'t>, name: &str) -> Option<&'v ObjectProp<'t>> {
    object
        .properties
        .iter()
        .rev()
        .find(|property| property.name.as_str() == name)
}

/// Where a value is.
pub(super) fn range(value: &Value<'_>) -> Range<usize> {
    value.start()..value.end()
}

struct Reading {
    lax: bool,
    /// Where the values begin that count as absent.
    skipped: RefCell<BTreeSet<usize>>,
    unknown: RefCell<BTreeMap<usize, UnknownKey>>,
}

impl Reading {
    fn skips(&self, value: &Value<'_>) -> bool {
        self.skipped.borrow().contains(&value.start())
    }
}

/// The outermost object.
struct Struct<'r, 't> {
    object: &'r Object<'t>,
    reading: &'r Reading,
}

impl<'de> Deserializer<'de> for Struct<'_, '_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor
            .visit_map(Members::new(self.object, Some(fields), self.reading))
            .map_err(|mut fault| {
                if fault.found.is_none() {
                    fault.range = self.object.range.start..self.object.range.end;
                }
                fault
            })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// A value within.
#[derive(Clone, Copy)]
struct At<'r, 't> {
    value: &'r Value<'t>,
    reading: &'r Reading,
}

impl At<'_, '_> {
    /// The number that a lax reader sees in a text or a boolean.
    fn lax_number(self) -> Option<f64> {
        match self.value {
            Value::StringLit(text) if self.reading.lax => text
                .value
                .trim()
                .parse()
                .ok()
                .filter(|it: &f64| it.is_finite()),
            Value::BooleanLit(boolean) if self.reading.lax => {
                Some(f64::from(u8::from(boolean.value)))
            }
            _ => None,
        }
    }

    /// The boolean that a lax reader sees in a text or a number.
    fn lax_boolean(self) -> Option<bool> {
        let word = match self.value {
            Value::StringLit(text) if self.reading.lax => text.value.to_ascii_lowercase(),
            Value::NumberLit(number) if self.reading.lax => number.value.to_owned(),
            _ => return None,
        };
        match word.as_str() {
            "true" | "yes" | "on" | "t" | "y" | "1" | "1.0" => Some(true),
            "false" | "no" | "off" | "f" | "n" | "0" | "0.0" => Some(false),
            _ => None,
        }
    }
}

impl<'de> Deserializer<'de> for At<'_, '_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let result = match self.value {
            Value::StringLit(text) => visitor.visit_str(&text.value),
            Value::NumberLit(number) => visit_number(number, visitor),
            Value::BooleanLit(boolean) => visitor.visit_bool(boolean.value),
            Value::Object(object) => visitor.visit_map(Members::new(object, None, self.reading)),
            Value::Array(array) => visitor.visit_seq(Elements {
                values: array.elements.iter(),
                index: 0,
                reading: self.reading,
            }),
            Value::NullKeyword(_) => visitor.visit_unit(),
        };
        result.map_err(|fault| fault.at(self.value))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let result = match self.value {
            Value::Object(object) => {
                visitor.visit_map(Members::new(object, Some(fields), self.reading))
            }
            _ => Err(Fault::invalid_type(Unexpected::Other(""), &visitor)),
        };
        result.map_err(|fault| fault.at(self.value))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let result = match self.value {
            Value::StringLit(text) => {
                let word: StrDeserializer<'_, Fault> = text.value.as_ref().into_deserializer();
                visitor.visit_enum(word)
            }
            _ => Err(Fault::unknown_variant("", variants)),
        };
        result.map_err(|fault| fault.at(self.value))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value {
            Value::NullKeyword(_) if self.reading.lax => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.lax_number() {
            Some(number) => visitor
                .visit_f64(number)
                .map_err(|fault: Fault| fault.at(self.value)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.lax_boolean() {
            Some(boolean) => visitor.visit_bool(boolean),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

fn visit_number<'de, V: Visitor<'de>>(
    number: &NumberLit<'_>,
    visitor: V,
) -> Result<V::Value, Fault> {
    if let Ok(number) = number.value.parse() {
        visitor.visit_u64(number)
    } else if let Ok(number) = number.value.parse() {
        visitor.visit_i64(number)
    } else {
        // Too large for any type is infinite, which no range holds.
        visitor.visit_f64(number.value.parse().unwrap_or(f64::NAN))
    }
}

struct Members<'r, 't> {
    properties: std::vec::IntoIter<&'r ObjectProp<'t>>,
    next: Option<&'r ObjectProp<'t>>,
    reading: &'r Reading,
}

impl<'r, 't> Members<'r, 't> {
    fn new(
        object: &'r Object<'t>,
        known: Option<&'static [&'static str]>,
        reading: &'r Reading,
    ) -> Self {
        let mut properties: Vec<&ObjectProp<'_>> = members(object)
            .filter(|it| !reading.skips(&it.value))
            .collect();
        if let Some(known) = known {
            properties.retain(|property| {
                let name = property.name.as_str();
                let is_known = known.contains(&name);
                if !is_known {
                    let range = property.name.start()..property.name.end();
                    let name = name.to_owned();
                    reading
                        .unknown
                        .borrow_mut()
                        .insert(range.start, UnknownKey { range, name, known });
                }
                is_known
            });
        }
        Self {
            properties: properties.into_iter(),
            next: None,
            reading,
        }
    }
}

impl<'de> MapAccess<'de> for Members<'_, '_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        self.next = self.properties.next();
        let Some(property) = self.next else {
            return Ok(None);
        };
        let name: StrDeserializer<'_, Fault> = property.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        let Some(property) = self.next else {
            return Err(Fault::custom("there is no value"));
        };
        seed.deserialize(At {
            value: &property.value,
            reading: self.reading,
        })
        .map_err(|fault| fault.inside(Step::Key(property.name.as_str().to_owned())))
    }
}

struct Elements<'r, 't> {
    values: std::slice::Iter<'r, Value<'t>>,
    index: usize,
    reading: &'r Reading,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Fault;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Fault> {
        for value in self.values.by_ref() {
            let index = self.index;
            self.index += 1;
            if !self.reading.skips(value) {
                let element = seed.deserialize(At {
                    value,
                    reading: self.reading,
                });
                return element
                    .map(Some)
                    .map_err(|fault| fault.inside(Step::Index(index)));
            }
        }
        Ok(None)
    }
}
