//! GET of collections, in pages.

use std::sync::Arc;

use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use base64::{Engine as _, alphabet};
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value, json};

use super::encoded_list;
use super::read::{self, parse_version};
use super::selectors::Selectors;
use crate::conversion::{self, Served};
use crate::http::list_options::ListOptions;
use crate::http::negotiate::{Form, Shape};
use crate::http::reply::Reply;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};
use crate::store::{Object, Snapshot, SnapshotError};
use crate::table;

/// The message when a page's version has expired: the rest is listed at the current version.
const INCONSISTENT: &str = "The provided continue parameter is too old to display a consistent list result. You can start a \
new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or \
deleted between the time the first chunk was returned and now may show up in the list.";

/// Go's decoder ignores the trailing bits.
const TOKENS: GeneralPurpose =
    GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

/// A continue token: the version of the first page, and the start of the next page (`pkg/storage/continue.go`).
#[derive(Clone, Debug)]
struct Token {
    /// `None` is the version at the time of the request.
    rv: Option<u64>,
    /// The key behind the prefix of the list, so that tokens fit lists of one namespace in any of them.
    start: String,
}

impl Token {
    fn encode(&self) -> String {
        let rv = self.rv.map_or_else(|| json!(-1), Value::from);
        TOKENS.encode(json!({"v": "meta.k8s.io/v1", "rv": rv, "start": self.start}).to_string())
    }

    fn decode(text: &str) -> ApiResult<Self> {
        let bad = |why: String| {
            ApiError::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        if let Some(at) = corrupt_at(text) {
            return Err(bad(format!("illegal base64 data at input byte {at}")));
        }
        let bytes = TOKENS.decode(text.replace(['\r', '\n'], "")).map_err(|e| bad(e.to_string()))?;
        if let Some(error) = golang::json_error(&bytes) {
            return Err(bad(error));
        }
        let value: Value = serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
        let version = value["v"].as_str().unwrap_or_default();
        if version != "meta.k8s.io/v1" {
            return Err(bad(format!("server does not recognize this encoded version {version}")));
        }
        let rv = match value["rv"].as_i64() {
            None | Some(0) => {
                return Err(bad(
                    "incorrect encoded start resourceVersion (version meta.k8s.io/v1)".to_owned()
                ));
            }
            Some(rv) => u64::try_from(rv).ok(),
        };
        match value["start"].as_str().unwrap_or_default() {
            "" => Err(bad("encoded start key empty (version meta.k8s.io/v1)".to_owned())),
            start if !is_clean(start) => Err(bad(start.to_owned())),
            start => Ok(Self { rv, start: start.to_owned() }),
        }
    }
}

/// Returns the key behind the prefix of a list.
fn within<'k>(key: &'k str, prefix: &str) -> &'k str {
    key.strip_prefix(prefix).unwrap_or(key)
}

/// Reports whether `path.Clean` of Go leaves a key as it is, with a slash before it.
fn is_clean(start: &str) -> bool {
    let parts = start.strip_prefix('/').unwrap_or(start);
    parts.is_empty() || parts.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// Returns the offset at which Go's decoder of unpadded base64 fails.
fn corrupt_at(text: &str) -> Option<usize> {
    let symbols = || text.bytes().enumerate().filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
    let foreign = symbols().find(|(_, byte)| !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_'));
    // A single symbol at the end is less than a byte.
    foreign.map(|(at, _)| at).or_else(|| (symbols().count() % 4 == 1).then(|| text.len() - 1))
}

pub(super) async fn list(call: &Call<'_>, options: &ListOptions) -> ApiResult<Reply> {
    let page = page(call, options).await?;
    let objects: Vec<Arc<Object>> = page.objects.into_iter().map(|(_, object)| object).collect();
    answer(call, &objects, page.metadata).await
}

/// Selected objects of a collection, and the metadata of their list.
pub(super) struct Page {
    pub(super) objects: Vec<(Arc<str>, Arc<Object>)>,
    pub(super) metadata: Map<String, Value>,
}

/// Reads the page that the options select.
pub(super) async fn page(call: &Call<'_>, options: &ListOptions) -> ApiResult<Page> {
    let selectors = Selectors::new(call, options, "")?;
    let (at, start) = position(call, options)?;
    let snapshot = snapshot(call, at, start.as_deref())?;
    let prefix = call.def.prefix(&call.path.namespace);
    let behind = |key: &str| start.as_deref().is_none_or(|start| within(key, &prefix) >= start);
    let single = selectors.single(&call.path.namespace);
    let is_read = |key: &str| behind(key) && single.as_deref().is_none_or(|single| key == single);
    let last = snapshot.objects.iter().map(|(key, _)| key).rfind(|key| is_read(key)).cloned();
    let objects: Vec<_> = snapshot.objects.into_iter().filter(|(key, _)| is_read(key)).collect();
    let read = objects.len();
    let mut objects = selectors.selected(&call.server, objects.into_iter()).await?;
    let mut limit = usize::try_from(options.limit.unwrap_or(0)).unwrap_or(0);
    if options.resource_version == "0" && call.def.is_cached() {
        // kube-apiserver serves these from its watch cache, which has no pages.
        limit = 0;
    }
    let is_full = limit > 0 && objects.len() >= limit;
    if is_full {
        objects.truncate(limit);
    }
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), Value::from(snapshot.rv.to_string()));
    // A full page ends the search, so nobody knows whether what follows is selected.
    if is_full && objects.last().map(|(key, _)| key) != last.as_ref() {
        // The smallest key after the last one.
        let start = objects.last().map(|(key, _)| format!("{}\0", within(key, &prefix)));
        let token = Token { rv: Some(snapshot.rv), start: start.unwrap_or_default() };
        metadata.insert("continue".to_owned(), Value::from(token.encode()));
        if selectors.select_all() {
            // Of all shards, as in kube-apiserver.
            metadata.insert("remainingItemCount".to_owned(), Value::from(read - limit));
        }
    }
    if let Some(info) = selectors.shard_info() {
        metadata.insert("shardInfo".to_owned(), info);
    }
    Ok(Page { objects, metadata })
}

/// Sends a list in the client's form.
pub(super) async fn answer(
    call: &Call<'_>,
    objects: &[Arc<Object>],
    mut metadata: Map<String, Value>,
) -> ApiResult<Reply> {
    let def = &call.def;
    let page = conversion::all(&call.server, def, objects).await?;
    if call.accepted.shape != Shape::Plain || def.is_custom() {
        // Only Go's own list types have the field: the lists of other forms are sharded all the same.
        metadata.remove("shardInfo");
    }
    if call.accepted.shape == Shape::Plain && def.is_custom() {
        // Go omits an empty token in its own types, but not in maps.
        metadata.entry("continue").or_insert_with(|| "".into());
    }
    if call.accepted.shape == Shape::Plain && call.accepted.form == Form::Json {
        return Ok(Reply::json_bytes(200, encoded_list::list(def, &page, &metadata)));
    }
    let metadata = Value::Object(metadata);
    let items = || page.iter().map(|object: &Served| object.value().clone()).collect::<Vec<Value>>();
    let value = match &call.accepted.shape {
        Shape::Table(version) => table::table(call, version, &items(), &metadata)?,
        Shape::PartialList(version) => table::partial_list(&items(), version, &metadata),
        Shape::Partial(_) => {
            let list = read::go_type(def, &def.list_kind);
            return Err(ApiError::no_such_form(format!(
                "you requested PartialObjectMetadata, but the requested object is a list ({list})"
            )));
        }
        Shape::Plain | Shape::Discovery(_) => {
            let items: Vec<Value> =
                page.iter().map(|object| encoded_list::item(def, object.value())).collect();
            json!({"apiVersion": def.api_version(), "kind": def.list_kind, "metadata": metadata, "items": items})
        }
    };
    Ok(Reply::value(200, &value, call.accepted.form))
}

/// Returns the version to list, and the key to start after.
fn position(call: &Call<'_>, options: &ListOptions) -> ApiResult<(Option<u64>, Option<String>)> {
    let rv = options.resource_version.as_str();
    if !options.continue_token.is_empty() {
        let token = Token::decode(&options.continue_token)?;
        if !matches!(rv, "" | "0") {
            let text = "specifying resource version is not allowed when using continue";
            return Err(ApiError::bad_request(text));
        }
        return Ok((token.rv, Some(token.start)));
    }
    let bad = |e: String| ApiError::bad_request(format!("invalid resource version: {e}"));
    let version = parse_version(rv).map_err(bad)?;
    match version {
        // etcd reads the last version for 0, in any form.
        Some(version) if version > 0 && is_exact(options) => Ok((Some(version), None)),
        Some(version) if version > call.server.store.current() => {
            Err(ApiError::future_version(version, call.server.store.current(), call.def.is_cached()))
        }
        _ => Ok((None, None)),
    }
}

/// Whether exactly the version is listed: as asked, or because of a limit (`waitUntilFreshAndList` of apiserver's
/// pkg/storage/cacher/watch_cache.go).
fn is_exact(options: &ListOptions) -> bool {
    match options.resource_version_match.as_str() {
        "" => options.limit.is_some_and(|limit| limit > 0) && options.resource_version != "0",
        matching => matching == "Exact",
    }
}

fn snapshot(call: &Call<'_>, at: Option<u64>, start: Option<&str>) -> ApiResult<Snapshot> {
    let prefix = call.def.prefix(&call.path.namespace);
    call.server.store.list(&call.def.collection, &prefix, at).map_err(|error| match (error, start) {
        (SnapshotError::Compacted, None) => {
            ApiError::expired("The resourceVersion for the provided list is too old.")
        }
        (SnapshotError::Compacted, Some(start)) => {
            let rest = Token { rv: None, start: start.to_owned() };
            ApiError::expired(INCONSISTENT).with_continue(rest.encode())
        }
        (SnapshotError::Future { current }, _) => {
            // Exact versions are read from etcd, which gives no time for another attempt.
            ApiError::future_version(at.unwrap_or_default(), current, false)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continue_token_is_refused_where_go_stops() {
        for (text, expected) in [
            ("bogus", "illegal base64 data at input byte 4"),
            ("ab=c", "illegal base64 data at input byte 2"),
            ("eyJ2IjoieCIsInJ2IjoxLCJzdGFydCI6ImEifQ", "server does not recognize this encoded version x"),
            (
                "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
                "incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
            ),
            ("abc", "invalid character 'i' looking for beginning of value"),
            // {"v":"meta.k8s.io/v1","rv":5,"start":"../x"}
            ("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIuLi94In0", "../x"),
        ] {
            let error = Token::decode(text).unwrap_err();
            assert_eq!(
                error.message(),
                format!("invalid continue token: continue key is not valid: {expected}")
            );
        }
        let token = Token { rv: None, start: "a/b\0".to_owned() };
        assert_eq!(Token::decode(&token.encode()).unwrap().start, token.start);
    }
}
