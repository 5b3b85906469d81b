//! One definition, or one schema: checked, and enforced.

use kubesmith_apiextensions::openapi::{CustomKind, definitions};
use kubesmith_apiextensions::structural::{Checker, aggregate, apply_defaults, prune, validate_crd};
use serde_json::{Value, json};

/// What definitions know.
pub(crate) const WORDS: &[&str] = &[
    "\"type\"",
    "\"object\"",
    "\"array\"",
    "\"string\"",
    "\"integer\"",
    "\"number\"",
    "\"boolean\"",
    "\"properties\"",
    "\"items\"",
    "\"additionalProperties\"",
    "\"required\"",
    "\"enum\"",
    "\"default\"",
    "\"format\"",
    "\"pattern\"",
    "\"^(a*)*$\"",
    "\"[[:\"",
    "\"(\\\\d{1000}){1000}\"",
    "\"minimum\"",
    "\"maximum\"",
    "\"multipleOf\"",
    "\"exclusiveMinimum\"",
    "\"minLength\"",
    "\"maxItems\"",
    "\"uniqueItems\"",
    "\"nullable\"",
    "\"not\"",
    "\"allOf\"",
    "\"anyOf\"",
    "\"oneOf\"",
    "\"x-kubernetes-int-or-string\"",
    "\"x-kubernetes-preserve-unknown-fields\"",
    "\"x-kubernetes-embedded-resource\"",
    "\"x-kubernetes-list-type\"",
    "\"map\"",
    "\"set\"",
    "\"x-kubernetes-list-map-keys\"",
    "\"x-kubernetes-map-type\"",
    "\"x-kubernetes-validations\"",
    "\"rule\"",
    "\"self == self\"",
    "\"self.all(x, self.all(y, x == y))\"",
    "\"message\"",
    "\"messageExpression\"",
    "\"fieldPath\"",
    "\".a['b']\"",
    "\"reason\"",
    "\"date-time\"",
    "\"duration\"",
    "\"byte\"",
    "\"$ref\"",
    "\"metadata\"",
    "\"name\"",
    "\"spec\"",
    "\"status\"",
    "\"scale\"",
    "\"versions\"",
    "\"conversion\"",
    "\"webhook\"",
    "\"subresources\"",
    "\"additionalPrinterColumns\"",
    "\"jsonPath\"",
    "\"{.a[0]}\"",
    "\"selectableFields\"",
    "\"shortNames\"",
    "\"categories\"",
    "[]",
    "{}",
    "{\"type\": \"object\"}",
    "{\"type\": \"string\"}",
    "[null]",
    "0.1",
    "1e308",
];

/// A definition whose only version has this schema.
fn with_schema(schema: &Value) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.g.example.com"}, "spec": {
        "group": "g.example.com", "scope": "Namespaced", "conversion": {"strategy": "None"},
        "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

/// Checks JSON as a definition and as a schema; whether it is a good one.
///
/// # Panics
/// When a schema without faults makes an object that is not stable: of what was pruned and defaulted once, doing it again
/// changes nothing.
pub(crate) fn check(text: &str) -> bool {
    let Ok(given) = serde_json::from_str::<Value>(text) else { return false };
    let wrapped = with_schema(&given);
    let mut good = false;
    for definition in [&given, &wrapped] {
        let causes = validate_crd(definition, None);
        assert!(causes.is_empty() || !aggregate(&causes).is_empty());
        drop(validate_crd(definition, Some(&wrapped)));
        drop(validate_crd(&wrapped, Some(definition)));
        good |= causes.is_empty();
        for version in definition["spec"]["versions"].as_array().into_iter().flatten() {
            enforce(&version["schema"]["openAPIV3Schema"], &given, causes.is_empty());
        }
    }
    good
}

fn enforce(schema: &Value, given: &Value, is_good: bool) {
    let paths = [".spec.a".to_owned(), "status".to_owned(), ".".to_owned()];
    let kind = CustomKind {
        group: "g.example.com",
        version: "v1",
        kind: "Widget",
        list_kind: "WidgetList",
        plural: "widgets",
        selectable_fields: &paths,
    };
    drop(definitions(&kind, schema.clone()));
    let Ok(checker) = Checker::new(schema) else { return };
    let sample = json!({"apiVersion": "g.example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"a": [1, {"k": "x"}, null], "b": "t", "c": {"d": 1.5}}, "status": {"x": true}});
    for object in [given, &sample, &Value::Null, &json!([])] {
        let mut kept = object.clone();
        prune(checker.schema(), &mut kept);
        apply_defaults(checker.schema(), &mut kept);
        let mut again = kept.clone();
        apply_defaults(checker.schema(), &mut again);
        prune(checker.schema(), &mut again);
        assert!(!is_good || kept == again, "{kept} becomes {again}");
        drop(checker.create(&kept));
        drop(checker.update(&kept, object));
        drop(checker.update_status(object, &kept));
    }
}
