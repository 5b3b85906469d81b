//! The checks of an object's own `metadata`: apimachinery's `ValidateObjectMeta`.

use std::net::IpAddr;

use serde_json::Value;

use super::cause::{BadValue, Cause, CauseKind};
use super::names;

/// Total size of an object's annotations, in bytes (apimachinery's `TotalAnnotationSizeLimitB`).
const ANNOTATIONS_LIMIT: usize = 256 * 1024;

/// The rule for a kind's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// RFC 1123 subdomain, at most 253 characters: custom resources, and most built-in kinds.
    Subdomain,
    /// As `Subdomain`, for kinds that check only the name made of a `generateName` (`ValidateObjectMetaWithOpts`).
    GeneratedSubdomain,
    /// RFC 1123 label, at most 63 characters.
    Label,
    /// RFC 1035 label, at most 63 characters.
    Label1035,
    /// Anything that can be one segment of a path.
    PathSegment,
    /// An IP address in its canonical form.
    Ip,
}

impl NameRule {
    /// Returns the faults of a name.
    #[must_use]
    pub fn check(self, name: &str) -> Vec<String> {
        match self {
            Self::Subdomain | Self::GeneratedSubdomain => names::dns1123_subdomain(name),
            Self::Label => names::dns1123_label(name),
            Self::Label1035 => names::dns1035_label(name),
            Self::PathSegment => path_segment(name),
            Self::Ip => ip_address(name),
        }
    }

    /// Returns the faults of a `generateName`. It may end in a dash, because a suffix follows.
    fn check_prefix(self, prefix: &str) -> Vec<String> {
        match (self, prefix.strip_suffix('-')) {
            (Self::PathSegment, _) => no_separators(prefix),
            (Self::GeneratedSubdomain, _) => Vec::new(),
            (_, Some(rest)) if !rest.is_empty() => {
                let kept = &rest[..rest.len() - rest.chars().next_back().map_or(0, char::len_utf8)];
                self.check(&format!("{kept}a"))
            }
            _ => self.check(prefix),
        }
    }
}

/// `ValidateIPAddressName`, by `IsValidIP` of apimachinery's util/validation/ip.go.
fn ip_address(name: &str) -> Vec<String> {
    let fault = match name.parse() {
        Err(_) => "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".to_owned(),
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            "must not be an IPv4-mapped IPv6 address".to_owned()
        }
        Ok(address) if address.to_string() != name => format!("must be in canonical form (\"{address}\")"),
        Ok(_) => return Vec::new(),
    };
    vec![fault]
}

fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    no_separators(name)
}

fn no_separators(name: &str) -> Vec<String> {
    ["/", "%"].iter().filter(|c| name.contains(**c)).map(|c| format!("may not contain '{c}'")).collect()
}

/// The faults of `metadata` of an object that has its final name.
#[must_use]
pub fn validate_object_meta(object: &Value, rule: NameRule) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_whole(&object["metadata"], rule, &mut causes);
    // `BeforeCreate` of apiserver's pkg/registry/rest/create.go checks any valid object once more.
    if causes.is_empty() && rule == NameRule::GeneratedSubdomain {
        check_prefix(&object["metadata"], NameRule::PathSegment, &mut causes);
    }
    causes
}

/// The faults of decoded `metadata` of an embedded resource, which needs no name and is namespaced if it has a namespace
/// (`validateEmbeddedResource` of apiextensions-apiserver's pkg/apiserver/schema/objectmeta).
pub(super) fn validate_embedded_meta(metadata: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_prefix(metadata, NameRule::PathSegment, &mut causes);
    if metadata["name"].as_str().is_some_and(|name| !name.is_empty()) {
        check_name(metadata, NameRule::PathSegment, &mut causes);
    }
    if let Some(namespace) = metadata["namespace"].as_str().filter(|text| !text.is_empty()) {
        let faults = names::dns1123_label(namespace);
        causes.extend(faults.into_iter().map(|fault| Cause::invalid("metadata.namespace", namespace, fault)));
    }
    check_common(metadata, &mut causes);
    causes
}

/// The checks of metadata that the strategy of a kind runs on an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateChecks {
    /// How often the strategy calls `ValidateObjectMeta`.
    pub whole: usize,
    /// Whether the strategy calls `ValidateObjectMetaUpdate`.
    pub changes: bool,
}

/// The faults of `metadata` of an object that replaces another; one that is being deleted gets no new finalizers.
///
/// A server checks the whole metadata and its changes for every kind (`validateCommonFields` of apiserver's
/// pkg/registry/rest/update.go), and then once more for each check of the strategy, and reports all of them.
#[must_use]
pub fn validate_object_meta_update(
    object: &Value,
    old: &Value,
    rule: NameRule,
    strategy: UpdateChecks,
) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (new, old_metadata) = (&object["metadata"], &old["metadata"]);
    check_whole(new, NameRule::PathSegment, &mut causes);
    for _ in 0..=usize::from(strategy.changes) {
        causes.extend(new_finalizers(object, old));
        check_immutable(new, old_metadata, &mut causes);
        check_fields(new, &mut causes);
    }
    for _ in 0..strategy.whole {
        check_whole(new, rule, &mut causes);
    }
    causes
}

/// Fields that no update changes. The namespace is that of the request.
fn check_immutable(metadata: &Value, old: &Value, causes: &mut Vec<Cause>) {
    for field in ["name", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (new, old) = (&metadata[field], &old[field]);
        if new != old {
            // An absent text is empty in Go.
            let shown = if new.is_null() && field == "name" { Value::from("") } else { new.clone() };
            causes.push(Cause::invalid(format!("metadata.{field}"), shown, "field is immutable"));
        }
    }
}

/// apimachinery's `ValidateObjectMeta`.
fn check_whole(metadata: &Value, rule: NameRule, causes: &mut Vec<Cause>) {
    check_prefix(metadata, rule, causes);
    check_name(metadata, rule, causes);
    check_common(metadata, causes);
}

fn check_prefix(metadata: &Value, rule: NameRule, causes: &mut Vec<Cause>) {
    let prefix = metadata["generateName"].as_str().unwrap_or_default();
    let faults = if prefix.is_empty() { Vec::new() } else { rule.check_prefix(prefix) };
    causes.extend(faults.into_iter().map(|fault| Cause::invalid("metadata.generateName", prefix, fault)));
}

fn check_name(metadata: &Value, rule: NameRule, causes: &mut Vec<Cause>) {
    let name = metadata["name"].as_str().unwrap_or_default();
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
    } else {
        let faults = rule.check(name);
        causes.extend(faults.into_iter().map(|fault| Cause::invalid("metadata.name", name, fault)));
    }
}

/// `validateObjectMetaAccessorWithOptsCommon`, without the namespace.
fn check_common(metadata: &Value, causes: &mut Vec<Cause>) {
    if let Some(generation @ ..=-1) = metadata["generation"].as_i64() {
        let text = "must be greater than or equal to 0";
        causes.push(Cause::invalid("metadata.generation", generation, text));
    }
    check_fields(metadata, causes);
    check_finalizers(&metadata["finalizers"], causes);
}

/// The fields that creates and updates both check.
fn check_fields(metadata: &Value, causes: &mut Vec<Cause>) {
    causes.extend(validate_labels(&metadata["labels"], "metadata.labels"));
    causes.extend(validate_annotations(&metadata["annotations"], "metadata.annotations"));
    check_owners(&metadata["ownerReferences"], causes);
}

/// The faults of the labels that stand at `path`: apimachinery's `ValidateLabels`.
#[must_use]
pub fn validate_labels(labels: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (key, value) in labels.as_object().into_iter().flatten() {
        causes
            .extend(names::qualified_name(key).into_iter().map(|it| Cause::invalid(path, key.as_str(), it)));
        let value = value.as_str().unwrap_or_default();
        causes.extend(names::label_value(value).into_iter().map(|fault| Cause::invalid(path, value, fault)));
    }
    causes
}

/// The faults of the annotations that stand at `path`: apimachinery's `ValidateAnnotations`.
#[must_use]
pub fn validate_annotations(annotations: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut size = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        let faults = names::qualified_name(&key.to_lowercase());
        causes.extend(faults.into_iter().map(|fault| Cause::invalid(path, key.as_str(), fault)));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > ANNOTATIONS_LIMIT {
        let detail = format!("may not be more than {ANNOTATIONS_LIMIT} bytes");
        causes.push(Cause::new(CauseKind::TooLong, path, "", detail));
    }
    causes
}

/// The members of an owner reference, in the order in which Go prints them.
const OWNER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];

/// Prints an owner reference like Go's `encoding/json`.
fn owner_in_go(owner: &Value) -> String {
    let given = OWNER.iter().filter_map(|name| owner.get(*name).map(|value| format!("{name:?}:{value}")));
    format!("{{{}}}", given.collect::<Vec<_>>().join(","))
}

/// apimachinery's `ValidateOwnerReferences`. Its paths carry no index.
fn check_owners(owners: &Value, causes: &mut Vec<Cause>) {
    const PATH: &str = "metadata.ownerReferences";
    let shown = |text: String, detail: String| Cause {
        value: BadValue::Raw(text),
        ..Cause::invalid(PATH, Value::Null, detail)
    };
    let owners: Vec<&Value> = owners.as_array().into_iter().flatten().collect();
    let mut controller: Option<String> = None;
    for owner in &owners {
        let text = |member: &str| owner[member].as_str().unwrap_or_default();
        for (member, detail) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            // A malformed group and version has no version.
            let has_version = |text: &str| text.matches('/').count() < 2 && !text.ends_with('/');
            if text(member).is_empty() || member == "apiVersion" && !has_version(text(member)) {
                causes.push(Cause::invalid(format!("{PATH}.{member}"), text(member), detail));
            }
        }
        if text("apiVersion") == "v1" && text("kind") == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner".to_owned();
            causes.push(shown(owner_in_go(owner), detail));
        }
        if owner["controller"] != Value::Bool(true) {
            continue;
        }
        let name = format!("{}/{}", text("kind"), text("name"));
        let Some(first) = &controller else {
            controller = Some(name);
            continue;
        };
        let list: Vec<String> = owners.iter().map(|owner| owner_in_go(owner)).collect();
        let detail = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
        );
        causes.push(shown(format!("[{}]", list.join(",")), detail));
    }
}

fn finalizers(object: &Value) -> impl Iterator<Item = &str> {
    object["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// apimachinery's `ValidateFinalizers`.
fn check_finalizers(finalizers: &Value, causes: &mut Vec<Cause>) {
    let texts: Vec<&str> = finalizers.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for finalizer in &texts {
        for fault in names::qualified_name(finalizer) {
            causes.push(Cause::invalid("metadata.finalizers", *finalizer, fault));
        }
    }
    if texts.contains(&"orphan") && texts.contains(&"foregroundDeletion") {
        let text = "finalizer orphan and foregroundDeletion cannot be both set";
        causes.push(Cause::invalid("metadata.finalizers", finalizers.clone(), text));
    }
}

/// Reports whether a finalizer has a domain or is one of Kubernetes' own.
fn is_standard_or_qualified(finalizer: &str) -> bool {
    finalizer.contains('/') || matches!(finalizer, "kubernetes" | "orphan" | "foregroundDeletion")
}

/// The finalizers that Kubernetes' own kinds refuse and custom resources may have: `validateKubeFinalizerName` of
/// pkg/apis/core/validation.
#[must_use]
pub fn validate_core_finalizers(object: &Value) -> Vec<Cause> {
    let text = "name is neither a standard finalizer name nor is it fully qualified";
    let unqualified =
        finalizers(object).enumerate().filter(|(_, finalizer)| !is_standard_or_qualified(finalizer));
    unqualified
        .map(|(i, finalizer)| Cause::invalid(format!("metadata.finalizers[{i}]"), finalizer, text))
        .collect()
}

/// The warnings about finalizers that a custom resource has and `old` had not: `generateWarningsFromObj` of
/// apiextensions-apiserver's registry.
#[must_use]
pub fn warn_of_finalizers(object: &Value, old: Option<&Value>) -> Vec<String> {
    let before: Vec<&str> = old.into_iter().flat_map(finalizers).collect();
    let added: std::collections::BTreeSet<&str> =
        finalizers(object).filter(|finalizer| !before.contains(finalizer)).collect();
    let unqualified = added.into_iter().filter(|finalizer| !is_standard_or_qualified(finalizer));
    unqualified
        .map(|finalizer| {
            let quoted = super::golang::quote(finalizer);
            let path = if finalizer.contains('.') { " including a path (/)" } else { "" };
            format!(
                "metadata.finalizers: {quoted}: prefer a domain-qualified finalizer name{path} to avoid accidental \
                 conflicts with other finalizer writers"
            )
        })
        .collect()
}

fn new_finalizers(object: &Value, old: &Value) -> Vec<Cause> {
    if old["metadata"]["deletionTimestamp"].is_null() {
        return Vec::new();
    }
    let before: Vec<&str> = finalizers(old).collect();
    let added: Vec<String> =
        finalizers(object).filter(|f| !before.contains(f)).map(super::golang::quote).collect();
    if added.is_empty() {
        return Vec::new();
    }
    let text = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        added.join(", ")
    );
    vec![Cause::forbidden("metadata.finalizers", &text)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn finalizers_need_a_domain_only_on_core_kinds() {
        let object = json!({"metadata": {"name": "a", "finalizers": ["mine", "a.b/c", "orphan"]}});
        assert_eq!(validate_object_meta(&object, NameRule::Subdomain), []);
        let refused: Vec<String> =
            validate_core_finalizers(&object).into_iter().map(|cause| cause.field).collect();
        assert_eq!(refused, ["metadata.finalizers[0]"]);
        assert_eq!(warn_of_finalizers(&object, None).len(), 1);
        assert_eq!(warn_of_finalizers(&object, Some(&object)), Vec::<String>::new());
        let both = json!({"metadata": {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}});
        let faults = validate_object_meta(&both, NameRule::Subdomain);
        assert!(faults[0].message().ends_with("finalizer orphan and foregroundDeletion cannot be both set"));
    }

    #[test]
    fn object_name_is_checked_by_its_rule() {
        assert!(NameRule::Subdomain.check("a.b-c.1").is_empty());
        for bad in ["", "A", "a..b", "-a", "a-", "a_b"] {
            assert!(!NameRule::Subdomain.check(bad).is_empty(), "{bad:?}");
        }
        assert!(!NameRule::Label.check("a.b").is_empty());
        assert!(!NameRule::Label1035.check("1a").is_empty());
        assert!(NameRule::Ip.check("2001:db8::5").is_empty() && NameRule::Ip.check("10.0.0.1").is_empty());
        for wrong in ["abc", "010.0.0.1", "2001:DB8::5", "::ffff:1.2.3.4"] {
            assert_eq!(NameRule::Ip.check(wrong).len(), 1, "{wrong}");
        }
        assert!(NameRule::PathSegment.check("system:node").is_empty());
        assert!(!NameRule::PathSegment.check("a/b").is_empty());
    }

    #[test]
    fn prefix_is_only_checked_as_part_of_its_name_when_the_rule_says_so() {
        let fields = |name: &str, prefix: &str| {
            let object = json!({"metadata": {"name": name, "generateName": prefix}});
            let causes = validate_object_meta(&object, NameRule::GeneratedSubdomain);
            causes.into_iter().map(|cause| cause.field).collect::<Vec<_>>()
        };
        assert_eq!(fields("a", "A_"), Vec::<String>::new());
        assert_eq!(fields("A_bcdfg", "A_"), ["metadata.name"]);
        assert_eq!(fields("a", "a/b"), ["metadata.generateName"]);
        let object = json!({"metadata": {"name": "a", "generateName": "A_"}});
        let checks = UpdateChecks { whole: 1, changes: true };
        let rule = NameRule::GeneratedSubdomain;
        assert_eq!(validate_object_meta_update(&object, &object, rule, checks), []);
    }

    #[test]
    fn name_prefix_may_end_in_a_dash() {
        for (prefix, fine) in
            [("web-", true), ("web", true), ("é-", true), ("-", false), ("Web-", false), ("w/", false)]
        {
            assert_eq!(NameRule::Subdomain.check_prefix(prefix).is_empty(), fine, "{prefix:?}");
        }
        assert!(NameRule::PathSegment.check_prefix("..").is_empty());
    }

    #[test]
    fn every_metadata_field_is_validated() {
        let object = json!({"metadata": {"generateName": "Web-", "labels": {"a b": "c d"}, "annotations": {"e f": ""},
            "finalizers": ["my own"], "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "controller": true},
                {"apiVersion": "v1", "kind": "Pod", "name": "", "uid": "u", "controller": true}]}});
        let fields: Vec<String> =
            validate_object_meta(&object, NameRule::Subdomain).into_iter().map(|cause| cause.field).collect();
        assert_eq!(
            fields,
            [
                "metadata.generateName",
                "metadata.name",
                "metadata.labels",
                "metadata.labels",
                "metadata.annotations",
                "metadata.ownerReferences.name",
                "metadata.ownerReferences",
                "metadata.finalizers"
            ]
        );
        let gone = json!({"metadata": {"name": "w", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a/b"]}});
        let more = json!({"metadata": {"finalizers": ["a/b", "a/c"]}});
        assert_eq!(new_finalizers(&more, &gone).len(), 1);
        let mut twice = gone.clone();
        twice["metadata"]["uid"] = json!("other");
        twice["metadata"]["finalizers"] = json!(["a/b", "a/c"]);
        let update = |new: &Value, old: &Value, whole: usize, changes: bool| {
            validate_object_meta_update(new, old, NameRule::Subdomain, UpdateChecks { whole, changes }).len()
        };
        assert_eq!(update(&twice, &gone, 0, true), 4);
        assert_eq!(update(&twice, &gone, 0, false), 2);
        twice["metadata"]["name"] = json!("x");
        assert_eq!(update(&twice, &gone, 0, false), 3);
        assert!(new_finalizers(&gone, &gone).is_empty());
        let renamed = json!({"metadata": {"name": "w", "generateName": "w-"}});
        assert_eq!(update(&renamed, &renamed, 1, true), 0);
        let wrong = json!({"metadata": {"name": "w", "generateName": "W_/", "labels": {"a b": "c"}}});
        // The slash in the name, and the label; once more the label for each check, and the name for each whole one.
        assert_eq!(update(&wrong, &renamed, 0, false), 3);
        assert_eq!(update(&wrong, &renamed, 0, true), 4);
        assert_eq!(update(&wrong, &renamed, 2, false), 7);
    }
}
