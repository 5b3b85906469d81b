//! Formats objects as JSON in the order of Go's fields, as in messages.

use kubesmith_apimachinery::golang;
use serde_json::Value;

use super::{Field, Shape, Type, find};

/// Formats a value of a type as `encoding/json` does: the members of structs in Go's order, those of maps by their
/// keys.
pub(crate) fn json(value: &Value, of: &'static Type) -> String {
    patched(value, of, &Value::Null)
}

/// As [`json`], for an object after a JSON patch. `touched` has a member for each object that the patch enters: those
/// are maps by then, whose members are ordered by name.
pub(crate) fn patched(value: &Value, of: &'static Type, touched: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value, Some(of), touched);
    out
}

/// Returns the objects that a JSON patch enters, for [`patched`].
pub(crate) fn touched_by(json_patch: &Value) -> Value {
    let mut touched = Value::Object(serde_json::Map::new());
    for operation in json_patch.as_array().into_iter().flatten() {
        for pointer in ["path", "from"].iter().filter_map(|field| operation[field].as_str()) {
            let mut at = &mut touched;
            let mut steps: Vec<&str> = pointer.split('/').skip(1).collect();
            steps.pop();
            for step in steps {
                let name = step.replace("~1", "/").replace("~0", "~");
                at = &mut at[name];
                if at.is_null() {
                    *at = Value::Object(serde_json::Map::new());
                }
            }
        }
    }
    touched
}

fn write(out: &mut String, value: &Value, of: Option<&'static Type>, touched: &Value) {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            if let Some(of) = of.filter(|_| !touched.is_object()) {
                let place = |name: &str| of.members.get(name).map_or(usize::MAX, |field| field.position);
                members.sort_by_key(|(name, _)| place(name));
            }
            out.push('{');
            for (at, (name, member)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&golang::json(&Value::from(name.as_str())));
                out.push(':');
                held(out, member, of.and_then(|of| of.members.get(name.as_str())), &touched[name.as_str()]);
            }
            out.push('}');
        }
        other => out.push_str(&golang::json(other)),
    }
}

/// Formats the value of a field, whose elements are of its type if it is a list or a map.
fn held(out: &mut String, value: &Value, field: Option<&Field>, touched: &Value) {
    let of = field.and_then(|field| find(field.of));
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, item, of, &touched[at.to_string().as_str()]);
            }
            out.push(']');
        }
        Value::Object(map) if field.is_some_and(|field| field.shape == Shape::Map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&golang::json(&Value::from(key.as_str())));
                out.push(':');
                write(out, item, of, &touched[key.as_str()]);
            }
            out.push('}');
        }
        other => write(out, other, of, touched),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_are_in_gos_order_unless_the_patch_touched_them() {
        let of = find("core.Pod").unwrap();
        let metadata = json!({"uid": "u", "name": "n", "labels": {"b": "1", "a": "2"}});
        let pod = json!({"metadata": metadata, "spec": {"containers": [{"image": "i", "name": "c"}], "volumes": []}});
        assert_eq!(
            json(&pod, of),
            r#"{"metadata":{"name":"n","uid":"u","labels":{"a":"2","b":"1"}},"spec":{"volumes":[],"containers":[{"name":"c","image":"i"}]}}"#
        );
        let touched = touched_by(&json!([{"op": "add", "path": "/spec/containers/0/image"}]));
        assert_eq!(touched, json!({"spec": {"containers": {"0": {}}}}));
        assert_eq!(
            patched(&pod, of, &touched),
            r#"{"metadata":{"name":"n","uid":"u","labels":{"a":"2","b":"1"}},"spec":{"containers":[{"image":"i","name":"c"}],"volumes":[]}}"#
        );
    }
}
