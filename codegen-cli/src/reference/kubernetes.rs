//! Links Kubernetes' own types to its documentation.

/// Kubernetes' API reference for the version of the known types.
const REFERENCE: &str = "https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/";

/// Groups whose names are longer than those of their modules.
const GROUPS: &[(&str, &str)] = &[
    ("admissionregistration", "admissionregistration-k8s-io"),
    ("apiserverinternal", "internal-apiserver-k8s-io"),
    ("authentication", "authentication-k8s-io"),
    ("authorization", "authorization-k8s-io"),
    ("certificates", "certificates-k8s-io"),
    ("coordination", "coordination-k8s-io"),
    ("discovery", "discovery-k8s-io"),
    ("events", "events-k8s-io"),
    ("flowcontrol", "flowcontrol-apiserver-k8s-io"),
    ("networking", "networking-k8s-io"),
    ("node", "node-k8s-io"),
    ("rbac", "rbac-authorization-k8s-io"),
    ("resource", "resource-k8s-io"),
    ("scheduling", "scheduling-k8s-io"),
    ("storage", "storage-k8s-io"),
    ("storagemigration", "storagemigration-k8s-io"),
];

/// The name and address of a built-in type; `None` for types outside Kubernetes.
pub(super) fn link(path: &str) -> Option<(String, String)> {
    let inner = path.strip_prefix("k8s_openapi::")?;
    let segments: Vec<&str> = inner.split("::").collect();
    let name = segments.last()?;
    let url = match segments[..] {
        ["api", group, version, name] => anchor(name, version, group),
        ["apimachinery", "pkg", "apis", "meta", version, name] => anchor(name, version, "meta"),
        [first, ref modules @ .., name] if !modules.is_empty() => {
            let repository = first.replace('_', "-");
            format!("https://pkg.go.dev/k8s.io/{repository}/{}#{name}", modules.join("/"))
        }
        _ => return None,
    };
    Some(((*name).to_string(), url))
}

fn anchor(name: &str, version: &str, group: &str) -> String {
    let group = GROUPS.iter().find(|(module, _)| *module == group).map_or(group, |(_, long)| long);
    format!("{REFERENCE}#{}-{version}-{group}", name.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_types_have_addresses() {
        for (path, end) in [
            ("k8s_openapi::api::core::v1::PodSpec", "/v1.36/#podspec-v1-core"),
            ("k8s_openapi::api::networking::v1::IngressSpec", "#ingressspec-v1-networking-k8s-io"),
            ("k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta", "#objectmeta-v1-meta"),
            (
                "k8s_openapi::apimachinery::pkg::util::intstr::IntOrString",
                "https://pkg.go.dev/k8s.io/apimachinery/pkg/util/intstr#IntOrString",
            ),
        ] {
            assert!(link(path).is_some_and(|(_, url)| url.ends_with(end)), "{path}");
        }
        assert_eq!(link("std::time::Duration"), None);
        assert_eq!(link("k8s_openapi::ByteString"), None);
    }
}
