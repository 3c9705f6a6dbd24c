//! Words that stand for a choice, those of columns and of [`segue_study::presentation`] in the JSON schema.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use segue_study::measure::Column;
use segue_study::presentation::Scale;
use segue_words::Choice;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// One of several words, each with its meaning.
fn one_of<'a>(about: &str, words: impl Iterator<Item = (&'a str, String)>) -> Schema {
    let word = |(word, meaning)| json!({"description": meaning, "type": "string", "const": word});
    let words: Vec<Value> = words.map(word).collect();
    json_schema!({"description": about, "oneOf": words})
}

/// One of the words of `T`.
pub struct OneOf<T>(PhantomData<T>);

impl<T: Choice> JsonSchema for OneOf<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        one_of(T::ABOUT, T::ALL.iter().map(|choice| (choice.word(), choice.meaning().to_string())))
    }
}

/// A number from 1 on, or a text that begins with one: `3` or `"3 cubic"`.
pub struct CountWord;

impl JsonSchema for CountWord {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "minimum": 1 })
    }
}

/// [`Column`].
pub(super) struct ColumnWord;

impl JsonSchema for ColumnWord {
    fn schema_name() -> Cow<'static, str> {
        "Column".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = Column::ALL.iter().map(|column| (column.word(), column.meaning("the first scheme")));
        one_of("Columns of the table; `segue measures` defines them.", words)
    }
}

/// [`Scale`].
pub(super) struct ScaleWord;

impl JsonSchema for ScaleWord {
    fn schema_name() -> Cow<'static, str> {
        "Scale".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = Scale::WORDS.into_iter().map(|(word, meaning)| (word, meaning.to_string()));
        one_of("How numbers lie on an axis.", words)
    }
}
