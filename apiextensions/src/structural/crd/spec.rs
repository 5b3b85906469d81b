//! The definition around the schema: names, versions, subresources, columns, conversion.

use serde_json::{Value, json};

use super::approval::check_approval;
use super::openapi::validate_schema;
use super::shape::{flag, list, present, text, texts};
use super::structure::conversion_fault;
use crate::cel::resolve_field_path;
use crate::schema::Schema;
use crate::structural::cause::Cause;
use crate::structural::webhook::{validate_ca_bundle, validate_client_config};
use crate::structural::{Path, golang, names};

/// The faults of a definition in the order in which the server reports them.
///
/// `old` is the stored definition on update. Names that the server defaults (`singular`, `listKind`), the conversion
/// strategy and `status.storedVersions` have to be filled in before.
#[must_use]
pub fn validate_crd(crd: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    check_name(crd, old, &mut causes);
    check_spec(crd, old, &mut causes);
    if let Some(old) = old {
        check_immutable(crd, old, &mut causes);
    }
    check_stored_versions(crd, &mut causes);
    check_approval(crd, old, &mut causes);
    if flag(crd, "/spec/preserveUnknownFields")
        && !old.is_some_and(|o| flag(o, "/spec/preserveUnknownFields"))
    {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        causes.push(Cause::invalid("spec.preserveUnknownFields", true, detail));
    }
    causes
}

fn check_name(crd: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    if old.is_some() {
        return;
    }
    let name = text(crd, "/metadata/name");
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
        return;
    }
    let mut faults = names::dns1123_subdomain(name);
    if name != format!("{}.{}", text(crd, "/spec/names/plural"), text(crd, "/spec/group")) {
        faults.push("must be spec.names.plural+\".\"+spec.group".to_owned());
    }
    causes.extend(faults.into_iter().map(|fault| Cause::invalid("metadata.name", name, fault)));
}

fn check_spec(crd: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = Path::new("spec");
    let group = text(crd, "/spec/group");
    let group_faults = names::dns1123_subdomain(group);
    if group.is_empty() {
        causes.push(Cause::required(spec.child("group"), ""));
    } else if !group_faults.is_empty() {
        causes.push(Cause::invalid(spec.child("group"), group, group_faults.join(",")));
    } else if !group.contains('.') {
        causes.push(Cause::invalid(spec.child("group"), group, "should be a domain with at least one dot"));
    }
    check_one_of(&spec.child("scope"), text(crd, "/spec/scope"), &["Cluster", "Namespaced"], causes);
    let versions = list(crd, "/spec/versions");
    let schemas = versions.iter().filter_map(|version| present(version, "/schema/openAPIV3Schema"));
    if flag(crd, "/spec/preserveUnknownFields")
        && schemas.filter_map(|schema| Schema::enforced(schema).ok()).any(|schema| has_default(&schema))
    {
        let detail = "must be false in order to use defaults in the schema";
        causes.push(Cause::invalid(spec.child("preserveUnknownFields"), true, detail));
    }
    for (i, version) in versions.iter().enumerate() {
        if present(version, "/schema/openAPIV3Schema").is_none() {
            let field = spec.child("versions").index(i).child("schema").child("openAPIV3Schema");
            causes.push(Cause::required(field, ""));
        }
    }
    check_versions(crd, versions, old, causes);
    let own = spec.child("names");
    for name in ["plural", "singular", "kind", "listKind"] {
        if text(crd, &format!("/spec/names/{name}")).is_empty() {
            causes.push(Cause::required(own.child(name), ""));
        }
    }
    check_names(crd.pointer("/spec/names").unwrap_or(&Value::Null), &own, causes);
    check_shared(versions, old, causes);
    check_conversion(crd, old, causes);
}

/// Reports whether a schema has a default anywhere (`schemaHasDefaults`).
fn has_default(schema: &Schema) -> bool {
    schema.default.is_some()
        || schema.children().any(|(_, child)| has_default(child))
        || schema.junctions().any(|(_, branch)| has_default(branch))
}

fn check_one_of(path: &Path, value: &str, accepted: &[&str], causes: &mut Vec<Cause>) {
    let accepted: Vec<String> = accepted.iter().map(|a| (*a).to_owned()).collect();
    if value.is_empty() {
        causes.push(Cause::required(path, ""));
    } else if !accepted.iter().any(|a| a == value) {
        causes.push(Cause::not_supported(path, value, &accepted));
    }
}

/// Reports whether a part is the same in all versions; then the server keeps it once, at the top.
fn is_shared(versions: &[Value], part: &str) -> bool {
    versions.windows(2).all(|pair| pair[0].get(part) == pair[1].get(part))
}

fn check_versions(crd: &Value, versions: &[Value], old: Option<&Value>, causes: &mut Vec<Cause>) {
    let field = Path::new("spec").child("versions");
    for (i, version) in versions.iter().enumerate() {
        let at = field.index(i);
        let name = text(version, "/name");
        let faults = names::dns1035_label(name);
        if !faults.is_empty() {
            causes.push(Cause::invalid(at.child("name"), name, faults.join(",")));
        }
        check_deprecation(version, &at, causes);
        if !is_shared(versions, "schema") {
            check_schema(version, has_status(version), &at.child("schema"), old, causes);
        }
        if !is_shared(versions, "subresources") {
            check_subresources(version, &at.child("subresources"), causes);
        }
        if !is_shared(versions, "additionalPrinterColumns") {
            check_columns(version, &at.child("additionalPrinterColumns"), causes);
        }
        if !is_shared(versions, "selectableFields") {
            let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
            check_selectable(version, &at, detail, causes);
        }
    }
    let mut seen: Vec<&str> = versions.iter().map(|v| text(v, "/name")).collect();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) {
        let detail = "must contain unique version names";
        causes.push(Cause::invalid(&field, "", detail).with_raw_value(printed(versions)));
    }
    if versions.iter().filter(|v| flag(v, "/storage")).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        let is_there = crd.pointer("/spec/versions").is_some_and(Value::is_array);
        let shown = if is_there { printed(versions) } else { "null".to_owned() };
        causes.push(Cause::invalid(&field, "", detail).with_raw_value(shown));
    }
    // The first version's name is also in `spec.version` of the server's own form.
    let first = versions.first().map_or("", |version| text(version, "/name"));
    let faults = names::dns1035_label(first);
    if !first.is_empty() && !faults.is_empty() {
        causes.push(Cause::invalid("spec.version", first, faults.join(",")));
    }
}

/// Formats versions as the server's own form of them: shared parts are at the top of the spec instead.
fn printed(versions: &[Value]) -> String {
    let part = |version: &Value, name: &str| match is_shared(versions, name) {
        true => Value::Null,
        false => version.get(name).cloned().unwrap_or_default(),
    };
    let one = |version: &Value| {
        let fields = [
            ("Name", json!(text(version, "/name"))),
            ("Served", json!(flag(version, "/served"))),
            ("Storage", json!(flag(version, "/storage"))),
            ("Deprecated", json!(flag(version, "/deprecated"))),
            ("DeprecationWarning", version.get("deprecationWarning").cloned().unwrap_or_default()),
            ("Schema", part(version, "schema")),
            ("Subresources", part(version, "subresources")),
            ("AdditionalPrinterColumns", part(version, "additionalPrinterColumns")),
            ("SelectableFields", part(version, "selectableFields")),
        ];
        let fields = fields.map(|(name, value)| format!("\"{name}\":{}", golang::json(&value)));
        format!("{{{}}}", fields.join(","))
    };
    format!("[{}]", versions.iter().map(one).collect::<Vec<_>>().join(","))
}

fn check_shared(versions: &[Value], old: Option<&Value>, causes: &mut Vec<Cause>) {
    let spec = Path::new("spec");
    let Some(first) = versions.first() else { return };
    if is_shared(versions, "schema") {
        check_schema(first, versions.iter().any(has_status), &spec.child("validation"), old, causes);
    }
    if is_shared(versions, "subresources") {
        check_subresources(first, &spec.child("subresources"), causes);
    }
    if is_shared(versions, "additionalPrinterColumns") {
        check_columns(first, &spec.child("additionalPrinterColumns"), causes);
    }
    if is_shared(versions, "selectableFields") {
        let detail = "may only be set when validations.schema is included";
        check_selectable(first, &spec, detail, causes);
    }
}

fn has_status(version: &Value) -> bool {
    present(version, "/subresources/status").is_some()
}

fn check_schema(version: &Value, status: bool, path: &Path, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let Some(schema) = present(version, "/schema/openAPIV3Schema") else { return };
    let name = text(version, "/name");
    let before = old
        .map(|old| list(old, "/spec/versions"))
        .and_then(|versions| versions.iter().find(|v| text(v, "/name") == name))
        .and_then(|v| present(v, "/schema/openAPIV3Schema"));
    validate_schema(schema, before, status, &path.child("openAPIV3Schema"), causes);
}

fn check_deprecation(version: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let Some(warning) = version.get("deprecationWarning").and_then(Value::as_str) else { return };
    let mut fault = |detail: &str| {
        causes.push(Cause::invalid(path.child("deprecationWarning"), warning, detail));
    };
    if !flag(version, "/deprecated") {
        fault("can only be set for deprecated versions");
        return;
    }
    if warning.len() > 256 {
        fault("must be <= 256 characters long");
    }
    if warning.is_empty() {
        fault("must not be an empty string");
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, c)| !crate::structural::golang::is_print(*c)) {
        fault(&format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
}

fn check_names(own: &Value, path: &Path, causes: &mut Vec<Cause>) {
    for name in ["plural", "singular"] {
        let value = text(own, &format!("/{name}"));
        let faults = names::dns1035_label(value);
        if !value.is_empty() && !faults.is_empty() {
            causes.push(Cause::invalid(path.child(name), value, faults.join(",")));
        }
    }
    for name in ["kind", "listKind"] {
        let value = text(own, &format!("/{name}"));
        let faults = names::dns1035_label(&value.to_lowercase());
        if !value.is_empty() && !faults.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", faults.join(","));
            causes.push(Cause::invalid(path.child(name), value, detail));
        }
    }
    let labels = |name: &str, causes: &mut Vec<Cause>| {
        for (i, value) in texts(own, &format!("/{name}")).into_iter().enumerate() {
            let faults = names::dns1035_label(value);
            if !faults.is_empty() {
                causes.push(Cause::invalid(path.child(name).index(i), value, faults.join(",")));
            }
        }
    };
    labels("shortNames", causes);
    let (kind, list_kind) = (text(own, "/kind"), text(own, "/listKind"));
    if !kind.is_empty() && kind == list_kind {
        let detail = "kind and listKind may not be the same";
        causes.push(Cause::invalid(path.child("listKind"), list_kind, detail));
    }
    labels("categories", causes);
}

fn check_subresources(version: &Value, path: &Path, causes: &mut Vec<Cause>) {
    let Some(scale) = present(version, "/subresources/scale") else { return };
    for (name, prefix) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let field = path.child("scale").child(name);
        let value = text(scale, &format!("/{name}"));
        if value.is_empty() {
            causes.push(Cause::required(field, ""));
        } else if let Some(cause) = simple_path_fault(value, &field) {
            causes.push(cause);
        } else if !value.starts_with(prefix) {
            let detail = format!("should be a json path under {}", prefix.trim_end_matches('.'));
            causes.push(Cause::invalid(field, value, detail));
        }
    }
    let selector = text(scale, "/labelSelectorPath");
    if !selector.is_empty() {
        let field = path.child("scale").child("labelSelectorPath");
        if let Some(cause) = simple_path_fault(selector, &field) {
            causes.push(cause);
        } else if !selector.starts_with(".spec.") && !selector.starts_with(".status.") {
            let detail = "should be a json path under either .spec or .status";
            causes.push(Cause::invalid(field, selector, detail));
        }
    }
}

fn simple_path_fault(value: &str, field: &Path) -> Option<Cause> {
    (!value.starts_with('.'))
        .then(|| Cause::invalid(field, value, "must be a simple json path starting with ."))
}

fn check_columns(version: &Value, path: &Path, causes: &mut Vec<Cause>) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
    for (i, column) in list(version, "/additionalPrinterColumns").iter().enumerate() {
        let at = path.index(i);
        if text(column, "/name").is_empty() {
            causes.push(Cause::required(at.child("name"), ""));
        }
        let type_ = text(column, "/type");
        let detail = format!("must be one of {}", TYPES.join(","));
        if type_.is_empty() {
            causes.push(Cause::required(at.child("type"), detail));
        } else if !TYPES.contains(&type_) {
            causes.push(Cause::invalid(at.child("type"), type_, detail));
        }
        let format = text(column, "/format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let detail = format!("must be one of {}", FORMATS.join(","));
            causes.push(Cause::invalid(at.child("format"), format, detail));
        }
        let json_path = text(column, "/jsonPath");
        let field = at.child("JSONPath");
        if json_path.is_empty() {
            causes.push(Cause::required(field, ""));
        } else {
            causes.extend(simple_path_fault(json_path, &field));
        }
    }
}

/// Selectable fields that a version may have.
const MAX_SELECTABLE_FIELDS: usize = 8;

fn check_selectable(version: &Value, holder: &Path, without_schema: &str, causes: &mut Vec<Cause>) {
    let fields = list(version, "/selectableFields");
    if fields.is_empty() {
        return;
    }
    let path = &holder.child("selectableFields");
    let Some(Ok(schema)) = present(version, "/schema/openAPIV3Schema").map(Schema::enforced) else {
        causes.push(Cause::invalid(path, "", without_schema));
        return;
    };
    if let Some(fault) = conversion_fault(&schema) {
        causes.push(Cause::invalid(holder.child("schema.openAPIV3Schema"), "", fault));
    }
    let mut seen = std::collections::BTreeSet::new();
    for (i, field) in fields.iter().enumerate() {
        let at = path.index(i).child("jsonPath");
        let json_path = text(field, "/jsonPath");
        if json_path.is_empty() {
            causes.push(Cause::required(at, ""));
            continue;
        }
        let found = match resolve_field_path(json_path, &schema, false) {
            Ok(found) => found,
            Err(error) => {
                causes.push(Cause::invalid(at, json_path, format!("is an invalid path: {error}")));
                continue;
            }
        };
        if found.root == "metadata" {
            causes.push(Cause::invalid(&at, json_path, "must not point to fields in metadata"));
        }
        if !matches!(found.schema.type_name(), "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            causes.push(Cause::invalid(&at, json_path, detail));
        }
        if !seen.insert(found.text) {
            causes.push(Cause::duplicate(at, json_path));
        }
    }
    if seen.len() > MAX_SELECTABLE_FIELDS {
        let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        causes.push(Cause::too_many(path, count(seen.len()), count(MAX_SELECTABLE_FIELDS)));
    }
}

fn check_conversion(crd: &Value, old: Option<&Value>, causes: &mut Vec<Cause>) {
    let Some(conversion) = present(crd, "/spec/conversion") else { return };
    let path = Path::new("spec").child("conversion");
    let strategy = text(conversion, "/strategy");
    check_one_of(&path.child("strategy"), strategy, &["None", "Webhook"], causes);
    let client = present(conversion, "/webhook/clientConfig");
    let versions = texts(conversion, "/webhook/conversionReviewVersions");
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            causes.push(Cause::forbidden(path.child("webhookClientConfig"), detail));
        }
        if !versions.is_empty() {
            causes.push(Cause::forbidden(path.child("conversionReviewVersions"), detail));
        }
        return;
    }
    let field = path.child("webhookClientConfig");
    match client {
        None => causes.push(Cause::required(field, "required when strategy is set to Webhook")),
        Some(client) => {
            causes.extend(validate_client_config(client, &field));
            // Until a definition is established, and if its bundle was never checked, any bundle is valid
            // (`allowInvalidCABundle`).
            let bundle = |crd| text(crd, "/spec/conversion/webhook/clientConfig/caBundle");
            let field = field.child("caBundle");
            let is_looked_at =
                |old| is_established(old) && validate_ca_bundle(bundle(old), &field).is_empty();
            if old.is_some_and(is_looked_at) {
                causes.extend(validate_ca_bundle(bundle(crd), &field));
            }
        }
    }
    let field = path.child("conversionReviewVersions");
    if versions.is_empty() {
        causes.push(Cause::required(field, ""));
        return;
    }
    for (i, version) in versions.iter().enumerate() {
        if versions[..i].contains(version) {
            causes.push(Cause::invalid(field.index(i), *version, "duplicate version"));
            continue;
        }
        let faults = names::dns1035_label(version);
        causes.extend(faults.into_iter().map(|f| Cause::invalid(field.index(i), *version, f)));
    }
    if !versions.iter().any(|v| matches!(*v, "v1" | "v1beta1")) {
        causes.push(Cause::invalid(field, json!(versions), "must include at least one of v1, v1beta1"));
    }
}

fn check_immutable(crd: &Value, old: &Value, causes: &mut Vec<Cause>) {
    let established = list(old, "/status/conditions")
        .iter()
        .any(|c| text(c, "/type") == "Established" && text(c, "/status") == "True");
    let mut fixed = vec!["group", "names/plural"];
    if established {
        fixed.splice(0..0, ["scope", "names/kind"]);
    }
    for field in fixed {
        let pointer = format!("/spec/{field}");
        let value = text(crd, &pointer);
        if value != text(old, &pointer) {
            let path = format!("spec.{}", field.replace('/', "."));
            causes.push(Cause::invalid(path, value, "field is immutable"));
        }
    }
}

fn check_stored_versions(crd: &Value, causes: &mut Vec<Cause>) {
    let Some(stored) = crd.pointer("/status/storedVersions") else { return };
    let field = Path::new("status.storedVersions");
    let stored_names = texts(crd, "/status/storedVersions");
    if stored_names.is_empty() {
        causes.push(Cause::invalid(field, stored.clone(), "must have at least one stored version"));
        return;
    }
    let versions = list(crd, "/spec/versions");
    for version in versions.iter().filter(|v| flag(v, "/storage")) {
        let name = text(version, "/name");
        if !stored_names.contains(&name) {
            let detail = format!("must have the storage version {name}");
            causes.push(Cause::invalid(&field, stored.clone(), detail));
        }
    }
    for (i, name) in stored_names.iter().enumerate() {
        if !versions.iter().any(|v| text(v, "/name") == *name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions \
                 until a storage migration ensures no data remains persisted in {name} and removes {name} from \
                 status.storedVersions"
            );
            causes.push(Cause::invalid(field.index(i), *name, detail));
        }
    }
}

fn is_established(crd: &Value) -> bool {
    let conditions = crd.pointer("/status/conditions").and_then(Value::as_array);
    let is_so = |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
    conditions.is_some_and(|conditions| conditions.iter().any(is_so))
}
