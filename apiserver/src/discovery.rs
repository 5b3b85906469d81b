//! Discovery: groups, versions and resources.

use ::http::Method;
use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, VARY};
use ::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::builtin::certificates;
use crate::groups;
use crate::http::etag;
use crate::http::negotiate::{self, Endpoint, Shape};
use crate::http::path::Target;
use crate::http::reply::Reply;
use crate::registry::{Registry, ResourceDef};
use crate::status::{ApiError, ApiResult};

/// Handles a discovery path. Unknown paths are refused before methods and media types are looked at.
///
/// Groups are served by kube-aggregator and versions of custom resources by apiextensions-apiserver, without a router: any
/// method reads them. The rest are routes of go-restful.
pub(crate) fn answer(registry: &Registry, target: &Target, parts: &Parts) -> ApiResult<Reply> {
    if !is_known(registry, target) {
        return Err(ApiError::NoSuchPath);
    }
    let endpoint = match target {
        Target::CoreVersions => Endpoint::AllGroups,
        // kube-aggregator handles `/apis/` without aggregation.
        Target::Groups if !parts.uri.path().ends_with('/') => Endpoint::AllGroups,
        _ => Endpoint::Discovery,
    };
    let is_routed = match target {
        Target::CoreVersions => true,
        Target::GroupVersion(group, _) => groups::is_built_in(group),
        _ => false,
    };
    if is_routed {
        check_route(parts, negotiate::OBJECT_TYPES)?;
    }
    let accepted = negotiate::accept(&parts.headers, endpoint, true)?;
    if let Shape::Discovery(version) = &accepted.shape {
        let value = aggregated(registry, *target == Target::CoreVersions, version);
        let tag = etag::of(value["items"].to_string().as_bytes());
        let media_type = accepted.form.media_type();
        let content_type = format!("{media_type};g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
        let reply = etag::tagged(&parts.headers, &tag, || {
            Reply::value(200, &value, accepted.form).with_header(CONTENT_TYPE, &content_type)
        });
        return Ok(reply.with_header(VARY, "Accept").with_header(CACHE_CONTROL, "public"));
    }
    let value = match target {
        Target::CoreVersions => json!({
            "kind": "APIVersions", "versions": ["v1"],
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
        }),
        Target::Groups => {
            let groups: Vec<Value> =
                named_groups(registry).map(|(name, versions)| group(name, versions)).collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        Target::Group(name) => {
            let versions = registry.groups().get(name).ok_or(ApiError::NoSuchPath)?;
            let mut value = group(name, versions);
            value["kind"] = json!("APIGroup");
            value["apiVersion"] = json!("v1");
            value
        }
        Target::GroupVersion(group, version) => resource_list(registry, group, version),
        Target::Resource(_) | Target::Other(_) | Target::VerbAlone => return Err(ApiError::NoSuchPath),
    };
    Ok(Reply::value(200, &value, accepted.form))
}

fn is_known(registry: &Registry, target: &Target) -> bool {
    match target {
        Target::CoreVersions | Target::Groups => true,
        Target::Group(name) => !name.is_empty() && registry.groups().contains_key(name),
        Target::GroupVersion(group, version) => registry.has_version(group, version),
        Target::Resource(_) | Target::Other(_) | Target::VerbAlone => false,
    }
}

/// Checks the method and the media types of a route of go-restful that only reads.
pub(crate) fn check_route(parts: &Parts, produced: &[&str]) -> ApiResult<()> {
    if parts.method == Method::GET {
        negotiate::produced(&parts.headers, produced)
    } else {
        Err(ApiError::method_not_allowed())
    }
}

/// The groups beside the core group, as kube-aggregator sorts them.
fn named_groups(registry: &Registry) -> impl Iterator<Item = (&String, &Vec<String>)> {
    let mut groups: Vec<_> = registry.groups().iter().filter(|(name, _)| !name.is_empty()).collect();
    groups.sort_by_key(|(name, _)| std::cmp::Reverse(groups::priority(name)));
    groups.into_iter()
}

fn group(name: &str, versions: &[String]) -> Value {
    let entry =
        |version: &String| json!({"groupVersion": groups::api_version(name, version), "version": version});
    let all: Vec<Value> = versions.iter().map(entry).collect();
    json!({"name": name, "versions": all, "preferredVersion": all.first()})
}

/// The verbs of a resource.
pub(crate) fn verbs(def: &ResourceDef) -> Vec<&'static str> {
    if def.is_review() {
        return vec!["create"];
    }
    if def.is_computed() {
        return vec!["get", "list"];
    }
    if def.collection == "namespaces" {
        return vec!["create", "delete", "get", "list", "patch", "update", "watch"];
    }
    // kube-apiserver orders the verbs of custom resources and of its own differently.
    if def.is_custom() {
        vec!["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    } else {
        vec!["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    }
}

fn resource_list(registry: &Registry, group: &str, version: &str) -> Value {
    let mut resources = Vec::new();
    for def in registry.of_version(group, version) {
        let mut main = json!({
            "name": def.plural, "singularName": def.singular, "namespaced": def.namespaced, "kind": def.kind,
            "verbs": verbs(&def),
        });
        if !def.short_names.is_empty() {
            main["shortNames"] = json!(def.short_names);
        }
        if !def.categories.is_empty() {
            main["categories"] = json!(def.categories);
        }
        if def.is_stored() {
            main["storageVersionHash"] = json!(storage_version_hash(&def));
        }
        resources.push(main);
        for sub in subresources(&def) {
            let mut entry = json!({
                "name": format!("{}/{}", def.plural, sub.name), "singularName": "",
                "namespaced": def.namespaced, "kind": sub.kind, "verbs": sub.verbs,
            });
            if let Some((group, version)) = sub.group_version {
                entry["group"] = json!(group);
                entry["version"] = json!(version);
            }
            resources.push(entry);
        }
    }
    let mut list = json!({
        "kind": "APIResourceList", "groupVersion": groups::api_version(group, version), "resources": resources,
    });
    // The core group's list is encoded in a version without a name.
    if !group.is_empty() {
        list["apiVersion"] = "v1".into();
    }
    list
}

/// A subresource: its name, kind, that kind's group and version if they are not the resource's, and its verbs.
pub(crate) struct Subresource {
    pub(crate) name: &'static str,
    pub(crate) kind: String,
    pub(crate) group_version: Option<(&'static str, &'static str)>,
    pub(crate) verbs: &'static [&'static str],
}

const SUB_VERBS: &[&str] = &["get", "patch", "update"];

/// A subresource of a built-in kind that is an action: its resource, name, kind, that kind's group, and its verbs.
type Action =
    (&'static str, &'static str, &'static str, Option<(&'static str, &'static str)>, &'static [&'static str]);

const CONNECT: &[&str] = &["create", "get"];
const PROXY: &[&str] = &["create", "delete", "get", "patch", "update"];
const ACTIONS: &[Action] = &[
    (certificates::COLLECTION, "approval", "CertificateSigningRequest", None, SUB_VERBS),
    ("nodes", "proxy", "NodeProxyOptions", None, PROXY),
    ("pods", "attach", "PodAttachOptions", None, CONNECT),
    ("pods", "binding", "Binding", None, &["create"]),
    ("pods", "ephemeralcontainers", "Pod", None, SUB_VERBS),
    ("pods", "eviction", "Eviction", Some(("policy", "v1")), &["create"]),
    ("pods", "exec", "PodExecOptions", None, CONNECT),
    ("pods", "log", "Pod", None, &["get"]),
    ("pods", "portforward", "PodPortForwardOptions", None, CONNECT),
    ("pods", "proxy", "PodProxyOptions", None, PROXY),
    ("pods", "resize", "Pod", None, SUB_VERBS),
    ("serviceaccounts", "token", "TokenRequest", Some(("authentication.k8s.io", "v1")), &["create"]),
    ("services", "proxy", "ServiceProxyOptions", None, PROXY),
];

/// Reports whether a resource has a subresource of this name; the empty one is the resource itself.
pub(crate) fn is_served(def: &ResourceDef, subresource: &str) -> bool {
    subresource.is_empty() || subresources(def).iter().any(|known| known.name == subresource)
}

/// Returns the subresources of a resource.
pub(crate) fn subresources(def: &ResourceDef) -> Vec<Subresource> {
    let actions = ACTIONS.iter().filter(|(collection, ..)| *collection == def.collection);
    let mut out: Vec<Subresource> = actions
        .map(|(_, name, kind, group_version, verbs)| Subresource {
            name,
            kind: (*kind).to_owned(),
            group_version: *group_version,
            verbs,
        })
        .collect();
    if def.collection == "namespaces" {
        out.push(Subresource {
            name: "finalize",
            kind: def.kind.clone(),
            group_version: None,
            verbs: &["update"],
        });
    }
    if def.status {
        out.push(Subresource {
            name: "status",
            kind: def.kind.clone(),
            group_version: None,
            verbs: SUB_VERBS,
        });
    }
    if def.scale.is_some() {
        let group_version = Some(("autoscaling", "v1"));
        out.push(Subresource { name: "scale", kind: "Scale".to_owned(), group_version, verbs: SUB_VERBS });
    }
    // apiextensions puts the status before the scale, kube-apiserver's installer sorts by name.
    if !def.is_custom() {
        out.sort_by_key(|sub| sub.name);
    }
    out
}

/// kube-apiserver's hash of the stored version: the start of a SHA-256 of group, version and kind.
fn storage_version_hash(def: &ResourceDef) -> String {
    let (group, version) = def.stored_as.split_once('/').unwrap_or(("", &def.stored_as));
    let version = match def.kind.as_str() {
        // kube-apiserver 1.36 stores them as an older version.
        "CustomResourceDefinition" | "MutatingAdmissionPolicy" | "MutatingAdmissionPolicyBinding"
            if !def.is_custom() =>
        {
            "v1beta1"
        }
        _ => version,
    };
    let text = format!("{group}/{version}/{}", def.kind);
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    BASE64.encode(digest.as_ref().get(..8).unwrap_or_default())
}

/// Lists all groups at once, as `apidiscovery.k8s.io` defines it.
fn aggregated(registry: &Registry, core: bool, version: &str) -> Value {
    let groups: Vec<(&String, &Vec<String>)> = match core {
        true => registry.groups().get_key_value("").into_iter().collect(),
        false => named_groups(registry).collect(),
    };
    let items: Vec<Value> = groups
        .into_iter()
        .map(|(name, versions)| {
            let versions: Vec<Value> =
                versions.iter().map(|v| aggregated_version(registry, name, v)).collect();
            let mut metadata = json!({});
            if !name.is_empty() {
                metadata["name"] = json!(name);
            }
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"),
        "metadata": {}, "items": items,
    })
}

fn aggregated_version(registry: &Registry, group: &str, version: &str) -> Value {
    // Built-in kinds of the resource's own group and version have neither: the installer leaves them to the group
    // (`ConvertGroupVersionIntoToDiscovery` of apiserver's pkg/endpoints/discovery/aggregated).
    let kind = |def: &ResourceDef, other: Option<(&str, &str)>, kind: &str| {
        let own = if def.is_custom() { (group, version) } else { ("", "") };
        let (group, version) = other.unwrap_or(own);
        json!({"group": group, "version": version, "kind": kind})
    };
    let resources: Vec<Value> = registry
        .of_version(group, version)
        .iter()
        .map(|def| {
            let mut entry = json!({
                "resource": def.plural, "responseKind": kind(def, None, &def.kind),
                "scope": if def.namespaced { "Namespaced" } else { "Cluster" },
                "singularResource": def.singular, "verbs": verbs(def),
            });
            if !def.short_names.is_empty() {
                entry["shortNames"] = json!(def.short_names);
            }
            if !def.categories.is_empty() {
                entry["categories"] = json!(def.categories);
            }
            let subs: Vec<Value> = subresources(def)
                .iter()
                .map(|sub| {
                    let kind = kind(def, sub.group_version, &sub.kind);
                    json!({"subresource": sub.name, "responseKind": kind, "verbs": sub.verbs})
                })
                .collect();
            if !subs.is_empty() {
                entry["subresources"] = json!(subs);
            }
            entry
        })
        .collect();
    json!({"version": version, "resources": resources, "freshness": "Current"})
}
