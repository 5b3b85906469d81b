//! Warns of CRDs that are too large to be stored.

use std::io;

use kubesmith_apimachinery::golang::JsonFormatter;
use kubesmith_core::diag::Code;
use serde::Serialize;
use serde_json::{Serializer, Value};

use crate::definition::Definition;
use crate::diag::Diagnostic;
use crate::docs;
use crate::ir::Resource;
use crate::parallel;
use crate::source::SourceMap;

/// The most bytes in all annotations of an object, in one of which `kubectl apply` stores the object
/// (`TotalAnnotationSizeLimitB` in `k8s.io/apimachinery/pkg/api/validation`).
const APPLY_LIMIT: usize = 262_144;

/// The annotation in which `kubectl apply` stores the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The most bytes of a request to etcd, by default of `--max-request-bytes`.
const ETCD_LIMIT: usize = 1_572_864;

/// Lengths of descriptions to try, in bytes.
const DESCRIPTION_LENGTHS: [usize; 6] = [1_000, 500, 200, 100, 50, 0];

/// Warns about CRDs that `kubectl apply` or etcd cannot store.
pub(crate) fn sizes(definitions: &[Definition<'_>], sources: &SourceMap) -> Vec<Diagnostic> {
    let found = parallel::map(definitions, |definition| {
        (!is_small(definition)).then(|| check(definition, sources)).flatten()
    });
    found.into_iter().flatten().collect()
}

/// Counts bytes.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes of a value as JSON in Go's notation.
fn length(value: &impl Serialize) -> usize {
    let mut length = Length(0);
    let written = value.serialize(&mut Serializer::with_formatter(&mut length, JsonFormatter));
    // A value without a JSON form would count as large.
    written.map_or(APPLY_LIMIT, |()| length.0)
}

/// Whether the schemas, most of a definition, are so small that its size need not be computed.
fn is_small(definition: &Definition<'_>) -> bool {
    let versions = definition.versions.iter();
    let parts = versions.map(|version| length(&version.schema) + length(&version.resource.crd.annotations));
    parts.sum::<usize>() * 2 < APPLY_LIMIT
}

fn check(definition: &Definition<'_>, sources: &SourceMap) -> Option<Diagnostic> {
    let resource = definition.first();
    let mut object = definition.to_value();
    let (stored, applied) = (length(&object), annotations(&object));
    let (code, message, limit, size): (_, _, _, fn(&Value) -> usize) = if stored > ETCD_LIMIT / 10 * 9 {
        let message = format!(
            "the CRD of {} has {stored} bytes, and etcd takes requests of at most {ETCD_LIMIT}",
            resource.kind
        );
        (Code::CRD_NEAR_ETCD_LIMIT, message, ETCD_LIMIT / 2, length)
    } else if applied > APPLY_LIMIT {
        let message = format!(
            "`kubectl apply` cannot store the CRD of {}: its annotation would have {applied} bytes of at most {APPLY_LIMIT}",
            resource.kind
        );
        (Code::CRD_TOO_LARGE, message, APPLY_LIMIT, annotations)
    } else {
        return None;
    };
    let help = help(code, resource, shorter(&mut object, limit, size));
    Some(Diagnostic::warning(code, sources.loc(&resource.span), message).help(help))
}

/// The bytes of all annotations after `kubectl apply`, which writes JSON like Go and adds a line break.
fn annotations(object: &Value) -> usize {
    let own = object.pointer("/metadata/annotations").and_then(Value::as_object);
    let own: usize =
        own.into_iter().flatten().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum();
    own + LAST_APPLIED.len() + length(object) + 1
}

/// The greatest length of descriptions that makes the object small enough, and its size then.
fn shorter(object: &mut Value, limit: usize, size: fn(&Value) -> usize) -> Option<(usize, usize)> {
    DESCRIPTION_LENGTHS.into_iter().find_map(|length| {
        cut(object, length);
        let bytes = size(object);
        (bytes <= limit).then_some((length, bytes))
    })
}

fn cut(value: &mut Value, length: usize) {
    match value {
        Value::Object(map) => {
            // A field may also be named `description`; its schema is an object.
            match map.get_mut("description") {
                Some(Value::String(_)) if length == 0 => drop(map.remove("description")),
                Some(Value::String(text)) => *text = docs::truncate(text, length),
                _ => {}
            }
            map.values_mut().for_each(|value| cut(value, length));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut(item, length)),
        _ => {}
    }
}

fn help(code: Code, resource: &Resource, shorter: Option<(usize, usize)>) -> String {
    let other = match code {
        Code::CRD_TOO_LARGE => "apply it with `kubectl apply --server-side`".to_string(),
        _ => format!(
            "leave parts of {} open with `#[schema(schemaless, preserve_unknown_fields)]`",
            resource.kind
        ),
    };
    match shorter {
        Some((length, bytes)) => {
            format!("{other}, or set `max_desc_len = {length}`: then it has {bytes} bytes")
        }
        None => format!("{other}; without descriptions it is too large as well"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn descriptions_are_cut_until_the_object_fits() {
        let text = "word ".repeat(100);
        let mut object = json!({"properties": {"description": {"type": "string", "description": text}, "a": {"description": text}}});
        let size: fn(&Value) -> usize = |object| object.to_string().len();
        assert_eq!(shorter(&mut object.clone(), 600, size).unwrap().0, 200);
        assert_eq!(shorter(&mut object.clone(), 10, size), None);
        let (length, bytes) = shorter(&mut object, 80, size).unwrap();
        assert_eq!(
            (length, object),
            (0, json!({"properties": {"description": {"type": "string"}, "a": {}}}))
        );
        assert!(bytes <= 80);
    }

    #[test]
    fn annotation_size_equals_that_of_the_server() {
        let object = json!({"metadata": {"annotations": {"a": "<b>"}}});
        let json = r#"{"metadata":{"annotations":{"a":"\u003cb\u003e"}}}"#;
        assert_eq!(annotations(&object), "a<b>".len() + LAST_APPLIED.len() + json.len() + 1);
    }
}
