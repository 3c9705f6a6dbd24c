//! Checks of a request's origin, and the security headers of answers.

use crate::refusal::{Refusal, quoted};
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Nothing from elsewhere. Pictures colour their marks by style attributes; the icon is an empty data: address.
const POLICY: &str = "default-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; object-src 'none'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

/// Lets in requests that were meant for this machine, and sets the headers.
pub async fn guard(request: Request, next: Next) -> Response {
    let mut response = match refused(&request) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A name that somebody else owns may be made to lead here (DNS rebinding): only addresses and localhost are known. A
/// page from elsewhere may link here, but not ask.
fn refused(request: &Request) -> Option<Refusal> {
    let headers = request.headers();
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    // RFC 9112, 3.2: one, or it is a bad request.
    let hosts = headers.get_all(HOST).iter().count();
    if hosts > 1 {
        return Some(Refusal::bad(format!("{hosts} headers `Host`; expected one")));
    }
    let host = headers.get(HOST).map(text).unwrap_or_default();
    if !is_own(&host) {
        return Some(Refusal::stranger(&format!(
            "unknown host {}; expected localhost or an IP address",
            quoted(&host)
        )));
    }
    let elsewhere = headers.get_all("sec-fetch-site").iter().map(text).any(|site| {
        // Another port of this machine is the same site, and no page of ours.
        !["same-origin", "none"].contains(&&*site)
    });
    // Browsers without Sec-Fetch-Site name the page that asks in Origin (RFC 6454), if it is not of this server.
    let foreign =
        headers.get_all(ORIGIN).iter().map(text).any(|origin| {
            origin.split_once("://").is_none_or(|(_, place)| !place.eq_ignore_ascii_case(&host))
        });
    let asks = request.uri().path() != "/";
    (asks && (elsewhere || foreign))
        .then(|| Refusal::stranger("another site asks; expected the explorer's own page or a program"))
}

/// `localhost` or an address, with a port or without.
fn is_own(host: &str) -> bool {
    let without_port = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) if port.is_empty() || port.starts_with(':') => address,
            _ => return false,
        },
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    without_port.eq_ignore_ascii_case("localhost") || without_port.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in ["localhost:8080", "LOCALHOST", "127.0.0.1:1", "192.168.1.7:8080", "[::1]:8080", "[::1]"]
        {
            assert!(is_own(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:80",
            "127.0.0.1.evil.example",
            "[::1",
            "[::1]x",
            "x@127.0.0.1",
        ] {
            assert!(!is_own(host), "{host}");
        }
    }
}
