//! The fields of built-in kinds that selectors can name, as `ToSelectableFields` of the kinds' strategies
//! (`pkg/registry/*/strategy.go`) writes them.

use serde_json::Value;

use super::BuiltIn;
use crate::types;

/// Returns the text of a selectable field.
pub(crate) fn text(kind: &BuiltIn, object: &Value, field: &str) -> String {
    match (kind.plural, field) {
        ("jobs", "status.successful") => scalar(kind, object, "status.succeeded"),
        // The field's name before v1, which conversion still accepts.
        ("pods", "spec.host") => scalar(kind, object, "spec.nodeName"),
        // Conversion accepts the field, but no strategy writes it.
        ("pods", "status.podIPs") => String::new(),
        ("events", "source") => match scalar(kind, object, "source.component") {
            component if component.is_empty() => scalar(kind, object, "reportingComponent"),
            component => component,
        },
        _ => scalar(kind, object, field),
    }
}

/// The scalar at a path as Go writes it; an absent one has the zero value of its type.
fn scalar(kind: &BuiltIn, object: &Value, path: &str) -> String {
    let (mut message, mut value, mut of) = (kind.message(), object, "");
    for part in path.split('.') {
        of = message.and_then(|message| message.members.get(part)).map_or("", |field| field.of);
        message = types::find(of);
        value = &value[part];
    }
    match (value, of) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, "bool") => "false".to_owned(),
        (Value::Null, "int32" | "int64") => "0".to_owned(),
        (Value::Null, _) => String::new(),
        (other, _) => other.to_string(),
    }
}
