//! GET of one object and of collections.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{BufMut, Bytes, BytesMut};
use kubesmith_apimachinery::{fields, labels};
use serde_json::{Map, Value, json};

use crate::conversion::{self, Served};
use crate::http::negotiate::Shape;
use crate::http::reply::Reply;
use crate::registry::ResourceDef;
use crate::selector;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult, Cause};
use crate::store::{Object, Snapshot, SnapshotError};
use crate::table;

pub(super) async fn get(call: &Call<'_>) -> ApiResult<Reply> {
    let def = &call.def;
    let key = def.key(&call.path.namespace, &call.path.name);
    let version = parse_version(call.query.get("resourceVersion")).map_err(ApiError::unexpected)?;
    if let Some(version) = version.filter(|version| *version > call.server.store.current()) {
        return Err(ApiError::future_version(version, call.server.store.current()));
    }
    let object = call.server.store.get(&def.collection, &key);
    let object = object.ok_or_else(|| ApiError::not_found(def.about(&call.path.name)))?;
    shown(call, 200, &object).await
}

/// A stored object in the form the client asked for.
pub(super) async fn shown(call: &Call<'_>, code: u16, object: &Arc<Object>) -> ApiResult<Reply> {
    let served = conversion::one(&call.server, &call.def, object).await?;
    if call.accepted.shape == Shape::Plain && !call.accepted.yaml {
        return Ok(Reply::json_bytes(code, served.json()));
    }
    Ok(Reply::value(code, &shaped(call, served.value().clone()), call.accepted.yaml))
}

/// A value in the shape the client asked for.
pub(super) fn shaped(call: &Call<'_>, value: Value) -> Value {
    match &call.accepted.shape {
        Shape::Table(version) => {
            let metadata = table::list_metadata(&value);
            table::table(call, version, &[value], &metadata)
        }
        Shape::Metadata(version) => table::partial(&value, version),
        Shape::Plain | Shape::Discovery(_) => value,
    }
}

/// The selectors of a list, a watch or a deletion.
pub(super) struct Selectors {
    labels: labels::Selector,
    fields: fields::Selector,
    def: Arc<ResourceDef>,
}

impl Selectors {
    /// Reads both selectors; a `name` selects that object alone.
    pub(super) fn parse(call: &Call<'_>, name: &str) -> ApiResult<Self> {
        let def = &call.def;
        let labels = selector::labels(call.query.get("labelSelector"))?;
        let mut text = call.query.get("fieldSelector").to_owned();
        if !name.is_empty() {
            text = format!("metadata.name={name},{text}");
        }
        let fields = selector::fields(&text, &def.selectable, def.namespaced)?;
        Ok(Self { labels, fields, def: def.clone() })
    }

    /// Whether a stored object is selected, by what the asked-for version says; `None` when a webhook has to be asked
    /// for that.
    pub(super) fn select(&self, object: &Arc<Object>) -> Option<bool> {
        if self.select_all() {
            return Some(true);
        }
        if !conversion::is_by_webhook(&self.def)
            && !self.labels.matches_json(&object.value["metadata"]["labels"])
        {
            return Some(false);
        }
        if self.fields.is_everything() && !conversion::is_by_webhook(&self.def) {
            return Some(true);
        }
        conversion::at_once(&self.def, object).map(|served| self.matches(&served))
    }

    /// Whether an object is selected.
    pub(super) fn matches(&self, object: &Served) -> bool {
        self.labels.matches_json(&object.value()["metadata"]["labels"])
            && selector::fields_match(&self.fields, object.value())
    }

    /// Whether everything is selected.
    pub(super) fn select_all(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// Those of the stored objects that are selected.
    ///
    /// # Errors
    /// When the conversion webhook fails.
    pub(super) async fn selected(
        &self,
        server: &Server,
        objects: impl Iterator<Item = (Arc<str>, Arc<Object>)>,
    ) -> ApiResult<Vec<(Arc<str>, Arc<Object>)>> {
        let (mut selected, mut open) = (Vec::new(), Vec::new());
        for (key, object) in objects {
            match self.select(&object) {
                Some(false) => {}
                Some(true) => selected.push((key, object)),
                None => {
                    open.push(selected.len());
                    selected.push((key, object));
                }
            }
        }
        if open.is_empty() {
            return Ok(selected);
        }
        let asked: Vec<Arc<Object>> = open.iter().map(|at| selected[*at].1.clone()).collect();
        let served = conversion::all(server, &self.def, &asked).await?;
        let refused = open.iter().zip(&served).filter(|(_, served)| !self.matches(served));
        let refused: BTreeSet<usize> = refused.map(|(at, _)| *at).collect();
        let kept = selected.into_iter().enumerate().filter(|(at, _)| !refused.contains(at));
        Ok(kept.map(|(_, entry)| entry).collect())
    }
}

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

/// A version in a query.
pub(super) fn parse_version(text: &str) -> Result<Option<u64>, String> {
    match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            format!(
                "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
            )
        }),
    }
}

pub(super) async fn list(call: &Call<'_>) -> ApiResult<Reply> {
    let def = &call.def;
    let selectors = Selectors::parse(call, "")?;
    // It has no effect on a list, but has to be a number.
    call.query.number("timeoutSeconds")?;
    let (at, start) = position(call)?;
    let snapshot = snapshot(call, at)?;
    let mut limit = usize::try_from(call.query.number("limit")?.unwrap_or(0)).unwrap_or(0);
    if call.query.get("resourceVersion") == "0" {
        // kube-apiserver answers these from its watch cache, which knows no pages.
        limit = 0;
    }
    let behind = |key: &str| start.as_deref().is_none_or(|start| key > start);
    let objects = snapshot.objects.into_iter().filter(|(key, _)| behind(key));
    let mut page = selectors.selected(&call.server, objects).await?;
    let rest = if limit > 0 { page.len().saturating_sub(limit) } else { 0 };
    page.truncate(page.len() - rest);
    let last = page.last().map(|(key, _)| key.to_string()).unwrap_or_default();
    let page: Vec<Arc<Object>> = page.into_iter().map(|(_, object)| object).collect();
    let page = conversion::all(&call.server, def, &page).await?;
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), Value::from(snapshot.rv.to_string()));
    if rest > 0 {
        let token = Token { rv: snapshot.rv, start: last };
        metadata.insert("continue".to_owned(), Value::from(token.encode()));
        if selectors.select_all() {
            metadata.insert("remainingItemCount".to_owned(), Value::from(rest));
        }
    }
    if call.accepted.shape == Shape::Plain && !call.accepted.yaml {
        return Ok(Reply::json_bytes(200, list_json(def, &page, &metadata)));
    }
    let items: Vec<Value> = page.iter().map(|object| object.value().clone()).collect();
    let value = match &call.accepted.shape {
        Shape::Table(version) => table::table(call, version, &items, &Value::Object(metadata)),
        Shape::Metadata(version) => table::partial_list(&items, version, &Value::Object(metadata)),
        _ => {
            json!({"apiVersion": def.api_version(), "kind": def.list_kind, "metadata": metadata, "items": items})
        }
    };
    Ok(Reply::value(200, &value, call.accepted.yaml))
}

/// Which version to list, and after which key.
fn position(call: &Call<'_>) -> ApiResult<(Option<u64>, Option<String>)> {
    let query = &call.query;
    let rv = query.get("resourceVersion");
    let matching = query.get("resourceVersionMatch");
    let token = query.get("continue");
    check_match(rv, matching, token)?;
    if !token.is_empty() {
        if !matches!(rv, "" | "0") {
            let text = "specifying resource version is not allowed when using continue";
            return Err(ApiError::bad_request(text));
        }
        let token = Token::decode(token)?;
        return Ok((Some(token.rv), Some(token.start)));
    }
    let bad = |e: String| ApiError::bad_request(format!("invalid resource version: {e}"));
    let version = parse_version(rv).map_err(bad)?;
    match version {
        Some(version) if matching == "Exact" => Ok((Some(version), None)),
        Some(version) if version > call.server.store.current() => {
            Err(ApiError::future_version(version, call.server.store.current()))
        }
        _ => Ok((None, None)),
    }
}

fn check_match(rv: &str, matching: &str, token: &str) -> ApiResult<()> {
    if matching.is_empty() {
        return Ok(());
    }
    let refuse = |cause| Err(ApiError::invalid_options("ListOptions", vec![cause]));
    let field = "resourceVersionMatch";
    if !token.is_empty() {
        return refuse(Cause::forbidden(
            field,
            "resourceVersionMatch is forbidden when continue is provided",
        ));
    }
    if rv.is_empty() {
        let text = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        return refuse(Cause::forbidden(field, text));
    }
    if !matches!(matching, "Exact" | "NotOlderThan") {
        let supported = ["", "Exact", "NotOlderThan"];
        return refuse(Cause::not_supported(field, &format!("{matching:?}"), &supported));
    }
    if matching == "Exact" && rv == "0" {
        let text = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
        return refuse(Cause::forbidden(field, text));
    }
    Ok(())
}

fn snapshot(call: &Call<'_>, at: Option<u64>) -> ApiResult<Snapshot> {
    let prefix = call.def.prefix(&call.path.namespace);
    call.server.store.list(&call.def.collection, &prefix, at).map_err(|error| match error {
        SnapshotError::Compacted if call.query.get("continue").is_empty() => {
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

/// A list's JSON, put together from the objects' own.
fn list_json(def: &ResourceDef, page: &[Served], metadata: &Map<String, Value>) -> Bytes {
    let head =
        json!({"apiVersion": def.api_version(), "kind": def.list_kind, "metadata": metadata}).to_string();
    let items: Vec<Bytes> = page.iter().map(Served::json).collect();
    let size = head.len() + 16 + items.iter().map(|i| i.len() + 1).sum::<usize>();
    let mut out = BytesMut::with_capacity(size);
    out.put_slice(&head.as_bytes()[..head.len() - 1]);
    out.put_slice(b",\"items\":[");
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.put_u8(b',');
        }
        out.put_slice(item);
    }
    out.put_slice(b"]}");
    out.freeze()
}
