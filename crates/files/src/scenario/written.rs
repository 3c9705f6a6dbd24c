//! Values of a scenario file that may be written in more than one way. Each keeps its place in the file, so that what
//! is wrong with it can be pointed at. serde's own untagged enums would lose the place and the reason.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use toml::Spanned;

/// One value, or a list of them.
#[derive(Clone, Debug)]
pub struct Several<T> {
    /// The values, each with its place in the file.
    pub values: Vec<Spanned<T>>,
    /// The place of the whole.
    pub span: Range<usize>,
}

impl<T> Several<T> {
    /// Values that no file has.
    pub fn unwritten(values: impl IntoIterator<Item = T>) -> Self {
        Self { values: values.into_iter().map(|value| Spanned::new(0..0, value)).collect(), span: 0..0 }
    }

    /// The values without their places.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(Spanned::get_ref)
    }
}

enum OneOrMany<T> {
    One(T),
    Many(Vec<Spanned<T>>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let whole = Spanned::<OneOrMany<T>>::deserialize(deserializer)?;
        let span = whole.span();
        let values = match whole.into_inner() {
            OneOrMany::One(value) => vec![Spanned::new(span.clone(), value)],
            OneOrMany::Many(values) => values,
        };
        Ok(Self { values, span })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value or a list of values")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        T::deserialize(word.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        T::deserialize(number.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        T::deserialize(number.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        T::deserialize(number.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_bool<E: Error>(self, word: bool) -> Result<Self::Value, E> {
        T::deserialize(word.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(OneOrMany::Many(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMany::One)
    }
}

impl<T: JsonSchema> JsonSchema for Several<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Several_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}

/// Links that one side of a handoff may have: a link as on the command line, or every combination of rates and
/// delays.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum LinkWords {
    /// `RATE/DELAY`, a preset, or a measured `trace:`, whose paths start from the folder of the file.
    Written(String),
    /// Every combination of rates and delays.
    Grid(Grid),
}

/// Every combination of rates and delays; the delays vary fastest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Rates such as `6400kbit`; on the new side also `same`, the rate of the old link.
    pub rate: Several<String>,
    /// One-way delays such as `9ms`; on the new side also `same`, the delay of the old link.
    pub delay: Several<String>,
}

impl<'de> Deserialize<'de> for LinkWords {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinkVisitor)
    }
}

struct LinkVisitor;

impl<'de> Visitor<'de> for LinkVisitor {
    type Value = LinkWords;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a link such as \"6400kbit/9ms\", or { rate = [...], delay = [...] }")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        Ok(LinkWords::Written(word.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Grid::deserialize(MapAccessDeserializer::new(map)).map(LinkWords::Grid)
    }
}

/// The value of a setting, as `--set` takes it; a number and true or false need no quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingWord(pub String);

impl<'de> Deserialize<'de> for SettingWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}

struct SettingVisitor;

impl Visitor<'_> for SettingVisitor {
    type Value = SettingWord;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a word, a number, true or false")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        Ok(SettingWord(word.to_string()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(SettingWord(number.to_string()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(SettingWord(number.to_string()))
    }

    fn visit_bool<E: Error>(self, word: bool) -> Result<Self::Value, E> {
        Ok(SettingWord(if word { "on" } else { "off" }.to_string()))
    }
}

impl JsonSchema for SettingWord {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SettingWord".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"] })
    }
}
