//! Fields of apply configurations and their names in Rust.

use std::collections::BTreeSet;

use super::super::names;
use super::Form;

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    /// Name in JSON.
    pub(super) json: String,
    /// Name in Rust; `_` follows a keyword.
    pub(super) rust: String,
    /// Its contents.
    pub(super) form: Form,
    /// Its documentation.
    pub(super) doc: String,
    /// Whether its content's fields are beside the other fields: `flatten`.
    pub(super) flatten: bool,
    /// Whether it is boxed, as it may contain its own struct.
    pub(super) boxed: bool,
}

impl Field {
    pub(super) fn new(json: &str, rust: &str, form: Form, doc: &str) -> Self {
        Self {
            json: json.to_owned(),
            rust: names::identifier(&snake(rust.trim_start_matches("r#"))),
            form,
            doc: doc.to_owned(),
            flatten: false,
            boxed: false,
        }
    }
}

/// `apiVersion` and `kind`, which every patch of an object needs.
pub(super) fn type_meta() -> [Field; 2] {
    let text = || Form::Whole { path: "String".to_owned(), converts: true };
    [
        Field::new("apiVersion", "api_version", text(), "Group and version of the object."),
        Field::new("kind", "kind", text(), "Kind of the object."),
    ]
}

/// Renames fields with equal names in Rust; those from several structs may differ only in JSON.
pub(super) fn settle_names(fields: &mut [Field]) {
    let mut taken = BTreeSet::new();
    for field in fields {
        if taken.contains(&field.rust) {
            field.rust = names::identifier(&snake(&field.json));
        }
        while !taken.insert(field.rust.clone()) {
            field.rust.push('_');
        }
    }
}

/// The name in snake case as in k8s-openapi: `podIPs` is `pod_ips`, `clusterIP` is `cluster_ip`.
pub(super) fn snake(json: &str) -> String {
    let chars: Vec<char> = json.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let upper = |at: usize| chars.get(at).is_some_and(char::is_ascii_uppercase);
    let mut out = String::new();
    for (at, c) in chars.iter().enumerate() {
        let after_lower = at > 0 && !upper(at - 1) && chars[at - 1] != '_';
        // The last capital of a run begins a word, unless the `s` of a plural follows.
        let is_plural = chars.get(at + 1) == Some(&'s') && (at + 2 == chars.len() || upper(at + 2));
        let begins_word =
            at > 0 && upper(at - 1) && chars.get(at + 1).is_some_and(char::is_ascii_lowercase) && !is_plural;
        if upper(at) && (after_lower || begins_word) {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names_equal_those_of_k8s_openapi() {
        for (json, rust) in [
            ("hostIP", "host_ip"),
            ("podIPs", "pod_ips"),
            ("clusterIPs", "cluster_ips"),
            ("nonResourceURLs", "non_resource_urls"),
            ("restartPolicy", "restart_policy"),
            ("setHostnameAsFQDN", "set_hostname_as_fqdn"),
            ("caBundle", "ca_bundle"),
            ("targetCPUUtilizationPercentage", "target_cpu_utilization_percentage"),
            ("targetWWNs", "target_wwns"),
            ("type", "type"),
            ("x-kubernetes-list-type", "x_kubernetes_list_type"),
            ("s3URLPrefix", "s3_url_prefix"),
        ] {
            assert_eq!(snake(json), rust);
        }
    }

    #[test]
    fn field_names_are_unique() {
        let field = |json: &str, rust: &str| {
            Field::new(json, rust, Form::Whole { path: "bool".to_owned(), converts: false }, "")
        };
        let mut fields = [
            field("a", "r#type"),
            field("b", "type"),
            field("B", "b"),
            field("b-", "b"),
            field("kind", "kind"),
        ];
        settle_names(&mut fields);
        let names: Vec<&str> = fields.iter().map(|field| field.rust.as_str()).collect();
        assert_eq!(names, ["type_", "b", "b_", "b__", "kind"]);
    }
}
