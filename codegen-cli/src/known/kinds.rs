//! The kinds of Kubernetes that have clients, with what a client has to know of each.
//!
//! kinds.txt is written by hack/kubernetes-kinds.py from what client-gen and k8s-openapi are made of.

use std::sync::LazyLock;

use crate::ir::{Scope, Verb};

const TEXT: &str = include_str!("kinds.txt");

/// The version of Kubernetes that the table is of.
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

    /// Whether there are lists of it.
    pub fn is_listed(&self) -> bool {
        self.verbs.contains(&Verb::List)
    }
}

static TABLE: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let kinds = TEXT.lines().filter(|line| !line.starts_with(['#', ' ']));
    kinds.filter_map(kind).collect()
});

/// Every kind, ordered by group, version and kind.
pub fn all() -> &'static [Kind] {
    &TABLE
}

/// `None` for a line that says too little; a test counts the lines.
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
        verbs: word()?.split(',').map(verb).collect::<Option<_>>()?,
    })
}

fn verb(name: &str) -> Option<Verb> {
    Some(match name {
        "create" => Verb::Create,
        "update" => Verb::Update,
        "updateStatus" => Verb::UpdateStatus,
        "delete" => Verb::Delete,
        "deleteCollection" => Verb::DeleteCollection,
        "get" => Verb::Get,
        "list" => Verb::List,
        "watch" => Verb::Watch,
        "patch" => Verb::Patch,
        "apply" => Verb::Apply,
        "applyStatus" => Verb::ApplyStatus,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{find, openapi_name};
    use super::*;

    #[test]
    fn every_line_is_understood() {
        let lines = TEXT.lines().filter(|line| !line.starts_with(['#', ' '])).count();
        assert_eq!(all().len(), lines);
        assert!(lines > 90, "{lines}");
        let deployment = all().iter().find(|kind| kind.kind == "Deployment").unwrap();
        assert_eq!((deployment.api_version().as_str(), deployment.plural), ("apps/v1", "deployments"));
        assert_eq!((deployment.scope, deployment.verbs.len()), (Scope::Namespaced, 11));
    }

    #[test]
    fn every_kind_is_a_type_of_k8s_openapi() {
        for kind in all() {
            assert!(find(&kind.path).is_some() && openapi_name(&kind.path).is_some(), "{}", kind.path);
        }
    }
}
