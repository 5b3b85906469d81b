//! The effect of a migration on the contents of an object.

use serde_json::Value;

use crate::cache::ObjectKey;

/// The limit of fields that the report on an object names.
const TOLD: usize = 20;

/// The fields of an object that a rewrite changes. The [module](super) has an example.
///
/// With the conversion strategy `None`, the object is compared as it is read in each version that it may be stored in. With a webhook it is
/// compared in the storage version alone, which shows the effects of defaults and admission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewrite {
    /// The object.
    pub object: ObjectKey,
    /// The fields that are lost, the first 20: the storage version does not have them.
    pub lost: Vec<String>,
    /// The fields with another value, the first 20.
    pub changed: Vec<String>,
    /// The fields that are new, the first 20: defaults, or changes of a webhook.
    pub added: Vec<String>,
    /// Whether there are more fields.
    pub more: bool,
}

impl Rewrite {
    pub(super) fn new(object: ObjectKey) -> Self {
        Self { object, lost: Vec::new(), changed: Vec::new(), added: Vec::new(), more: false }
    }

    /// Reports whether the contents of the object change.
    pub(super) fn is_change(&self) -> bool {
        [&self.lost, &self.changed, &self.added].iter().any(|fields| !fields.is_empty())
    }

    /// Compares the object as it is read with what a rewrite stores. Fields that another comparison has named are not
    /// repeated.
    pub(super) fn compare(&mut self, before: &Value, after: &Value) {
        self.walk(&contents(before), &contents(after), "");
    }

    fn walk(&mut self, before: &Value, after: &Value, path: &str) {
        match (before, after) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in old {
                    let path = below(path, key);
                    match new.get(key) {
                        Some(other) => self.walk(value, other, &path),
                        None => tell(&mut self.lost, &mut self.more, path),
                    }
                }
                for key in new.keys().filter(|key| !old.contains_key(*key)) {
                    tell(&mut self.added, &mut self.more, below(path, key));
                }
            }
            (Value::Array(old), Value::Array(new)) => {
                for (at, (value, other)) in old.iter().zip(new).enumerate() {
                    self.walk(value, other, &format!("{path}[{at}]"));
                }
                for at in new.len()..old.len() {
                    tell(&mut self.lost, &mut self.more, format!("{path}[{at}]"));
                }
                for at in old.len()..new.len() {
                    tell(&mut self.added, &mut self.more, format!("{path}[{at}]"));
                }
            }
            // Servers write numbers anew: 1 may become 1.0. Two integers may differ although their floats do not.
            (Value::Number(old), Value::Number(new))
                if (old.is_f64() || new.is_f64()) && old.as_f64() == new.as_f64() => {}
            _ if before == after => {}
            _ => tell(&mut self.changed, &mut self.more, path.to_owned()),
        }
    }
}

fn tell(fields: &mut Vec<String>, more: &mut bool, path: String) {
    if fields.contains(&path) {
        return;
    }
    if fields.len() < TOLD {
        fields.push(path);
    } else {
        *more = true;
    }
}

/// The object without what every write changes, and without its version.
fn contents(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("apiVersion");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["generation", "managedFields", "resourceVersion"] {
            metadata.remove(field);
        }
    }
    object
}

/// `spec.size`, and `metadata.annotations[example.com/a]` for keys that are no identifiers.
fn below(path: &str, key: &str) -> String {
    let is_plain =
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    match (path, is_plain) {
        ("", true) => key.to_owned(),
        (path, true) => format!("{path}.{key}"),
        (path, false) => format!("{path}[{}]", key.escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_compared_by_path() {
        let before = json!({
            "apiVersion": "a/v1", "metadata": {"name": "n", "resourceVersion": "1", "managedFields": [1],
                "annotations": {"example.com/a": "1"}},
            "spec": {"size": 1, "color": "red", "ports": [{"a": 1}, {"b": 2}], "same": null, "kind": "x"},
        });
        let after = json!({
            "apiVersion": "a/v2", "metadata": {"name": "n", "resourceVersion": "2", "annotations": {}},
            "spec": {"size": 1.0, "ports": [{"a": 2, "c": 3}], "same": null, "kind": ["x"], "mode": "on"},
        });
        let mut rewrite = Rewrite::new(ObjectKey::cluster("n"));
        rewrite.compare(&before, &after);
        rewrite.compare(&before, &after);
        assert_eq!(rewrite.lost, ["metadata.annotations[example.com/a]", "spec.color", "spec.ports[1]"]);
        assert_eq!(rewrite.changed, ["spec.kind", "spec.ports[0].a"]);
        assert_eq!(rewrite.added, ["spec.ports[0].c", "spec.mode"]);
        assert!(rewrite.is_change() && !rewrite.more);
        let mut same = Rewrite::new(ObjectKey::cluster("n"));
        same.compare(&before, &before);
        assert!(!same.is_change());
    }

    #[test]
    fn integers_are_compared_exactly() {
        let mut rewrite = Rewrite::new(ObjectKey::cluster("n"));
        // 2^53 and its neighbour are the same float.
        let (before, after) = (9_007_199_254_740_993_u64, 9_007_199_254_740_992_u64);
        rewrite.compare(
            &json!({"a": before, "b": u64::MAX, "c": 2, "d": -1, "e": 1.5}),
            &json!({"a": after, "b": u64::MAX - 1, "c": 2.0, "d": -1, "e": 1.5}),
        );
        assert_eq!(rewrite.changed, ["a", "b"]);
    }

    #[test]
    fn report_on_an_object_is_bounded() {
        let fields: serde_json::Map<String, Value> =
            (0..50).map(|at| (format!("f{at:02}"), json!(1))).collect();
        let mut rewrite = Rewrite::new(ObjectKey::cluster("n"));
        rewrite.compare(&json!({"spec": fields}), &json!({"spec": {}}));
        assert_eq!((rewrite.lost.len(), rewrite.more), (20, true));
    }
}
