//! The frame of small operators: caches of widgets and config maps, and a function that is called whenever one of them changed.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, WatchEvent, WatchParams};
use kube::{Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::support::widget_resource;

pub(super) const GROUP: &str = "a.example";

/// What an operator sees.
#[derive(Clone)]
pub(super) struct Seen {
    pub(super) client: Client,
    pub(super) widgets: BTreeMap<String, DynamicObject>,
    pub(super) maps: BTreeMap<String, ConfigMap>,
    /// Widgets whose deletion was seen by the last event.
    pub(super) deleted: Vec<DynamicObject>,
}

impl Seen {
    pub(super) fn widget_api(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), "default", &widget_resource(GROUP))
    }

    pub(super) fn map_api(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// Merges into a widget's status.
    pub(super) async fn set_status(&self, name: &str, status: serde_json::Value) -> kube::Result<()> {
        let patch = Patch::Merge(json!({"status": status}));
        self.widget_api().patch_status(name, &PatchParams::default(), &patch).await.map(drop)
    }
}

/// A config map for a widget, with the size that the widget asks for.
pub(super) fn child(widget: &DynamicObject, owned: bool) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(widget.name_any());
    map.metadata.labels = Some(BTreeMap::from([("of".to_owned(), widget.name_any())]));
    if owned {
        map.metadata.owner_references =
            widget.controller_owner_ref(&widget_resource(GROUP)).map(|owner| vec![owner]);
    }
    map.data = Some(BTreeMap::from([("size".to_owned(), widget.data["spec"]["size"].to_string())]));
    map
}

/// Whether a request failed because there is such an object already, or none any more.
pub(super) fn unless(code: u16, result: kube::Result<()>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.code == code => Ok(()),
        result => result,
    }
}

/// Lists and watches, and calls `reconcile` after every change; after an error again a second later.
pub(super) async fn run<F>(client: Client, reconcile: F) -> kube::Result<()>
where
    F: AsyncFn(Seen) -> kube::Result<()>,
{
    let widgets = Api::namespaced_with(client.clone(), "default", &widget_resource(GROUP));
    let maps = Api::<ConfigMap>::namespaced(client.clone(), "default");
    let mut seen = Seen { client, widgets: BTreeMap::new(), maps: BTreeMap::new(), deleted: Vec::new() };
    loop {
        // A watch that ends leads to new lists.
        let _ = follow(&widgets, &maps, &mut seen, &reconcile).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn list<K>(api: &Api<K>) -> kube::Result<(BTreeMap<String, K>, String)>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
{
    let params = ListParams { resource_version: Some("0".to_owned()), ..ListParams::default() };
    let list = api.list(&params).await?;
    let version = list.metadata.resource_version.unwrap_or_default();
    Ok((list.items.into_iter().map(|object| (object.name_any(), object)).collect(), version))
}

fn take<K: Resource + Clone>(
    cache: &mut BTreeMap<String, K>,
    event: WatchEvent<K>,
) -> kube::Result<Option<K>> {
    match event {
        WatchEvent::Added(object) | WatchEvent::Modified(object) => {
            cache.insert(object.name_any(), object);
        }
        WatchEvent::Deleted(object) => {
            cache.remove(&object.name_any());
            return Ok(Some(object));
        }
        WatchEvent::Bookmark(_) => {}
        WatchEvent::Error(status) => return Err(kube::Error::Api(status)),
    }
    Ok(None)
}

async fn follow<F>(
    widgets: &Api<DynamicObject>,
    maps: &Api<ConfigMap>,
    seen: &mut Seen,
    reconcile: &F,
) -> kube::Result<()>
where
    F: AsyncFn(Seen) -> kube::Result<()>,
{
    let version: (String, String);
    (seen.widgets, version) = {
        let (found, one) = list(widgets).await?;
        let (maps, other) = list(maps).await?;
        seen.maps = maps;
        (found, (one, other))
    };
    let mut widget_events = Box::pin(widgets.watch(&WatchParams::default(), &version.0).await?);
    let mut map_events = Box::pin(maps.watch(&WatchParams::default(), &version.1).await?);
    loop {
        let result = reconcile(seen.clone()).await;
        seen.deleted.clear();
        let again = async {
            match result {
                Ok(()) => std::future::pending().await,
                Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
            }
        };
        tokio::select! {
            biased;
            event = widget_events.try_next() => match event? {
                Some(event) => seen.deleted.extend(take(&mut seen.widgets, event)?),
                None => return Ok(()),
            },
            event = map_events.try_next() => match event? {
                Some(event) => drop(take(&mut seen.maps, event)?),
                None => return Ok(()),
            },
            () = again => {}
        }
    }
}
