//! Config maps and secrets. Source: `ValidateConfigMap` and `ValidateSecret` of `pkg/apis/core/validation`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::field::{Errors, Field};
use crate::names::quoted;
use crate::status::Cause;

/// The largest total of data, in bytes; the API's `MaxSecretSize`.
const DATA_LIMIT: usize = 1024 * 1024;

/// `IsConfigMapKey`.
pub(super) fn key_faults(key: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if key.len() > 253 {
        faults.push("must be no more than 253 characters".to_owned());
    }
    if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) {
        let fault = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  \
                     or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        faults.push(fault.to_owned());
    }
    match key {
        "." => faults.push("must not be '.'".to_owned()),
        ".." => faults.push("must not be '..'".to_owned()),
        _ if key.starts_with("..") => faults.push("must not start with '..'".to_owned()),
        _ => {}
    }
    faults
}

fn keys(map: &Field<'_>, errors: &mut Errors) {
    for (key, field) in map.entries() {
        for fault in key_faults(key) {
            errors.push(Cause::invalid(&field.path, quoted(key), &fault));
        }
    }
}

fn size(map: &Field<'_>) -> usize {
    map.entries().iter().map(|(_, value)| value.text().len()).sum()
}

/// The total size of the values, decoded from base64.
fn decoded_size(map: &Field<'_>) -> usize {
    map.entries().iter().map(|(_, value)| BASE64.decode(value.text()).map_or(0, |bytes| bytes.len())).sum()
}

/// Refuses changes of an immutable object.
fn immutable(object: &Value, old: Option<&Value>, fields: &[&str], errors: &mut Errors) {
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return };
    for field in std::iter::once(&"immutable").chain(fields) {
        if object[*field] != old[*field] {
            let detail = "field is immutable when `immutable` is set";
            errors.forbidden(&Field::root(object).child(field), detail);
        }
    }
}

pub(in crate::builtin) fn config_map(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        immutable(object, old, &["data", "binaryData"], errors);
        let root = Field::root(object);
        let (data, binary) = (root.child("data"), root.child("binaryData"));
        for (key, field) in data.entries() {
            for fault in key_faults(key) {
                errors.push(Cause::invalid(&field.path, quoted(key), &fault));
            }
            if binary.key(key).is_set() {
                let detail = "duplicate of key present in binaryData";
                errors.push(Cause::invalid(&field.path, quoted(key), detail));
            }
        }
        keys(&binary, errors);
        if size(&data) + decoded_size(&binary) > DATA_LIMIT {
            // Go's path for the whole object.
            errors.too_long("[]", DATA_LIMIT);
        }
    })
}

/// The members that a secret of a type must have.
const REQUIRED: &[(&str, &[&str])] = &[
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
];

pub(in crate::builtin) fn secret(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    Errors::of(|errors| {
        let root = Field::root(object);
        if let Some(old) = old {
            errors.immutable(&root.child("type"), &Field::root(old).child("type"));
        }
        immutable(object, old, &["data"], errors);
        let data = root.child("data");
        keys(&data, errors);
        if decoded_size(&data) > DATA_LIMIT {
            errors.too_long("data", DATA_LIMIT);
        }
        let type_ = root.child("type").text();
        for key in REQUIRED.iter().filter(|(known, _)| *known == type_).flat_map(|(_, keys)| *keys) {
            let member = data.key(key);
            if !member.is_set() || (type_ == "kubernetes.io/ssh-auth" && member.is_empty()) {
                errors.required(&member, "");
            } else if key.starts_with(".docker") {
                docker_config(&member, errors);
            }
        }
        match type_ {
            "kubernetes.io/service-account-token" => {
                let name =
                    root.child("metadata").child("annotations").key("kubernetes.io/service-account.name");
                if name.is_empty() {
                    errors.required(&name, "");
                }
            }
            "kubernetes.io/basic-auth" => {
                let members = [data.key("username"), data.key("password")];
                if members.iter().all(|member| !member.is_set()) {
                    members.iter().for_each(|member| errors.required(member, ""));
                }
            }
            _ => {}
        }
    })
}

/// Checks that the member holds a JSON object.
fn docker_config(member: &Field<'_>, errors: &mut Errors) {
    let bytes = BASE64.decode(member.text()).unwrap_or_default();
    if serde_json::from_slice::<serde_json::Map<String, Value>>(&bytes).is_ok() {
        return;
    }
    let shown = Value::from("<secret contents redacted>");
    errors.invalid(&member.holding(&shown), &go_json_error(&bytes));
}

/// Returns the error of Go's `encoding/json` for a text that is no JSON object.
fn go_json_error(bytes: &[u8]) -> String {
    golang::json_error(bytes).unwrap_or_else(|| {
        let value = serde_json::from_slice(bytes).unwrap_or_default();
        golang::cannot_unmarshal(&value, golang::MAP)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn immutable_config_map_refuses_changes() {
        let old = json!({"data": {"a": "1"}, "immutable": true});
        let new = json!({"data": {"a": "2"}, "immutable": true});
        assert_eq!(config_map(&new, Some(&old)).len(), 1);
        assert!(config_map(&old, Some(&old)).is_empty());
    }

    #[test]
    fn data_above_the_limit_is_refused() {
        let text = "x".repeat(DATA_LIMIT + 1);
        assert_eq!(config_map(&json!({"data": {"a": text}}), None).len(), 1);
    }

    #[test]
    fn secret_types_require_their_members() {
        let fields = |type_: &str, data: Value| -> Vec<String> {
            secret(&json!({"type": type_, "data": data}), None).into_iter().map(|cause| cause.field).collect()
        };
        assert_eq!(fields("kubernetes.io/tls", json!({})), ["data[tls.crt]", "data[tls.key]"]);
        assert_eq!(fields("kubernetes.io/basic-auth", json!({})), ["data[username]", "data[password]"]);
        assert_eq!(fields("kubernetes.io/dockercfg", json!({".dockercfg": "eA=="})), ["data[.dockercfg]"]);
        assert!(fields("kubernetes.io/dockercfg", json!({".dockercfg": "e30="})).is_empty());
        assert!(fields("Opaque", json!({})).is_empty());
    }
}
