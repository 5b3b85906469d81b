//! The requests of a fake's clients.

use std::fmt;

use bytes::Bytes;
use http::Method;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use kube::core::GroupVersionResource;
use kubesmith_apiserver::request::{self, Query, ResourcePath, Target};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The format of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PatchType {
    /// A list of operations, RFC 6902.
    Json,
    /// A patch of changed members, RFC 7386.
    Merge,
    /// A merge patch with keys of lists.
    StrategicMerge,
    /// Server-side apply.
    Apply,
}

/// A client's request: client-go's `testing.Action`.
///
/// [`Display`](fmt::Display) formats it briefly, for comparisons of whole sequences:
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::{Api, Client, api::PostParams};
/// use kubesmith_testenv::fake::Fake;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let fake = Fake::<Client>::builder().build()?;
/// let maps: Api<ConfigMap> = Api::namespaced(fake.client(), "shop");
/// let mut map = ConfigMap::default();
/// map.metadata.name = Some("prices".to_owned());
/// maps.create(&PostParams::default(), &map).await?;
/// maps.get("prices").await?;
///
/// let actions = fake.actions();
/// assert!(actions[0].matches("create", "configmaps"));
/// assert_eq!(actions[0].object::<ConfigMap>(), Some(map));
/// assert_eq!(actions[1].to_string(), "get configmaps shop/prices");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    verb: &'static str,
    path: String,
    resource: ResourcePath,
    options: Vec<(String, String)>,
    patch_type: Option<PatchType>,
    body: Option<Value>,
}

impl Action {
    /// Decodes a request.
    pub(crate) fn of(parts: &Parts, body: &Bytes) -> Self {
        let path = parts.uri.path().to_owned();
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        let patch_type = patch_type(parts);
        let body = read(body, patch_type.is_some());
        let (verb, mut resource) = match request::parse_path(&path) {
            Ok(Target::Resource(target)) => (verb(&parts.method, &target, &query), target),
            target => (method(&parts.method), discovery(target.ok())),
        };
        if let ("create", true, Some(body)) = (verb, resource.name.is_empty(), &body) {
            resource.name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        }
        Self { verb, path, resource, options: query.into_pairs(), patch_type, body }
    }

    /// Returns the verb as RBAC names it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`,
    /// `deletecollection`. Other requests than those for resources have their method, such as `get`.
    #[must_use]
    pub fn verb(&self) -> &str {
        self.verb
    }

    /// Returns the resource's plural name. As in client-go, discovery has the resources `version`, `group` and
    /// `resource`; empty for other paths.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource.resource
    }

    /// Returns the resource's group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.resource.group
    }

    /// Returns the resource's version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.resource.version
    }

    /// Returns group, version and resource together.
    #[must_use]
    pub fn gvr(&self) -> GroupVersionResource {
        GroupVersionResource::gvr(self.group(), self.version(), self.resource())
    }

    /// Returns `status`, `scale` or another subresource; empty for the object itself.
    #[must_use]
    pub fn subresource(&self) -> &str {
        &self.resource.subresource
    }

    /// Returns the namespace; empty for all of them and for cluster scope.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.resource.namespace
    }

    /// Returns the object's name; empty for a collection, and for a new object without a name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.resource.name
    }

    /// Returns the path of the request.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the body: the object of a create or an update, the patch, the options of a delete.
    #[must_use]
    pub fn body(&self) -> Option<&Value> {
        self.body.as_ref()
    }

    /// Returns the object of a create or an update, or the applied configuration; `None` if it does not deserialize as
    /// `K`.
    #[must_use]
    pub fn object<K: DeserializeOwned>(&self) -> Option<K> {
        let is_object = matches!(self.verb, "create" | "update") || self.patch_type == Some(PatchType::Apply);
        let body = self.body.as_ref().filter(|_| is_object)?;
        K::deserialize(body).ok()
    }

    /// Returns the content of a patch.
    #[must_use]
    pub fn patch(&self) -> Option<&Value> {
        self.body.as_ref().filter(|_| self.patch_type.is_some())
    }

    /// Returns the kind of the patch; `None` for other verbs.
    #[must_use]
    pub fn patch_type(&self) -> Option<PatchType> {
        self.patch_type
    }

    /// Returns an option of the request, by its name in the query: `fieldManager`, `force`, `dryRun`, `labelSelector`,
    /// `resourceVersion` and so on.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Reports whether the request is a read: `get`, `list` or `watch`. Informers and discovery make no others.
    #[must_use]
    pub fn is_read(&self) -> bool {
        matches!(self.verb, "get" | "list" | "watch")
    }

    /// Reports whether the request has this verb and resource, as for reactors. `*` matches everything. `carts` is the
    /// resource with its subresources in any group, `carts/status` the subresource alone; `carts.shop.example.com`
    /// names the group.
    #[must_use]
    pub fn matches(&self, verb: &str, resource: &str) -> bool {
        let same_verb = verb == "*" || verb == self.verb || (verb, self.verb) == GO_NAME;
        same_verb && self.is_for(resource)
    }

    fn is_for(&self, resource: &str) -> bool {
        if resource == "*" {
            return true;
        }
        let (resource, subresource) =
            resource.split_once('/').map_or((resource, None), |(r, sub)| (r, Some(sub)));
        let (resource, group) = resource.split_once('.').map_or((resource, None), |(r, g)| (r, Some(g)));
        resource == self.resource()
            && group.is_none_or(|group| group == self.group())
            && subresource.is_none_or(|subresource| subresource == "*" || subresource == self.subresource())
    }
}

/// client-go's name of a verb, where RBAC's name differs.
const GO_NAME: (&str, &str) = ("delete-collection", "deletecollection");

impl fmt::Display for Action {
    /// `update carts.shop.example.com/status default/a`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.resource().is_empty() {
            return write!(f, "{} {}", self.verb, self.path);
        }
        write!(f, "{} {}", self.verb, self.resource())?;
        for (mark, part) in [('.', self.group()), ('/', self.subresource())] {
            if !part.is_empty() {
                write!(f, "{mark}{part}")?;
            }
        }
        match (self.namespace(), self.name()) {
            ("", "") => Ok(()),
            ("", name) => write!(f, " {name}"),
            (namespace, name) => write!(f, " {namespace}/{name}"),
        }
    }
}

fn verb(asked: &Method, target: &ResourcePath, query: &Query) -> &'static str {
    let one = !target.name.is_empty();
    match *asked {
        Method::GET | Method::HEAD if target.watch || query.flag("watch") => "watch",
        Method::GET | Method::HEAD if one => "get",
        Method::GET | Method::HEAD => "list",
        Method::POST => "create",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if one => "delete",
        Method::DELETE => "deletecollection",
        _ => "",
    }
}

/// Returns the verb of a request for another path than a resource's.
fn method(asked: &Method) -> &'static str {
    match *asked {
        Method::GET | Method::HEAD => "get",
        Method::POST => "post",
        Method::PUT => "put",
        Method::PATCH => "patch",
        Method::DELETE => "delete",
        _ => "",
    }
}

/// Returns the resource that client-go's fake discovery records.
fn discovery(target: Option<Target>) -> ResourcePath {
    let named = |resource: &str| ResourcePath { resource: resource.to_owned(), ..ResourcePath::default() };
    match target {
        Some(Target::CoreVersions | Target::Groups | Target::Group(_)) => named("group"),
        Some(Target::GroupVersion(group, version)) => ResourcePath { group, version, ..named("resource") },
        Some(Target::Other(path)) if path == "/version" => named("version"),
        _ => ResourcePath::default(),
    }
}

fn patch_type(parts: &Parts) -> Option<PatchType> {
    if parts.method != Method::PATCH {
        return None;
    }
    let given = parts.headers.get(CONTENT_TYPE)?.to_str().ok()?;
    match given.split(';').next().unwrap_or_default().trim() {
        "application/json-patch+json" => Some(PatchType::Json),
        "application/merge-patch+json" => Some(PatchType::Merge),
        "application/strategic-merge-patch+json" => Some(PatchType::StrategicMerge),
        text if text.starts_with("application/apply-patch+") => Some(PatchType::Apply),
        _ => None,
    }
}

/// Decodes a body as JSON; `None` if it is empty or malformed.
fn read(body: &[u8], patch: bool) -> Option<Value> {
    if body.is_empty() {
        return None;
    }
    if request::is_protobuf(body) && !patch {
        return request::read_protobuf(body);
    }
    request::read_json_or_yaml(body)
}
