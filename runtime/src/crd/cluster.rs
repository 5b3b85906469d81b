//! The requests.

use std::time::Duration;

use http::Request as HttpRequest;
use kube::api::{GetParams, ListParams, Patch, PatchParams, PostParams, Request as Paths};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::cache::ObjectKey;
use crate::client::{self, Request};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The number of objects in a page of a list, as in `kubectl`.
pub(super) const PAGE: u32 = 500;
/// The limit of attempts to write a definition that other clients change at the same time.
pub(super) const TRIES: usize = 10;

/// The limit of retries of a request that an overloaded server refused.
const RETRIES: u32 = 5;

/// Sends requests about definitions, and about the objects of kinds that only definitions know.
pub(super) struct Cluster<'a>(pub(super) &'a kube::Client);

/// The objects of a version of a definition.
#[derive(Clone, Debug)]
pub(super) struct Collection {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) kind: String,
}

/// Objects as a list returns them, and where the next page begins.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) items: Vec<Value>,
    /// Empty on the last page.
    pub(super) next: String,
    /// The number of objects after this page, if the server reports it.
    pub(super) remaining: Option<u64>,
}

impl Collection {
    /// The definitions themselves.
    pub(super) fn definitions() -> Self {
        Self {
            group: "apiextensions.k8s.io".to_owned(),
            version: "v1".to_owned(),
            plural: "customresourcedefinitions".to_owned(),
            kind: "CustomResourceDefinition".to_owned(),
        }
    }

    pub(super) fn of(definition: &Value, version: &str) -> Self {
        let text =
            |path: &str| definition.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            group: text("/spec/group"),
            version: version.to_owned(),
            plural: text("/spec/names/plural"),
            kind: text("/spec/names/kind"),
        }
    }

    fn path(&self, namespace: &str) -> String {
        let Self { group, version, plural, .. } = self;
        match namespace {
            "" => format!("/apis/{group}/{version}/{plural}"),
            namespace => format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}"),
        }
    }
}

/// The name of an object of a list.
pub(super) fn key(object: &Value) -> ObjectKey {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    match text("namespace") {
        "" => ObjectKey::cluster(text("name")),
        namespace => ObjectKey::namespaced(namespace, text("name")),
    }
}

/// Has the server refuse unknown fields instead of dropping them.
fn strictly(request: HttpRequest<Vec<u8>>) -> Result<HttpRequest<Vec<u8>>, kube::core::request::Error> {
    let (mut parts, body) = request.into_parts();
    let separator = if parts.uri.query().is_some_and(|query| !query.ends_with('&')) { "&" } else { "" };
    let start = if parts.uri.query().is_some() { "" } else { "?" };
    let uri = format!("{}{start}{separator}fieldValidation=Strict", parts.uri);
    parts.uri = uri
        .parse()
        .map_err(|error: http::uri::InvalidUri| kube::core::request::Error::BuildRequest(error.into()))?;
    Ok(HttpRequest::from_parts(parts, body))
}

/// Sends a request again, some times, while the server is overloaded.
pub(super) async fn patiently<F>(request: impl Fn() -> F) -> Result<Value, client::Error>
where
    F: Future<Output = Result<Value, client::Error>>,
{
    for _ in 0..RETRIES {
        match request().await {
            Err(error) if is_overloaded(&error) => {
                let seconds = error.retry_after_seconds().unwrap_or(1).max(1);
                tokio::time::sleep(Duration::from_secs(seconds.into())).await;
            }
            done => return done,
        }
    }
    request().await
}

fn is_overloaded(error: &client::Error) -> bool {
    error.status().is_some_and(|status| matches!(status.code, 429 | 503 | 504))
}

impl Cluster<'_> {
    /// The definition, if there is one.
    pub(super) async fn definition(&self, name: &str) -> Result<Option<Value>, client::Error> {
        let made = Paths::new(DEFINITIONS).get(name, &GetParams::default());
        match self.send("get", "customresourcedefinitions.apiextensions.k8s.io", Some(name), made).await {
            Err(error) if error.is_not_found() => Ok(None),
            found => found.map(Some),
        }
    }

    /// Creates the definition. The server refuses unknown fields.
    pub(super) async fn create(
        &self,
        definition: &Value,
        manager: &str,
        dry_run: bool,
    ) -> Result<Value, client::Error> {
        let params = PostParams { dry_run, field_manager: Some(manager.to_owned()) };
        let made =
            Paths::new(DEFINITIONS).create(&params, definition.to_string().into_bytes()).and_then(strictly);
        let name = definition["metadata"]["name"].as_str();
        self.send("create", "customresourcedefinitions.apiextensions.k8s.io", name, made).await
    }

    /// Patches the definition, or its status.
    pub(super) async fn patch_definition(
        &self,
        name: &str,
        subresource: Option<&str>,
        params: &PatchParams,
        patch: &Patch<Value>,
    ) -> Result<Value, client::Error> {
        let paths = Paths::new(DEFINITIONS);
        let made = match subresource {
            Some(subresource) => paths.patch_subresource(subresource, name, params, patch),
            None => paths.patch(name, params, patch),
        };
        self.send("patch", "customresourcedefinitions.apiextensions.k8s.io", Some(name), made).await
    }

    /// Replaces the spec, labels and annotations of the definition by those of `whole`, unless the definition changed since the
    /// resource version there.
    pub(super) async fn patch_parts(
        &self,
        name: &str,
        whole: &Value,
        params: &PatchParams,
    ) -> Result<Value, client::Error> {
        let paths =
            ["/metadata/resourceVersion", "/metadata/annotations", "/metadata/labels", "/spec"].into_iter();
        // `add` also replaces a member that is there.
        let operations =
            paths.map(|path| json!({"op": "add", "path": path, "value": whole.pointer(path)})).collect();
        let patch = serde_json::from_value(operations).map_err(kube::core::request::Error::SerializeBody);
        let made =
            patch.and_then(|patch| Paths::new(DEFINITIONS).patch(name, params, &Patch::Json::<Value>(patch)));
        self.send("patch", "customresourcedefinitions.apiextensions.k8s.io", Some(name), made).await
    }

    /// Reports whether the server serves the objects of this version: discovery follows a moment after the definition
    /// is established.
    pub(super) async fn serves(&self, objects: &Collection) -> Result<bool, client::Error> {
        let path = format!("/apis/{}/{}", objects.group, objects.version);
        let made = HttpRequest::get(path).body(Vec::new()).map_err(kube::core::request::Error::BuildRequest);
        match self.send::<Value>("get", "discovery", None, made).await {
            Ok(list) => {
                let mut resources = list["resources"].as_array().into_iter().flatten();
                Ok(resources.any(|resource| resource["name"] == objects.plural))
            }
            // For an unknown path, the server responds with a text.
            Err(error) if error.status().is_some_and(|status| status.code == 404) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A page of the objects in all namespaces. `next` is where the page before ends; empty for the first page.
    pub(super) async fn objects(&self, objects: &Collection, next: &str) -> Result<Page, client::Error> {
        self.page(objects, next, |next| Paths::new(objects.path("")).list(&params(PAGE, next))).await
    }

    /// An object of a list, in this version.
    pub(super) async fn object(&self, objects: &Collection, listed: &Value) -> Result<Value, client::Error> {
        let metadata = &listed["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        let paths = Paths::new(objects.path(metadata["namespace"].as_str().unwrap_or_default()));
        self.send("get", &resource(objects), Some(name), paths.get(name, &GetParams::default())).await
    }

    /// The served versions of a group, the most preferred first.
    pub(super) async fn preferred(&self, group: &str) -> Result<Vec<String>, client::Error> {
        let path = format!("/apis/{group}");
        let made = HttpRequest::get(path).body(Vec::new()).map_err(kube::core::request::Error::BuildRequest);
        match self.send::<Value>("get", "discovery", None, made).await {
            Ok(found) => {
                let versions = found["versions"].as_array().into_iter().flatten();
                Ok(versions.filter_map(|version| Some(version["version"].as_str()?.to_owned())).collect())
            }
            Err(error) if error.status().is_some_and(|status| status.code == 404) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// A page of the metadata of the objects in all namespaces, ordered by namespace and name.
    pub(super) async fn metadata(
        &self,
        objects: &Collection,
        size: u32,
        next: &str,
    ) -> Result<Page, client::Error> {
        self.page(objects, next, |next| Paths::new(objects.path("")).list_metadata(&params(size, next))).await
    }

    /// A continue token that expired is replaced by the one that the server offers for it: the rest of the list is of a later
    /// time.
    async fn page(
        &self,
        objects: &Collection,
        next: &str,
        made: impl Fn(&str) -> Result<HttpRequest<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<Page, client::Error> {
        let list = match self.send("list", &resource(objects), None, made(next)).await {
            Err(error) if error.is_gone() && !next.is_empty() => {
                let offered = error.status().and_then(|status| status.metadata.as_ref()?.continue_.clone());
                let Some(token) = offered.filter(|token| !token.is_empty()) else { return Err(error) };
                self.send("list", &resource(objects), None, made(&token)).await
            }
            list => list,
        };
        let mut list: Value = list?;
        let items = match list.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items.into_iter().filter(Value::is_object).collect(),
            _ => Vec::new(),
        };
        let next = list["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        Ok(Page { items, next, remaining: list["metadata"]["remainingItemCount"].as_u64() })
    }

    /// Makes the server write an unchanged object again, in the storage version.
    ///
    /// Source: kube-controller-manager's `storageversionmigrator.go` applies only uid and resource version. The uid
    /// keeps a deleted object from being created, and the resource version makes a changed object a conflict: the
    /// other writer has written it in the storage version.
    pub(super) async fn rewrite(
        &self,
        objects: &Collection,
        object: &Value,
        params: &PatchParams,
    ) -> Result<Value, client::Error> {
        let metadata = &object["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        let patch = Patch::Apply(json!({
            "apiVersion": format!("{}/{}", objects.group, objects.version),
            "kind": objects.kind,
            "metadata": {"name": name, "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]},
        }));
        let paths = Paths::new(objects.path(metadata["namespace"].as_str().unwrap_or_default()));
        self.send("patch", &resource(objects), Some(name), paths.patch(name, params, &patch)).await
    }

    async fn send<T: DeserializeOwned>(
        &self,
        verb: &'static str,
        resource: &str,
        name: Option<&str>,
        made: Result<HttpRequest<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, client::Error> {
        let failed = |source| {
            let name = name.map(str::to_owned);
            let request = Request { verb, resource: resource.to_owned(), namespace: None, name };
            client::Error::from_kube(request, source)
        };
        let request = made.map_err(|error| failed(kube::Error::BuildRequest(error)))?;
        self.0.request(request).await.map_err(failed)
    }
}

fn params(size: u32, next: &str) -> ListParams {
    let params = ListParams::default().limit(size);
    if next.is_empty() { params } else { params.continue_token(next) }
}

fn resource(objects: &Collection) -> String {
    format!("{}.{}", objects.plural, objects.group)
}
