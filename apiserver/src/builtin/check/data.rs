//! Config maps and secrets.

use serde_json::Value;

use super::fixed;
use crate::names::quoted;
use crate::status::Cause;

/// The largest total of data, in bytes; the API's `MaxSecretSize`.
const DATA_LIMIT: usize = 1024 * 1024;

fn data_keys(object: &Value, fields: &[&str], causes: &mut Vec<Cause>) {
    for field in fields {
        for key in object[*field].as_object().into_iter().flatten().map(|(k, _)| k) {
            let fits = !key.is_empty()
                && key.len() <= 253
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
            if !fits {
                let text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
                            'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
                causes.push(Cause::invalid(format!("{field}[{key}]"), quoted(key), text));
            }
        }
    }
}

fn size(map: &Value) -> usize {
    map.as_object().into_iter().flatten().map(|(_, value)| value.as_str().map_or(0, str::len)).sum()
}

fn too_long(field: &str) -> Cause {
    let text = format!("Too long: may not be more than {DATA_LIMIT} bytes");
    Cause::new("FieldValueTooLong", field, text)
}

/// What an immutable object's update may not touch.
fn immutable(object: &Value, old: Option<&Value>, fields: &[&str], causes: &mut Vec<Cause>) {
    let Some(old) = old.filter(|old| old["immutable"] == true) else { return };
    for field in fields.iter().chain(&["immutable"]) {
        if object[*field] != old[*field] {
            causes.push(Cause::forbidden(*field, "field is immutable when `immutable` is set"));
        }
    }
}

pub(in crate::builtin) fn config_map(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    data_keys(object, &["data", "binaryData"], &mut causes);
    if size(&object["data"]) + size(&object["binaryData"]) / 4 * 3 > DATA_LIMIT {
        causes.push(too_long(""));
    }
    immutable(object, old, &["data", "binaryData"], &mut causes);
    causes
}

pub(in crate::builtin) fn secret(object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = Vec::new();
    data_keys(object, &["data"], &mut causes);
    if size(&object["data"]) / 4 * 3 > DATA_LIMIT {
        causes.push(too_long("data"));
    }
    immutable(object, old, &["data"], &mut causes);
    fixed("type", &object["type"], old.map(|old| &old["type"]), &mut causes);
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_immutable_config_map_stays_as_it_is() {
        let old = json!({"data": {"a": "1"}, "immutable": true});
        let new = json!({"data": {"a": "2"}, "immutable": true});
        assert_eq!(config_map(&new, Some(&old)).len(), 1);
        assert!(config_map(&old, Some(&old)).is_empty());
    }

    #[test]
    fn too_much_data_is_refused() {
        let text = "x".repeat(DATA_LIMIT + 1);
        assert_eq!(config_map(&json!({"data": {"a": text}}), None).len(), 1);
    }
}
