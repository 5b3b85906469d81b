//! The frame of small operators: caches of widgets and config maps, and a function that is called whenever one of them changed.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::TryStreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    PostParams, Preconditions, WatchEvent, WatchParams,
};
use kube::{Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The definition of widgets.
pub const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.a.example}
spec:
  group: a.example
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
";

/// The finalizer of widgets and of config maps.
pub const FINALIZER: &str = "a.example/cleanup";

/// The resource of widgets.
#[must_use]
pub fn widgets() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("a.example", "v1", "Widget"), "widgets")
}

/// What an operator sees.
#[derive(Clone)]
pub struct Seen {
    /// A client.
    pub client: Client,
    /// The widgets of the namespace `default`.
    pub widgets: BTreeMap<String, DynamicObject>,
    /// Its config maps.
    pub maps: BTreeMap<String, ConfigMap>,
    /// Widgets whose deletion was seen by the last event.
    pub deleted: Vec<DynamicObject>,
    /// Config maps whose deletion was seen by the last event.
    pub deleted_maps: Vec<ConfigMap>,
}

/// Whether an object is being deleted.
pub fn is_deleted<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_some()
}

/// A number in the spec of a widget; 0 if there is none.
#[must_use]
pub fn number(widget: &DynamicObject, field: &str) -> u64 {
    widget.data["spec"][field].as_u64().unwrap_or_default()
}

/// A value of a config map.
#[must_use]
pub fn value(map: &ConfigMap) -> &str {
    map.data.as_ref().and_then(|data| data.get("value")).map_or("", String::as_str)
}

/// A config map for a widget, owned by it, with a value.
#[must_use]
#[allow(clippy::needless_pass_by_value)] // Numbers and texts are told apart by nobody.
pub fn part(widget: &DynamicObject, name: &str, value: impl ToString) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(format!("{}-{name}", widget.name_any()));
    map.metadata.labels = Some(BTreeMap::from([("of".to_owned(), widget.name_any())]));
    map.metadata.owner_references = widget.controller_owner_ref(&widgets()).map(|owner| vec![owner]);
    map.data = Some(BTreeMap::from([("value".to_owned(), value.to_string())]));
    map
}

/// The same without an owner: nothing but the operator deletes it.
#[must_use]
pub fn orphan(widget: &DynamicObject, name: &str, value: impl ToString) -> ConfigMap {
    let mut map = part(widget, name, value);
    map.metadata.owner_references = None;
    map
}

impl Seen {
    /// Requests for widgets.
    #[must_use]
    pub fn widget_api(&self) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), "default", &widgets())
    }

    /// Requests for config maps.
    #[must_use]
    pub fn map_api(&self) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), "default")
    }

    /// The widgets that are not being deleted.
    pub fn live(&self) -> impl Iterator<Item = &DynamicObject> {
        self.widgets.values().filter(|widget| !is_deleted(*widget))
    }

    /// A part of a widget, from the cache.
    #[must_use]
    pub fn part_of(&self, widget: &DynamicObject, name: &str) -> Option<&ConfigMap> {
        self.maps.get(&format!("{}-{name}", widget.name_any()))
    }

    /// The numbers of a widget's parts whose names begin with `kind`, from the cache.
    #[must_use]
    pub fn numbers_of(&self, widget: &DynamicObject, kind: &str) -> Vec<u64> {
        let prefix = format!("{}-{kind}-", widget.name_any());
        self.maps.keys().filter_map(|name| name.strip_prefix(&prefix)?.parse().ok()).collect()
    }

    /// The widget as the server has it.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn fresh(&self, widget: &DynamicObject) -> kube::Result<Option<DynamicObject>> {
        self.widget_api().get_opt(&widget.name_any()).await
    }

    /// Creates a config map, unless the cache or the server has one of this name.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn put(&self, map: ConfigMap) -> kube::Result<()> {
        if self.maps.contains_key(&map.name_any()) {
            return Ok(());
        }
        unless(409, self.map_api().create(&PostParams::default(), &map).await.map(drop))
    }

    /// Writes a config map's value.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn set_value(&self, map: &ConfigMap, value: impl ToString) -> kube::Result<()> {
        let patch = Patch::Merge(json!({"data": {"value": value.to_string()}}));
        unless(404, self.map_api().patch(&map.name_any(), &PatchParams::default(), &patch).await.map(drop))
    }

    /// Deletes a config map by its name, if there is one.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn remove(&self, name: &str) -> kube::Result<()> {
        unless(404, self.map_api().delete(name, &DeleteParams::default()).await.map(drop))
    }

    /// Deletes this very config map, and none that was made later under its name.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn remove_exactly(&self, map: &ConfigMap) -> kube::Result<()> {
        let preconditions = Preconditions { uid: map.metadata.uid.clone(), resource_version: None };
        let params = DeleteParams::default().preconditions(preconditions);
        unless(409, unless(404, self.map_api().delete(&map.name_any(), &params).await.map(drop)))
    }

    /// Merges into a widget's status.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn set_status(&self, widget: &DynamicObject, status: Value) -> kube::Result<()> {
        let patch = Patch::Merge(json!({"status": status}));
        let result =
            self.widget_api().patch_status(&widget.name_any(), &PatchParams::default(), &patch).await;
        unless(404, result.map(drop))
    }

    /// Merges into a widget's status, unless the widget has changed since it was read.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn set_status_of_version(&self, widget: &DynamicObject, status: Value) -> kube::Result<()> {
        let version = json!({"resourceVersion": widget.resource_version()});
        let patch = Patch::Merge(json!({"metadata": version, "status": status}));
        let result =
            self.widget_api().patch_status(&widget.name_any(), &PatchParams::default(), &patch).await;
        unless(404, unless(409, result.map(drop)))
    }

    /// Gives a widget the finalizer, or takes it away.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn finalize(&self, widget: &DynamicObject, keep: bool) -> kube::Result<()> {
        let patch = finalizers(widget, keep);
        let result = self.widget_api().patch(&widget.name_any(), &PatchParams::default(), &patch).await;
        unless(404, unless(409, result.map(drop)))
    }

    /// Takes the finalizer away from a config map.
    ///
    /// # Errors
    /// Returns the server's error.
    pub async fn let_go(&self, map: &ConfigMap) -> kube::Result<()> {
        let patch = finalizers(map, false);
        let result = self.map_api().patch(&map.name_any(), &PatchParams::default(), &patch).await;
        unless(404, unless(409, result.map(drop)))
    }
}

fn finalizers<K: Resource>(object: &K, keep: bool) -> Patch<Value> {
    let finalizers: &[&str] = if keep { &[FINALIZER] } else { &[] };
    Patch::Merge(json!({"metadata": {
        "finalizers": finalizers,
        "uid": object.meta().uid,
        "resourceVersion": object.meta().resource_version,
    }}))
}

/// Whether an object has the finalizer.
pub fn has_finalizer<K: Resource>(object: &K) -> bool {
    object.meta().finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER)
}

/// Takes a refusal with this code for success.
///
/// # Errors
/// Returns all other errors.
pub fn unless(code: u16, result: kube::Result<()>) -> kube::Result<()> {
    match result {
        Err(kube::Error::Api(status)) if status.code == code => Ok(()),
        result => result,
    }
}

/// Lists and watches, and calls `reconcile` after every change; after an error again a second later. With `old_lists`, lists are answered
/// from a server's cache, which may be old.
///
/// # Errors
/// Never; it does not end.
pub async fn run<F>(client: Client, old_lists: bool, reconcile: F) -> kube::Result<()>
where
    F: AsyncFn(Seen) -> kube::Result<()>,
{
    let mut seen = Seen {
        client,
        widgets: BTreeMap::new(),
        maps: BTreeMap::new(),
        deleted: Vec::new(),
        deleted_maps: Vec::new(),
    };
    loop {
        // A watch that ends leads to new lists.
        let _ = follow(&mut seen, old_lists, &reconcile).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn list<K>(api: &Api<K>, old: bool) -> kube::Result<(BTreeMap<String, K>, String)>
where
    K: Resource + Clone + DeserializeOwned + std::fmt::Debug,
{
    let params = ListParams { resource_version: old.then(|| "0".to_owned()), ..ListParams::default() };
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

async fn follow<F>(seen: &mut Seen, old_lists: bool, reconcile: &F) -> kube::Result<()>
where
    F: AsyncFn(Seen) -> kube::Result<()>,
{
    let (widgets, maps) = (seen.widget_api(), seen.map_api());
    let (found, version) = list(&widgets, old_lists).await?;
    let (found_maps, map_version) = list(&maps, old_lists).await?;
    (seen.widgets, seen.maps) = (found, found_maps);
    let params = WatchParams::default().disable_bookmarks();
    let mut widget_events = Box::pin(widgets.watch(&params, &version).await?);
    let mut map_events = Box::pin(maps.watch(&params, &map_version).await?);
    loop {
        let result = reconcile(seen.clone()).await;
        seen.deleted.clear();
        seen.deleted_maps.clear();
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
                Some(event) => seen.deleted_maps.extend(take(&mut seen.maps, event)?),
                None => return Ok(()),
            },
            () = again => {}
        }
    }
}
