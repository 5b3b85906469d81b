//! The rules for names, labels and annotations, with kube-apiserver's texts.

use serde_json::Value;

use crate::status::Cause;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation \
is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

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
            Self::Subdomain => checked(name, 253, is_subdomain(name), SUBDOMAIN),
            Self::Label => checked(name, 63, is_dns_label(name), LABEL_1123),
            Self::Label1035 => {
                let fits = is_dns_label(name) && name.starts_with(|c: char| c.is_ascii_lowercase());
                checked(name, 63, fits, LABEL_1035)
            }
            Self::PathSegment => path_segment(name),
        }
    }
}

fn checked(name: &str, limit: usize, fits: bool, text: &str) -> Vec<String> {
    let mut out = Vec::new();
    if name.len() > limit {
        out.push(format!("must be no more than {limit} characters"));
    }
    if !fits {
        out.push(text.to_owned());
    }
    out
}

fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"].iter().filter(|c| name.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

fn is_dns_label(s: &str) -> bool {
    let edge = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = s.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            edge(*first) && edge(*last) && bytes.iter().all(|b| edge(*b) || *b == b'-')
        }
        _ => false,
    }
}

/// Whether `s` is an RFC 1123 subdomain, whatever its length.
pub(crate) fn is_subdomain(s: &str) -> bool {
    s.split('.').all(is_dns_label)
}

fn is_name_part(s: &str) -> bool {
    let edge = |b: u8| b.is_ascii_alphanumeric();
    let bytes = s.as_bytes();
    match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            edge(*first) && edge(*last) && bytes.iter().all(|b| edge(*b) || matches!(b, b'-' | b'_' | b'.'))
        }
        _ => false,
    }
}

/// What is wrong with a qualified name, such as a label's key.
pub(crate) fn qualified_name(key: &str) -> Vec<String> {
    let mut out = Vec::new();
    let parts: Vec<&str> = key.split('/').collect();
    let part = match parts.as_slice() {
        [part] => *part,
        [prefix, part] => {
            if prefix.is_empty() {
                out.push("prefix part must be non-empty".to_owned());
            } else {
                out.extend(NameRule::Subdomain.check(prefix).into_iter().map(|e| format!("prefix part {e}")));
            }
            *part
        }
        _ => {
            let rest = QUALIFIED.replacen("name part must", "a valid label key must", 1);
            out.push(format!(
                "{rest} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
            return out;
        }
    };
    if part.is_empty() {
        out.push("name part must be non-empty".to_owned());
    } else if part.len() > 63 {
        out.push("name part must be no more than 63 characters".to_owned());
    }
    if !is_name_part(part) {
        out.push(QUALIFIED.to_owned());
    }
    out
}

/// What is wrong with a label's value.
pub(crate) fn label_value(value: &str) -> Vec<String> {
    checked(value, 63, value.is_empty() || is_name_part(value), LABEL_VALUE)
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
        for fault in qualified_name(key) {
            causes.push(Cause::invalid("metadata.labels", quoted(key), &fault));
        }
        let value = value.as_str().unwrap_or_default();
        for fault in label_value(value) {
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
        for fault in qualified_name(&key.to_lowercase()) {
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
        for fault in qualified_name(finalizer) {
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

    #[test]
    fn label_keys_may_have_a_prefix() {
        assert!(qualified_name("example.com/Key_1").is_empty());
        for bad in ["", "/x", "a/b/c", "Bad.Prefix!/x", "x y"] {
            assert!(!qualified_name(bad).is_empty(), "{bad:?}");
        }
    }
}
