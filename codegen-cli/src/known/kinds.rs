//! Lists the kinds of Kubernetes with clients, and the facts that a client needs.
//!
//! hack/kubernetes-kinds.py writes kinds.txt from the sources of client-gen and k8s-openapi.

use std::sync::LazyLock;

use crate::ir::{Scope, Verb};

const TEXT: &str = include_str!("kinds.txt");

/// The version of Kubernetes in the table.
pub const RELEASE: &str = "1.36";

/// A kind of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Empty for the core group.
    pub group: &'static str,
    /// `v1`
    pub version: &'static str,
    /// `Deployment`
    pub kind: &'static str,
    /// Resource name in URLs: `deployments`.
    pub plural: &'static str,
    /// Cluster or namespaced.
    pub scope: Scope,
    /// `k8s_openapi::api::apps::v1::Deployment`
    pub path: String,
    /// The verbs of client-go's client.
    pub verbs: Vec<Verb>,
    /// The methods of client-go's client with names of their own.
    pub methods: Vec<Method>,
}

/// A method of a client with a name, and types, of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// `GetScale`
    pub name: &'static str,
    /// Its verb.
    pub verb: Verb,
    /// `scale`
    pub subresource: &'static str,
    /// `k8s_openapi::api::autoscaling::v1::Scale`; used only if the request has a body.
    pub input: String,
    /// `k8s_openapi::api::autoscaling::v1::Scale`
    pub result: String,
}

impl Kind {
    /// `apps/v1`, in the core group `v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Whether it can be listed.
    pub fn is_listed(&self) -> bool {
        self.verbs.contains(&Verb::List)
    }
}

static TABLE: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let mut kinds: Vec<Kind> = Vec::new();
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        match (line.strip_prefix(' '), kinds.last_mut()) {
            (Some(line), Some(kind)) => kind.methods.extend(method(line)),
            _ => kinds.extend(kind(line)),
        }
    }
    kinds
});

/// Every kind, ordered by group, version and kind.
pub fn all() -> &'static [Kind] {
    &TABLE
}

/// Parses a line; `None` for an incomplete line; a test counts the lines.
fn kind(line: &'static str) -> Option<Kind> {
    let mut words = line.split(' ');
    let mut word = || words.next();
    let api_version = word()?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Some(Kind {
        group,
        version,
        kind: word()?,
        plural: word()?,
        scope: if word()? == "cluster" { Scope::Cluster } else { Scope::Namespaced },
        path: format!("k8s_openapi::{}", word()?),
        verbs: word()?.split(',').map(Verb::parse).collect::<Option<_>>()?,
        methods: Vec::new(),
    })
}

/// Parses a method; `None` for an incomplete line; a test counts these lines, too.
fn method(line: &'static str) -> Option<Method> {
    let mut words = line.split(' ');
    let mut word = || words.next();
    Some(Method {
        name: word()?,
        verb: Verb::parse(word()?)?,
        subresource: word()?,
        input: format!("k8s_openapi::{}", word()?),
        result: format!("k8s_openapi::{}", word()?),
    })
}

/// The `apiVersion` and kind of a k8s-openapi type that is an object with metadata. `None`: another type, or
/// one of a group without clients.
pub fn sent(path: &str) -> Option<(String, &str)> {
    let (module, name) = path.rsplit_once("::")?;
    let properties = super::definition(super::openapi_name(path)?)?.get("properties")?;
    let is_object = ["apiVersion", "kind", "metadata"].iter().all(|field| properties.get(field).is_some());
    let is_neighbour = |kind: &&Kind| kind.path.rsplit_once("::").is_some_and(|(of, _)| of == module);
    let neighbour = all().iter().find(is_neighbour)?;
    is_object.then(|| (neighbour.api_version(), name))
}

/// A constant of k8s-openapi's trait `Resource`: `k8s_openapi::api::apps::v1::Deployment::API_VERSION`.
pub fn constant(path: &str) -> Option<String> {
    let (ty, name) = path.rsplit_once("::")?;
    let (api_version, kind) = sent(ty)?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    match name {
        "API_VERSION" => Some(api_version),
        "GROUP" => Some(group.to_owned()),
        "VERSION" => Some(version.to_owned()),
        "KIND" => Some(kind.to_owned()),
        "URL_PATH_SEGMENT" => {
            all().iter().find(|found| found.path == ty).map(|found| found.plural.to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{find, openapi_name};
    use super::*;

    #[test]
    fn every_line_of_the_table_parses() {
        let lines = TEXT.lines().filter(|line| !line.starts_with(['#', ' '])).count();
        assert_eq!(all().len(), lines);
        assert!(lines > 90, "{lines}");
        let deployment = all().iter().find(|kind| kind.kind == "Deployment").unwrap();
        assert_eq!((deployment.api_version().as_str(), deployment.plural), ("apps/v1", "deployments"));
        assert_eq!((deployment.scope, deployment.verbs.len()), (Scope::Namespaced, 11));
        let methods = TEXT.lines().filter(|line| line.starts_with(' ')).count();
        assert_eq!(all().iter().map(|kind| kind.methods.len()).sum::<usize>(), methods);
        assert_eq!(deployment.methods[1].name, "UpdateScale");
        assert_eq!(deployment.methods[1].input, "k8s_openapi::api::autoscaling::v1::Scale");
    }

    #[test]
    fn subresource_body_has_a_version_and_a_kind() {
        let sent = |path: &str| super::sent(path).map(|(version, kind)| format!("{version}/{kind}"));
        assert_eq!(sent("k8s_openapi::api::autoscaling::v1::Scale").as_deref(), Some("autoscaling/v1/Scale"));
        let token = "k8s_openapi::api::authentication::v1::TokenRequest";
        assert_eq!(sent(token).as_deref(), Some("authentication.k8s.io/v1/TokenRequest"));
        assert_eq!(sent("k8s_openapi::api::core::v1::Binding").as_deref(), Some("v1/Binding"));
        assert_eq!(sent("k8s_openapi::api::autoscaling::v1::ScaleSpec"), None);
        assert_eq!(sent("shop::v1::Cart"), None);
    }

    #[test]
    fn every_kind_is_a_type_of_k8s_openapi() {
        for kind in all() {
            let types = kind.methods.iter().flat_map(|method| [&method.input, &method.result]);
            for path in types.chain([&kind.path]) {
                assert!(find(path).is_some() && openapi_name(path).is_some(), "{path}");
            }
        }
    }
}
