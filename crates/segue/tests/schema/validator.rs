//! The words of JSON Schema (draft 2020-12) that our schemas use. Another word is a panic, so that no rule is passed
//! over. The usual validators bring some 35 crates for their patterns, addresses and references, which we have not.

use serde_json::Value;

/// Holds a value against a schema; the error says where it is something else, and why.
pub fn validate(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        keyword(schema, word, rule, value).map_err(|why| format!("{place}: {why}"))?;
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return items(schema, value, place);
    };
    let Some(fields) = value.as_object() else { return Ok(()) };
    fields.iter().try_for_each(|(name, value)| {
        match (properties.get(name), schema.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema @ Value::Object(_))) => {
                validate(schema, value, &format!("{place}.{name}"))
            }
            (None, Some(Value::Bool(false))) => Err(format!("{place}: no field `{name}`")),
            (None, _) => Ok(()),
        }
    })
}

/// Values without names of their own in the schema: items of lists, and of objects that have any names.
fn items(schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    if let (Some(schema), Some(list)) = (schema.get("items"), value.as_array()) {
        list.iter().enumerate().try_for_each(|(n, item)| validate(schema, item, &format!("{place}[{n}]")))?;
    }
    match (schema.get("additionalProperties"), value.as_object()) {
        (Some(schema @ Value::Object(_)), Some(fields)) => {
            fields.iter().try_for_each(|(name, value)| validate(schema, value, &format!("{place}.{name}")))
        }
        _ => Ok(()),
    }
}

/// One word of a schema, but for those of fields and items.
fn keyword(schema: &Value, word: &str, rule: &Value, value: &Value) -> Result<(), String> {
    // Short, because most of what `oneOf` tries does not hold.
    let told = |holds: bool| if holds { Ok(()) } else { Err(format!("against `{word}`")) };
    let length = || value.as_array().map(Vec::len);
    match word {
        "$schema" | "title" | "description" => told(rule.is_string()),
        "properties" | "additionalProperties" | "items" => Ok(()),
        "type" => match rule {
            Value::Array(types) => told(types.iter().any(|of| is_of(value, of))),
            of => told(is_of(value, of)),
        },
        "const" => told(value == rule),
        "enum" => told(rule.as_array().expect("a list").contains(value)),
        "minimum" => told(value.as_f64().is_none_or(|number| number >= rule.as_f64().expect("a number"))),
        "minItems" => told(length().is_none_or(|length| length as u64 >= rule.as_u64().expect("a number"))),
        "maxItems" => told(length().is_none_or(|length| length as u64 <= rule.as_u64().expect("a number"))),
        "required" => {
            let names = rule.as_array().expect("a list").iter().map(|name| name.as_str().expect("a name"));
            let missing: Vec<&str> =
                names.filter(|name| value.is_object() && value.get(*name).is_none()).collect();
            told(missing.is_empty()).map_err(|_| format!("without {missing:?}"))
        }
        "oneOf" => {
            let schemas = rule.as_array().expect("a list");
            let fits = schemas.iter().filter(|schema| validate(schema, value, "").is_ok()).count();
            told(fits == 1).map_err(|_| format!("{value} is {fits} of these, not one"))
        }
        other => panic!("{other} in {schema}: a word that this validator does not know"),
    }
}

fn is_of(value: &Value, of: &Value) -> bool {
    match of.as_str().expect("the name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("{other}: no type"),
    }
}
