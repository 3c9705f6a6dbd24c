//! The answers behind the page: what its schema allows is answered, everything else is refused in one sentence.

mod questions;
mod requests;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use segue_explorer::Traces;
use serde_json::Value;
use std::time::Duration;
use tower::ServiceExt;

/// Status, headers as text, and content.
struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// One by line.
    fn lines(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.body).expect("text");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// As long as an answer takes on a busy machine.
const HOUR: Duration = Duration::from_secs(3600);

fn ask_with(path: &str, headers: &[(&str, &str)]) -> Answer {
    ask_within(HOUR, path, headers)
}

fn ask_within(longest: Duration, path: &str, headers: &[(&str, &str)]) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let request =
            headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
        let request = request.body(Body::empty()).expect("a request");
        let response =
            segue_explorer::router(longest, Traces::none()).oneshot(request).await.expect("infallible");
        let (status, headers) = (response.status().as_u16(), format!("{:?}", response.headers()));
        let body = to_bytes(response.into_body(), usize::MAX).await.expect("a body").to_vec();
        Answer { status, headers, body }
    })
}

fn ask(path: &str) -> Answer {
    ask_with(path, &[("host", "127.0.0.1:8080")])
}

/// Where the answers are; all of them take [`GOOD`].
const PATHS: [&str; 5] = ["/api/compare", "/api/trace", "/api/pcapng", "/view/compare", "/view/handoff"];
/// A question with an answer, as keys and words.
const GOOD: [(&str, &str); 4] = [("old", "wlan"), ("new", "hsdpa"), ("at", "5s"), ("schemes", "sack")];

fn query<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(words).finish()
}
