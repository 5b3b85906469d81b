//! GET of collections, in pages.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::read::{self, parse_version};
use super::selectors::Selectors;
use crate::conversion::{self, Served};
use crate::encode;
use crate::http::list_options::ListOptions;
use crate::http::negotiate::Shape;
use crate::http::reply::Reply;
use crate::server::Call;
use crate::status::{ApiError, ApiResult};
use crate::store::{Object, Snapshot, SnapshotError};
use crate::table;

/// A continue token: the version the first page was read at, and where the next page starts.
struct Token {
    rv: u64,
    start: String,
}

impl Token {
    fn encode(&self) -> String {
        let value = json!({"v": "meta.k8s.io/v1", "rv": self.rv, "start": self.start});
        URL_SAFE_NO_PAD.encode(value.to_string())
    }

    fn decode(text: &str) -> ApiResult<Self> {
        let bad = |why: &str| {
            ApiError::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|e| bad(&e.to_string()))?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|e| bad(&e.to_string()))?;
        match (value["rv"].as_u64(), value["start"].as_str(), value["v"].as_str()) {
            (Some(rv), Some(start), Some("meta.k8s.io/v1")) => Ok(Self { rv, start: start.to_owned() }),
            _ => Err(bad("incorrect encoded start resourceVersion")),
        }
    }
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

/// Reads the page that the options name.
pub(super) async fn page(call: &Call<'_>, options: &ListOptions) -> ApiResult<Page> {
    let selectors = Selectors::new(call, options, "")?;
    let (at, start) = position(call, options)?;
    let snapshot = snapshot(call, options, at)?;
    let behind = |key: &str| start.as_deref().is_none_or(|start| key > start);
    let objects = snapshot.objects.into_iter().filter(|(key, _)| behind(key));
    let mut objects = selectors.selected(&call.server, objects).await?;
    let mut limit = usize::try_from(options.limit.unwrap_or(0)).unwrap_or(0);
    if options.resource_version == "0" {
        // kube-apiserver answers these from its watch cache, which knows no pages.
        limit = 0;
    }
    let rest = if limit > 0 { objects.len().saturating_sub(limit) } else { 0 };
    objects.truncate(objects.len() - rest);
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), Value::from(snapshot.rv.to_string()));
    if rest > 0 {
        let last = objects.last().map(|(key, _)| key.to_string()).unwrap_or_default();
        let token = Token { rv: snapshot.rv, start: last };
        metadata.insert("continue".to_owned(), Value::from(token.encode()));
        if selectors.select_all() {
            metadata.insert("remainingItemCount".to_owned(), Value::from(rest));
        }
    }
    Ok(Page { objects, metadata })
}

/// A list in the form the client asked for.
pub(super) async fn answer(
    call: &Call<'_>,
    objects: &[Arc<Object>],
    mut metadata: Map<String, Value>,
) -> ApiResult<Reply> {
    let def = &call.def;
    let page = conversion::all(&call.server, def, objects).await?;
    if call.accepted.shape == Shape::Plain && def.is_custom() {
        // Go leaves an empty token out of its own types, but not out of maps.
        metadata.entry("continue").or_insert_with(|| "".into());
    }
    if call.accepted.shape == Shape::Plain && !call.accepted.yaml {
        return Ok(Reply::json_bytes(200, encode::list(def, &page, &metadata)));
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
            let items: Vec<Value> = page.iter().map(|object| encode::item(def, object.value())).collect();
            json!({"apiVersion": def.api_version(), "kind": def.list_kind, "metadata": metadata, "items": items})
        }
    };
    Ok(Reply::value(200, &value, call.accepted.yaml))
}

/// Which version to list, and after which key.
fn position(call: &Call<'_>, options: &ListOptions) -> ApiResult<(Option<u64>, Option<String>)> {
    let rv = options.resource_version.as_str();
    if !options.continue_token.is_empty() {
        if !matches!(rv, "" | "0") {
            let text = "specifying resource version is not allowed when using continue";
            return Err(ApiError::bad_request(text));
        }
        let token = Token::decode(&options.continue_token)?;
        return Ok((Some(token.rv), Some(token.start)));
    }
    let bad = |e: String| ApiError::bad_request(format!("invalid resource version: {e}"));
    let version = parse_version(rv).map_err(bad)?;
    match version {
        Some(version) if options.resource_version_match == "Exact" => Ok((Some(version), None)),
        Some(version) if version > call.server.store.current() => {
            Err(ApiError::future_version(version, call.server.store.current()))
        }
        _ => Ok((None, None)),
    }
}

fn snapshot(call: &Call<'_>, options: &ListOptions, at: Option<u64>) -> ApiResult<Snapshot> {
    let prefix = call.def.prefix(&call.path.namespace);
    call.server.store.list(&call.def.collection, &prefix, at).map_err(|error| match error {
        SnapshotError::Compacted if options.continue_token.is_empty() => {
            let asked = at.unwrap_or_default();
            ApiError::expired(format!("The resourceVersion for the provided list is too old: {asked}"))
        }
        SnapshotError::Compacted => ApiError::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list \
             without the continue parameter.",
        ),
        SnapshotError::Future { current } => ApiError::future_version(at.unwrap_or_default(), current),
    })
}
