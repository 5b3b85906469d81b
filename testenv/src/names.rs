//! The rules for names, labels and annotations, with kube-apiserver's texts.

use kubesmith_apiextensions::structural::names;
use serde_json::Value;

use crate::status::Cause;

const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// Total size of an object's annotations, in bytes (apimachinery's `TotalAnnotationSizeLimitB`).
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// Which names a kind accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// RFC 1123 subdomain, at most 253 characters.
    Subdomain,
    /// RFC 1123 label, at most 63 characters.
    Label,
    /// RFC 1035 label, at most 63 characters.
    Label1035,
    /// Anything that can be one segment of a path.
    PathSegment,
}

impl NameRule {
    /// What is wrong with `name`.
    pub(crate) fn check(self, name: &str) -> Vec<String> {
        match self {
            Self::Subdomain => names::dns1123_subdomain(name),
            Self::Label => dns1123_label(name),
            Self::Label1035 => names::dns1035_label(name),
            Self::PathSegment => path_segment(name),
        }
    }
}

fn dns1123_label(name: &str) -> Vec<String> {
    let mut out = Vec::new();
    if name.len() > 63 {
        out.push("must be no more than 63 characters".to_owned());
    }
    if name.contains('.') || !names::dns1123_subdomain(name).is_empty() {
        out.push(LABEL_1123.to_owned());
    }
    out
}

fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"].iter().filter(|c| name.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

/// Checks `metadata` of an object that has its final name.
pub(crate) fn check_metadata(object: &Value, rule: NameRule) -> Vec<Cause> {
    let metadata = &object["metadata"];
    let mut causes = Vec::new();
    let name = metadata["name"].as_str().unwrap_or_default();
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else {
        for fault in rule.check(name) {
            causes.push(Cause::invalid("metadata.name", quoted(name), &fault));
        }
    }
    for (key, value) in metadata["labels"].as_object().into_iter().flatten() {
        for fault in names::qualified_name(key) {
            causes.push(Cause::invalid("metadata.labels", quoted(key), &fault));
        }
        let value = value.as_str().unwrap_or_default();
        for fault in names::label_value(value) {
            causes.push(Cause::invalid("metadata.labels", quoted(value), &fault));
        }
    }
    check_annotations(&metadata["annotations"], &mut causes);
    check_finalizers(&metadata["finalizers"], &mut causes);
    check_owners(&metadata["ownerReferences"], &mut causes);
    causes
}

fn check_annotations(annotations: &Value, causes: &mut Vec<Cause>) {
    let mut size = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        for fault in names::qualified_name(&key.to_lowercase()) {
            causes.push(Cause::invalid("metadata.annotations", quoted(key), &fault));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_LIMIT {
        let message = format!("Too long: may not be more than {ANNOTATIONS_LIMIT} bytes");
        causes.push(Cause::new("FieldValueTooLong", "metadata.annotations", message));
    }
}

fn check_finalizers(finalizers: &Value, causes: &mut Vec<Cause>) {
    for (i, finalizer) in crate::meta::strings(finalizers).into_iter().enumerate() {
        for fault in names::qualified_name(finalizer) {
            causes.push(Cause::invalid("metadata.finalizers", quoted(finalizer), &fault));
        }
        let standard = matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion");
        if !finalizer.contains('/') && !standard {
            let text = "name is neither a standard finalizer name nor is it fully qualified";
            causes.push(Cause::invalid(format!("metadata.finalizers[{i}]"), quoted(finalizer), text));
        }
    }
}

fn check_owners(owners: &Value, causes: &mut Vec<Cause>) {
    let mut controllers = 0;
    for (i, owner) in owners.as_array().into_iter().flatten().enumerate() {
        for (field, text) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if owner[field].as_str().unwrap_or_default().is_empty() {
                causes.push(Cause::invalid(format!("metadata.ownerReferences[{i}].{field}"), "\"\"", text));
            }
        }
        controllers += usize::from(owner["controller"] == Value::Bool(true));
    }
    if controllers > 1 {
        let text = "Only one reference can have Controller set to true.";
        causes.push(Cause::invalid("metadata.ownerReferences", owners, text));
    }
}

/// A string as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_rule() {
        assert!(NameRule::Subdomain.check("a.b-c.1").is_empty());
        for bad in ["", "A", "a..b", "-a", "a-", "a_b"] {
            assert!(!NameRule::Subdomain.check(bad).is_empty(), "{bad:?}");
        }
        assert!(!NameRule::Label.check("a.b").is_empty());
        assert!(!NameRule::Label1035.check("1a").is_empty());
        assert!(NameRule::PathSegment.check("system:node").is_empty());
        assert!(!NameRule::PathSegment.check("a/b").is_empty());
    }
}
