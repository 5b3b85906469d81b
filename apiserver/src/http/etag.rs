//! Entity tags: a client that sends its content's tag gets 304 if nothing changed.

use std::fmt::Write as _;

use ::http::HeaderMap;
use ::http::header::{ETAG, IF_NONE_MATCH};

use super::reply::Reply;

/// Returns the tag of content, as kube-openapi and discovery compute it: its SHA-512 in capital hexadecimal digits.
pub(crate) fn of(content: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA512, content);
    digest.as_ref().iter().fold(String::with_capacity(128), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// Returns the reply with its tag, without content if the client has it (`checkIfNoneMatch` of Go's net/http).
pub(crate) fn tagged(headers: &HeaderMap, tag: &str, reply: impl FnOnce() -> Reply) -> Reply {
    let quoted = format!("\"{tag}\"");
    let known = headers.get_all(IF_NONE_MATCH).into_iter().filter_map(|header| header.to_str().ok());
    let is_known = known
        .flat_map(|header| header.split(','))
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == "*" || tag == quoted);
    let reply = if is_known { Reply::empty(304) } else { reply() };
    reply.with_header(ETAG, &quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_content_is_not_sent_again() {
        let code = |known: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, known.parse().unwrap());
            let response = tagged(&headers, "A1", || Reply::text(200, "content")).into_response();
            assert_eq!(response.headers()[ETAG], "\"A1\"");
            response.status().as_u16()
        };
        assert_eq!(["\"A1\"", "\"B\", W/\"A1\"", "*"].map(code), [304; 3]);
        assert_eq!(["\"A2\"", "A1"].map(code), [200; 2]);
        assert!(of(b"").starts_with("CF83E1357EEFB8BD"));
    }
}
