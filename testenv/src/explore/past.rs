//! Responses from the past: lists, and watches with initial events.

use std::str::FromStr as _;

use bytes::Bytes;
use http::Uri;
use http::request::Parts;
use http::uri::PathAndQuery;
use serde_json::{Value, json};

use super::fault::Lists;
use super::world::World;
use crate::fake::Action;

/// Options that decide on the version of a response, and on a watch's form.
const TIMING: [&str; 6] =
    ["resourceVersion", "resourceVersionMatch", "watch", "sendInitialEvents", "allowWatchBookmarks", "limit"];

/// Reports whether a server may respond from an older state: lists and watches from version 0, those of streaming lists
/// included. Other lists, and watches without a version, show the current state
/// (`staging/src/k8s.io/apiserver/pkg/storage/cacher`).
pub(super) fn may_be_old(action: &Action) -> bool {
    matches!(action.verb(), "list" | "watch") && action.option("resourceVersion") == Some("0")
}

/// Replaces options of a request.
fn set_options(parts: &mut Parts, is_replaced: impl Fn(&str) -> bool, options: &[String]) {
    let query = parts.uri.query().unwrap_or_default().split('&');
    let kept = query.filter(|pair| !is_replaced(pair.split('=').next().unwrap_or_default()));
    let query: Vec<&str> =
        kept.chain(options.iter().map(String::as_str)).filter(|pair| !pair.is_empty()).collect();
    let text = format!("{}?{}", parts.uri.path(), query.join("&"));
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    uri.path_and_query = PathAndQuery::from_str(&text).ok();
    parts.uri = Uri::from_parts(uri).unwrap_or_default();
}

impl World {
    /// Returns the version for a response that may be old, once for each resource.
    pub(super) fn version_of_the_past(
        &mut self,
        process: usize,
        action: &Action,
        label: &str,
    ) -> Option<u64> {
        let process = &mut self.processes[process];
        let (version, lists) = process.stale?;
        let is_applied = self.applied.contains(&(action.group().to_owned(), action.resource().to_owned()));
        let fits = match lists {
            Lists::All => true,
            Lists::Applied => is_applied,
            Lists::Rest => !is_applied,
        };
        let is_old = may_be_old(action) && fits && process.listed.insert(label.to_owned());
        is_old.then_some(version)
    }

    /// Changes a request into one of the past. For a watch, returns its initial lines.
    pub(super) fn answer_from_the_past(
        &self,
        action: &Action,
        version: u64,
        parts: &mut Parts,
    ) -> Vec<Bytes> {
        let at = format!("resourceVersion={version}");
        let exact = [at.clone(), "resourceVersionMatch=Exact".to_owned()];
        if action.verb() == "list" {
            set_options(parts, |key| key.starts_with("resourceVersion"), &exact);
            return Vec::new();
        }
        let mut list = parts.clone();
        set_options(&mut list, |key| TIMING.contains(&key), &exact);
        // A list of partial objects has another kind than each of them.
        let accept = list.headers.get(http::header::ACCEPT).and_then(|value| value.to_str().ok());
        let accept =
            accept.map(|text| text.replace("as=PartialObjectMetadata;", "as=PartialObjectMetadataList;"));
        if let Some(accept) = accept.and_then(|text| http::HeaderValue::from_str(&text).ok()) {
            list.headers.insert(http::header::ACCEPT, accept);
        }
        let response = self.cluster.send(list, Bytes::new());
        if !response.status().is_success() {
            // The past is compacted, so the watch shows the current state.
            return Vec::new();
        }
        let body = self.cluster.collect(response.into_body());
        let list: Value = serde_json::from_slice(&body).unwrap_or_default();
        set_options(parts, |key| key.starts_with("resourceVersion") || key == "sendInitialEvents", &[at]);
        let streams = action.option("sendInitialEvents") == Some("true");
        initial_events(&list, version, streams)
    }
}

/// Returns the initial events of a watch, and the bookmark after them if it is a streaming list's.
fn initial_events(list: &Value, version: u64, streams: bool) -> Vec<Bytes> {
    let kind = list["kind"].as_str().unwrap_or_default();
    let kind = kind.strip_suffix("List").unwrap_or(kind);
    let typed = |mut object: Value| {
        // Objects of custom resources have both.
        if object["kind"].is_null() {
            object["apiVersion"] = list["apiVersion"].clone();
            object["kind"] = json!(kind);
        }
        object
    };
    let items = list["items"].as_array().into_iter().flatten();
    let added = items.map(|item| json!({"type": "ADDED", "object": typed(item.clone())}));
    let end = typed(json!({"metadata": {
        "resourceVersion": version.to_string(), "annotations": {"k8s.io/initial-events-end": "true"},
    }}));
    let end = streams.then(|| json!({"type": "BOOKMARK", "object": end}));
    added.chain(end).map(|event| Bytes::from(format!("{event}\n"))).collect()
}
