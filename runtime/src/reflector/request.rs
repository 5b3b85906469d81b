//! Turns the machine's requests into HTTP requests.

use http::header::{ACCEPT, ACCEPT_ENCODING};
use kube::client::Body;

use super::machine::Request;
use super::options::Settings;
use crate::client::transport::FromReflector;

/// Builds the HTTP request. It takes the selectors from `params`; the limit is the machine's page size.
///
/// kube's builder omits `resourceVersion=0` from paged lists and cannot request a streaming list at a version, so
/// this module writes the query itself.
pub(super) fn http_request(
    path: &str,
    settings: &Settings,
    request: &Request,
) -> Result<http::Request<Body>, http::Error> {
    let params = &settings.params;
    let mut query = Query(String::new());
    query.push_some("labelSelector", params.label_selector.as_deref());
    query.push_some("fieldSelector", params.field_selector.as_deref());
    query.push_some("shardSelector", settings.shards.as_ref().map(ToString::to_string));
    let list = match request {
        Request::List { version, limit, continue_token, .. } => {
            if let Some(limit) = limit {
                query.push("limit", &limit.to_string());
            }
            match continue_token {
                // The token contains a version; the server refuses both together.
                Some(token) => query.push("continue", token),
                None => query.push_some("resourceVersion", Some(version).filter(|v| !v.is_empty())),
            }
            true
        }
        Request::Watch { version, initial_events, timeout } => {
            query.push("watch", "true");
            query.push("allowWatchBookmarks", "true");
            query.push("timeoutSeconds", &timeout.as_secs().to_string());
            query.push_some("resourceVersion", Some(version).filter(|v| !v.is_empty()));
            if *initial_events {
                query.push("sendInitialEvents", "true");
                query.push("resourceVersionMatch", "NotOlderThan");
            }
            false
        }
    };
    let mut builder = http::Request::get(format!("{path}?{}", query.0))
        .header(ACCEPT, accept(settings.metadata_only, list));
    if !list {
        // Servers compress a watch event by event, and the decoder of a client made by kube reads only the first
        // event. Our own transport sets this header itself.
        builder = builder.header(ACCEPT_ENCODING, "identity");
    }
    builder.extension(FromReflector).body(Body::empty())
}

fn accept(metadata_only: bool, list: bool) -> &'static str {
    match (metadata_only, list) {
        (false, _) => "application/json",
        (true, true) => "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        (true, false) => "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    }
}

struct Query(String);

impl Query {
    fn push_some(&mut self, name: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.push(name, value.as_ref());
        }
    }

    /// Names are literals of this module, so they need no escaping.
    fn push(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.push_str(name);
        self.0.push('=');
        for byte in value.bytes() {
            // RFC 3986's unreserved characters.
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                self.0.push(char::from(byte));
            } else {
                self.0.push('%');
                self.0.push(hex(byte >> 4));
                self.0.push(hex(byte & 15));
            }
        }
    }
}

fn hex(digit: u8) -> char {
    char::from(b"0123456789ABCDEF"[usize::from(digit & 15)])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::api::ListParams;
    use kubesmith_apimachinery::sharding::{ShardKey, ShardSelector};

    use super::*;

    fn settings(params: &ListParams, metadata_only: bool) -> Settings {
        let resource = "pods".to_owned();
        let (shards, streaming_lists, error_hook, seed) = (None, true, None, None);
        Settings {
            resource,
            metadata_only,
            params: params.clone(),
            shards,
            streaming_lists,
            error_hook,
            seed,
        }
    }

    fn uri(params: &ListParams, request: &Request) -> String {
        http_request("/api/v1/pods", &settings(params, false), request).unwrap().uri().to_string()
    }

    #[test]
    fn queries_match_the_servers_syntax() {
        let params = ListParams::default().labels("a in (b, c)").fields("metadata.name=é");
        let list =
            Request::List { version: "0".to_owned(), limit: Some(500), continue_token: None, again: false };
        assert_eq!(
            uri(&params, &list),
            "/api/v1/pods?labelSelector=a%20in%20%28b%2C%20c%29&fieldSelector=metadata.name%3D%C3%A9&limit=500&resourceVersion=0"
        );
        let page = Request::List {
            version: "0".to_owned(),
            limit: Some(500),
            continue_token: Some("t=".to_owned()),
            again: false,
        };
        assert_eq!(uri(&ListParams::default(), &page), "/api/v1/pods?limit=500&continue=t%3D");
        let stream = Request::Watch {
            version: String::new(),
            initial_events: true,
            timeout: Duration::from_secs(300),
        };
        assert_eq!(
            uri(&ListParams::default(), &stream),
            "/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        );
    }

    #[test]
    fn lists_and_watches_have_the_shard_selector() {
        let watch = Request::Watch {
            version: "1".to_owned(),
            initial_events: false,
            timeout: Duration::from_secs(300),
        };
        let list = Request::List { version: "0".to_owned(), limit: None, continue_token: None, again: false };
        let mut settings = settings(&ListParams::default(), false);
        settings.shards = ShardSelector::nth(ShardKey::Uid, 0, 2);
        for request in [watch, list] {
            let request = http_request("/api/v1/pods", &settings, &request).unwrap();
            let selector = "shardSelector=shardRange%28object.metadata.uid%2C%20%270x0000000000000000%27%2C%20%270x8000000000000000%27%29";
            assert!(request.uri().query().unwrap().contains(selector), "{}", request.uri());
        }
    }

    #[test]
    fn metadata_only_types_request_metadata() {
        let watch = Request::Watch {
            version: "1".to_owned(),
            initial_events: false,
            timeout: Duration::from_secs(300),
        };
        let settings = settings(&ListParams::default(), true);
        let request = http_request("/api/v1/pods", &settings, &watch).unwrap();
        assert_eq!(request.headers()[ACCEPT], "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
    }
}
