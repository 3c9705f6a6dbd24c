//! Why there is no answer, in one sentence.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A status and a sentence: what was wrong, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Refusal {
    /// 400 for a bad question, 403 for a stranger, 503 where there is too much to do, 500 for a fault of ours.
    pub status: StatusCode,
    /// One line.
    pub sentence: String,
}

impl Refusal {
    /// A bad question, whose words may stand in the sentence: it stays one line.
    pub fn bad(sentence: String) -> Self {
        let mut line = String::new();
        for c in sentence.chars() {
            match c {
                c if c.is_control() => line.extend(c.escape_unicode()),
                c => line.push(c),
            }
        }
        Self { status: StatusCode::BAD_REQUEST, sentence: line }
    }

    /// Too much to do.
    pub fn busy(sentence: &str) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, sentence: sentence.into() }
    }

    /// A request that no page of ours makes.
    pub fn stranger(sentence: &str) -> Self {
        Self { status: StatusCode::FORBIDDEN, sentence: sentence.into() }
    }

    /// The sentence for a program.
    pub fn json(&self) -> String {
        json!({ "error": self.sentence }).to_string()
    }

    /// Our fault.
    pub fn ours(problem: impl std::fmt::Display) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            sentence: format!("the explorer failed: {problem}"),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, [(CONTENT_TYPE, "application/json")], self.json()).into_response()
    }
}

/// A word of somebody else's, printable, not endless.
pub fn quoted(word: &str) -> String {
    let mut short: String = word.chars().take(60).flat_map(char::escape_debug).collect();
    if word.chars().nth(60).is_some() {
        short.push_str("...");
    }
    format!("`{short}`")
}
