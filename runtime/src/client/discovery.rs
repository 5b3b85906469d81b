//! Discovery: the groups, versions and resources of a server.

use std::collections::BTreeSet;

use futures::StreamExt;
use futures::stream;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    APIGroup, APIResource, APIResourceList, GroupVersionForDiscovery,
};
use k8s_openapi::apimachinery::pkg::version::Info;
use kube::core::{ApiResource, GroupVersionKind, GroupVersionResource, Status};

use super::Error;
use super::error::Request;
use crate::object::DynamicKind;

/// The number of concurrent requests for versions.
const AT_ONCE: usize = 16;

/// Server version, groups and resources.
///
/// ```no_run
/// # async fn example(client: kube::Client) -> Result<(), kubesmith_runtime::client::Error> {
/// use kubesmith_runtime::client::Discovery;
///
/// let discovery = Discovery::new(client);
/// println!("{}", discovery.server_version().await?.git_version);
/// for group in discovery.server_groups().await? {
///     println!("{}: {} versions", group.name, group.versions.len());
/// }
/// for resource in discovery.server_resources_for_group_version("apps/v1").await? {
///     println!("{} {}", resource.name, resource.kind);
/// }
/// assert!(discovery.serves("v1", "pods").await?);
/// # Ok(())
/// # }
/// ```
///
/// All resources that can be listed:
///
/// ```no_run
/// # async fn example(client: kube::Client) -> Result<(), kubesmith_runtime::client::Error> {
/// use kubesmith_runtime::client::{Discovery, ServerResources};
///
/// let ServerResources { resources, failed } = Discovery::new(client.clone()).server_preferred_resources().await?;
/// for list in resources {
///     for served in list.resources.iter().filter(|served| served.verbs.iter().any(|verb| verb == "list")) {
///         println!("{} {}", list.group_version, served.name);
///     }
/// }
/// for (group_version, error) in failed {
///     eprintln!("{group_version}: {error}");
/// }
/// let (groups, _) = Discovery::new(client).server_groups_and_resources().await?;
/// println!("{} groups", groups.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Discovery {
    client: kube::Client,
}

/// The resources of a server, as far as they could be read. [`Discovery`] has an example.
#[derive(Debug, Default)]
pub struct ServerResources {
    /// The resources by group and version, in the server's order.
    pub resources: Vec<APIResourceList>,
    /// The versions (`group/version`) whose resources could not be read, and why.
    pub failed: Vec<(String, Error)>,
}

impl Discovery {
    /// Makes discovery through `client`.
    #[must_use]
    pub fn new(client: kube::Client) -> Self {
        Self { client }
    }

    /// Returns the server's version (`/version`).
    ///
    /// # Errors
    /// The server's refusal or a transport failure.
    pub async fn server_version(&self) -> Result<Info, Error> {
        self.client.apiserver_version().await.map_err(|error| failed("/version", error))
    }

    /// Returns the groups with their versions (`/apis`), in the server's order, without the core group.
    ///
    /// # Errors
    /// The server's refusal or a transport failure.
    pub async fn server_groups(&self) -> Result<Vec<APIGroup>, Error> {
        let list = self.client.list_api_groups().await.map_err(|error| failed("/apis", error))?;
        Ok(list.groups)
    }

    /// Returns the resources of a group version (`v1` or `group/version`), including subresources.
    ///
    /// # Errors
    /// Not found if the server does not serve the group version; otherwise the server's refusal or a transport
    /// failure.
    pub async fn server_resources_for_group_version(
        &self,
        group_version: &str,
    ) -> Result<Vec<APIResource>, Error> {
        let (path, answer) = if group_version.contains('/') {
            (format!("/apis/{group_version}"), self.client.list_api_group_resources(group_version).await)
        } else {
            (format!("/api/{group_version}"), self.client.list_core_api_resources(group_version).await)
        };
        answer.map(|list| list.resources).map_err(|error| failed(&path, error))
    }

    /// Reports whether the server serves `plural` in `group_version`.
    ///
    /// # Errors
    /// As [`Self::server_resources_for_group_version`], except that an unknown group version is `false`.
    pub async fn serves(&self, group_version: &str, plural: &str) -> Result<bool, Error> {
        match self.server_resources_for_group_version(group_version).await {
            Ok(resources) => Ok(resources.iter().any(|resource| resource.name == plural)),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// All groups and versions at once.
impl Discovery {
    /// Returns the groups, the core group first, and the resources of all their versions, including subresources:
    /// client-go's `ServerGroupsAndResources`.
    ///
    /// # Errors
    /// The groups cannot be read. Versions whose resources cannot be read, for instance of an unavailable
    /// aggregated API, are in [`ServerResources::failed`].
    pub async fn server_groups_and_resources(&self) -> Result<(Vec<APIGroup>, ServerResources), Error> {
        let core = self.client.list_core_api_versions().await.map_err(|error| failed("/api", error))?;
        let mut groups = vec![core_group(core.versions)];
        groups.extend(self.server_groups().await?);
        let versions = groups.iter().flat_map(|group| &group.versions).map(|version| &version.group_version);
        let asked = versions.map(|version| async move {
            (version.clone(), self.server_resources_for_group_version(version).await)
        });
        let answers: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        let mut found = ServerResources::default();
        for (group_version, answer) in answers {
            match answer {
                Ok(resources) => found.resources.push(APIResourceList { group_version, resources }),
                Err(error) => found.failed.push((group_version, error)),
            }
        }
        Ok((groups, found))
    }

    /// Returns every resource in the server's preferred version, or in the first that has it, without subresources:
    /// client-go's `ServerPreferredResources`. Programs that list all objects of a cluster need it.
    ///
    /// # Errors
    /// As [`Self::server_groups_and_resources`].
    pub async fn server_preferred_resources(&self) -> Result<ServerResources, Error> {
        let (groups, mut found) = self.server_groups_and_resources().await?;
        let mut preferred = Vec::new();
        for group in &groups {
            let mut versions: Vec<_> = group.versions.iter().collect();
            let wanted = group.preferred_version.as_ref().map(|version| &version.version);
            versions.sort_by_key(|version| Some(&version.version) != wanted);
            let mut seen = BTreeSet::new();
            for version in versions {
                let is_it = |list: &APIResourceList| list.group_version == version.group_version;
                let Some(at) = found.resources.iter().position(is_it) else { continue };
                let mut list = found.resources.swap_remove(at);
                list.resources
                    .retain(|served| !served.name.contains('/') && seen.insert(served.name.clone()));
                if !list.resources.is_empty() {
                    preferred.push(list);
                }
            }
        }
        found.resources = preferred;
        Ok(found)
    }
}

fn core_group(versions: Vec<String>) -> APIGroup {
    let version = |version: String| GroupVersionForDiscovery { group_version: version.clone(), version };
    let versions: Vec<_> = versions.into_iter().map(version).collect();
    APIGroup { preferred_version: versions.first().cloned(), versions, ..APIGroup::default() }
}

/// Kinds that are known only at run time.
impl Discovery {
    /// Returns the kind of a resource.
    ///
    /// # Errors
    /// [`Error::is_not_found`] if the server does not serve it: is the CRD installed? Otherwise as
    /// [`Self::server_resources_for_group_version`].
    ///
    /// ```no_run
    /// use kube::core::GroupVersionResource;
    /// use kubesmith_runtime::client::Discovery;
    ///
    /// # async fn example(client: kube::Client) -> Result<(), kubesmith_runtime::client::Error> {
    /// let widgets = GroupVersionResource::gvr("example.com", "v1", "widgets");
    /// println!("{:?}", Discovery::new(client).kind_of(&widgets).await?.scope);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn kind_of(&self, resource: &GroupVersionResource) -> Result<DynamicKind, Error> {
        let is_it = |served: &APIResource| served.name == resource.resource;
        self.find(&resource.group, &resource.version, &resource.resource, is_it).await
    }

    /// Returns a kind by its name, if its plural is not known.
    ///
    /// # Errors
    /// As [`Self::kind_of`].
    pub async fn kind(&self, kind: &GroupVersionKind) -> Result<DynamicKind, Error> {
        // Subresources have names like `pods/status`.
        let is_it = |served: &APIResource| served.kind == kind.kind && !served.name.contains('/');
        self.find(&kind.group, &kind.version, &kind.kind, is_it).await
    }

    async fn find(
        &self,
        group: &str,
        version: &str,
        name: &str,
        is_it: impl Fn(&APIResource) -> bool,
    ) -> Result<DynamicKind, Error> {
        let group_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let served = self.server_resources_for_group_version(&group_version).await?;
        let Some(found) = served.into_iter().find(is_it) else {
            let message =
                format!("the server has no {name:?} in {group_version}; is the CRD installed and served?");
            let status = Status::failure(&message, "NotFound").with_code(404).boxed();
            let request = Request { verb: "discover", resource: group_version, namespace: None, name: None };
            return Err(Error::Api { request, status });
        };
        let kind = GroupVersionKind::gvk(group, version, &found.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &found.name);
        Ok(if found.namespaced { DynamicKind::namespaced(resource) } else { DynamicKind::cluster(resource) })
    }
}

impl std::fmt::Debug for Discovery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Discovery").finish_non_exhaustive()
    }
}

fn failed(path: &str, error: kube::Error) -> Error {
    let request = Request { verb: "get", resource: path.to_owned(), namespace: None, name: None };
    Error::from_kube(request, error)
}
