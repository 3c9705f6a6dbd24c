//! Answers of megabytes: so many at once, until their clients have read them.

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// How many, of some 40 MB at most.
const MOST: usize = 8;
/// Octets that are given to a connection at a time.
const PART: usize = 64 << 10;

/// Those for large answers.
pub struct LargeAnswers(Arc<Semaphore>);

/// One of them, taken before the answer is computed.
pub struct Permit {
    _held: OwnedSemaphorePermit,
}

impl LargeAnswers {
    /// All free.
    pub fn new() -> Self {
        Self(Arc::new(Semaphore::new(MOST)))
    }

    /// Waits for one.
    pub async fn permit(&self) -> Result<Permit, AcquireError> {
        Ok(Permit { _held: self.0.clone().acquire_owned().await? })
    }
}

impl Permit {
    /// The answer's content, which keeps the permit until all of it has been taken, or nobody wants it.
    pub fn body(self, content: impl Into<Bytes>) -> Body {
        Body::new(Content { rest: content.into(), _permit: self })
    }
}

struct Content {
    rest: Bytes,
    _permit: Permit,
}

impl http_body::Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = PART.min(self.rest.len());
        Poll::Ready((part > 0).then(|| Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
