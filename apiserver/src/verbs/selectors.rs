//! Applies the selectors of lists, watches and deletions of collections to stored objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use kubesmith_apimachinery::sharding::ShardSelector;
use kubesmith_apimachinery::{fields, labels};
use serde_json::{Value, json};

use super::field_selectors::{check_fields, fields_match};
use crate::conversion::{self, Served};
use crate::http::list_options::ListOptions;
use crate::meta;
use crate::registry::ResourceDef;
use crate::selector;
use crate::server::{Call, Server};
use crate::status::{ApiError, ApiResult};
use crate::store::Object;

/// The selectors of a list, a watch or a deletion.
pub(super) struct Selectors {
    labels: labels::Selector,
    fields: fields::Selector,
    /// `None` selects all shards.
    shards: Option<ShardSelector>,
    def: Arc<ResourceDef>,
}

impl Selectors {
    /// Parses the selectors of a request, whose fields the kind has to support. A `name` in the path selects only that
    /// object.
    ///
    /// # Errors
    /// Returns `BadRequest` for unsupported fields, or a selector of another name than the path's.
    pub(super) fn new(call: &Call<'_>, options: &ListOptions, name: &str) -> ApiResult<Self> {
        let def = &call.def;
        check_fields(&options.fields, def)?;
        let mut fields = options.fields.clone();
        if !name.is_empty() {
            if fields.is_everything() {
                fields = selector::fields(&format!("metadata.name={name}"))?;
            } else if fields.requires_exact_match("metadata.name") != Some(name) {
                return Err(ApiError::bad_request(
                    "fieldSelector metadata.name doesn't match requested name",
                ));
            }
        }
        let is_sharded =
            call.server.options().feature_gates.sharded_list_and_watch && !options.shard_selector.is_empty();
        let shards = is_sharded.then(|| selector::shards(&options.shard_selector)).transpose()?;
        Ok(Self { labels: options.labels.clone(), fields, shards, def: def.clone() })
    }

    /// Reports whether a stored object is selected, in the requested version; `None` when a webhook has to convert it
    /// for that.
    pub(super) fn select(&self, object: &Arc<Object>) -> Option<bool> {
        if !self.is_in_shard(&object.value) {
            return Some(false);
        }
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

    /// Reports whether an object is selected.
    pub(super) fn matches(&self, object: &Served) -> bool {
        self.is_in_shard(object.value())
            && self.labels.matches_json(&object.value()["metadata"]["labels"])
            && fields_match(&self.fields, &self.def, object.value())
    }

    /// Returns the key of the only object that can be selected, by its name: kube-apiserver then reads no others.
    pub(super) fn single(&self, namespace: &str) -> Option<String> {
        let is_known = !self.def.namespaced || !namespace.is_empty();
        let name = self.fields.requires_exact_match("metadata.name").filter(|_| is_known)?;
        Some(self.def.key(namespace, name))
    }

    /// Reports whether the shard selector matches an object, in any version: the fields that decide never change.
    fn is_in_shard(&self, object: &Value) -> bool {
        self.shards
            .as_ref()
            .is_none_or(|shards| shards.matches(meta::text(object, "uid"), meta::namespace(object)))
    }

    /// Returns the `shardInfo` of a list.
    pub(super) fn shard_info(&self) -> Option<Value> {
        self.shards.as_ref().map(|shards| json!({"selector": shards.to_string()}))
    }

    /// Reports whether the selectors of labels and fields match everything.
    pub(super) fn select_all(&self) -> bool {
        self.labels.is_everything() && self.fields.is_everything()
    }

    /// Returns the selected ones of these stored objects.
    ///
    /// # Errors
    /// Returns an error if the conversion webhook fails.
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
