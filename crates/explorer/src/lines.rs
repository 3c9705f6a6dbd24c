//! Answers that come a line at a time.

use crate::work::Parts;
use axum::body::Body;
use bytes::Bytes;
use http_body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The content: each part is a line. A refusal is a line, too, as the status has been sent before.
pub fn body(first: String, rest: Parts) -> Body {
    Body::new(Lines { first: Some(first), rest })
}

struct Lines {
    first: Option<String>,
    rest: Parts,
}

impl http_body::Body for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => std::task::ready!(self.rest.poll_next(context))
                .map(|part| part.unwrap_or_else(|refusal| refusal.json())),
        };
        Poll::Ready(next.map(|line| Ok(Frame::data(Bytes::from(line + "\n")))))
    }
}
