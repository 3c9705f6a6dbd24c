//! The words of [`segue_study::presentation`] in the JSON schema.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use segue_study::presentation::{Column, Scale};
use serde_json::{Value, json};
use std::borrow::Cow;

/// One of several words, each with its meaning.
fn one_of(about: &str, words: &[(&str, &str)]) -> Schema {
    let word = |(word, meaning): &(&str, &str)| json!({"description": meaning.trim(), "type": "string", "const": word});
    let words: Vec<Value> = words.iter().map(word).collect();
    json_schema!({"description": about, "oneOf": words})
}

/// [`Column`].
pub(super) struct ColumnWord;

impl JsonSchema for ColumnWord {
    fn schema_name() -> Cow<'static, str> {
        "Column".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        one_of("Columns of the table.", Column::WORDS)
    }
}

/// [`Scale`].
pub(super) struct ScaleWord;

impl JsonSchema for ScaleWord {
    fn schema_name() -> Cow<'static, str> {
        "Scale".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        one_of("How numbers lie on an axis.", Scale::WORDS)
    }
}
