//! Normalizes objects of built-in kinds to the form that a Go server decodes: unknown members are dropped, empty ones
//! are omitted or written according to the types, quantities and times are in canonical form.

mod scalar;
mod union;

use kubesmith_apiextensions::structural::times;
use kubesmith_apimachinery::golang;
use serde_json::{Map, Value};

use super::{Field, Shape, Type, find, message as lookup};
use scalar::{RESOURCES, amount, bytes, int_or_string, scalar, time};
use union::{is_union, union};

/// The position of a value in an object.
#[derive(Clone, Copy)]
struct At<'a> {
    parent: Option<&'a At<'a>>,
    step: Step<'a>,
    /// The embedded struct that has the member.
    embedded: Option<&'static str>,
    /// Whether the value is converted from Go's generic maps instead of decoded.
    converted: bool,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Member(&'a str),
    /// A member of a map, which Go's errors do not name.
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    const ROOT: At<'static> = At { parent: None, step: Step::Root, embedded: None, converted: false };

    fn to(&'a self, step: Step<'a>) -> At<'a> {
        At { parent: Some(self), step, embedded: None, converted: self.converted }
    }

    /// Returns the position of a field of a message.
    fn member_of(&'a self, field: &Field) -> At<'a> {
        At { embedded: field.embedded, ..self.to(Step::Member(field.name)) }
    }

    /// Returns the path as in errors about unknown fields: `spec.containers[0].image`.
    fn path(&self) -> String {
        let mut out = self.parent.map(At::path).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Index(index) => out.push_str(&format!("[{index}]")),
            Step::Member(name) | Step::Key(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
        }
        out
    }

    /// Returns the path as in Go's decoding errors: `spec.containers.image`.
    fn fields(&self) -> String {
        let mut out = self.parent.map(At::fields).unwrap_or_default();
        if let Step::Member(name) = self.step {
            for name in self.embedded.into_iter().chain([name]) {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
        }
        out
    }
}

/// Normalizes an object to its type; returns the paths of unknown members.
///
/// # Errors
/// Returns the first value of the wrong type, in the words of Go's decoder.
pub(crate) fn settle(object: &mut Value, of: &'static Type) -> Result<Vec<String>, String> {
    settle_at(&At::ROOT, object, of)
}

/// As [`settle`], for the result of a strategic merge or an apply, whose numbers Go converts between their types
/// (`fromUnstructured` of apimachinery's pkg/runtime/converter.go).
pub(crate) fn settle_merged(object: &mut Value, of: &'static Type) -> Result<Vec<String>, String> {
    settle_at(&At { converted: true, ..At::ROOT }, object, of)
}

/// [`settle`] or [`settle_merged`].
pub(crate) type Settle = fn(&mut Value, &'static Type) -> Result<Vec<String>, String>;

fn settle_at(at: &At<'_>, object: &mut Value, of: &'static Type) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    if let Value::Object(map) = object {
        message(map, of, at, &mut unknown)?;
    }
    Ok(unknown)
}

/// Returns an empty object of the type.
pub(crate) fn blank(of: &'static Type) -> Value {
    let mut object = Value::Object(Map::new());
    // An empty object has no faults.
    let _ = settle(&mut object, of);
    object
}

/// As [`blank`], without defaults: what Go writes of an object that nobody has decoded.
pub(crate) fn unset(of: &'static Type) -> Value {
    let value = |field: &Field| match lookup(field.of) {
        Some(of) if !field.optional && field.shape == Shape::One && !is_union(field.of) => unset(of),
        _ => zero(field),
    };
    let written = of.members.iter().filter(|(_, field)| field.always);
    Value::Object(written.map(|(name, field)| ((*name).to_owned(), value(field))).collect())
}

fn message(
    map: &mut Map<String, Value>,
    of: &'static Type,
    at: &At<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    let strangers: Vec<String> =
        map.keys().filter(|k| !of.members.contains_key(k.as_str())).cloned().collect();
    for name in strangers {
        if of.has_type_meta() && matches!(name.as_str(), "apiVersion" | "kind") {
            match &map[&name] {
                Value::String(_) => {}
                Value::Null => _ = map.remove(&name),
                value => {
                    let here = At { embedded: Some("TypeMeta"), ..at.to(Step::Member(&name)) };
                    return Err(mismatch(value, "string", &here, of));
                }
            }
        } else {
            unknown.push(at.to(Step::Member(&name)).path());
            map.remove(&name);
        }
    }
    for (name, field) in &of.members {
        let given = map.get_mut(*name).map(Value::take).unwrap_or_default();
        match member(given, field, &at.member_of(field), of, unknown)? {
            Some(value) => map.insert((*name).to_owned(), value),
            None => map.remove(*name),
        };
    }
    Ok(())
}

/// Returns the value of a field; `None` when it is omitted.
fn member(
    given: Value,
    field: &Field,
    at: &At<'_>,
    of: &'static Type,
    unknown: &mut Vec<String>,
) -> Result<Option<Value>, String> {
    let mut value = given;
    // A generated default replaces an empty text as well.
    let is_absent = value.is_null() || !field.optional && value == "";
    if is_absent && let Some(default) = field.default.filter(|d| !d.is_empty()) {
        value = if field.of == "string" {
            default.into()
        } else {
            serde_json::from_str(default).unwrap_or_default()
        };
    }
    if value.is_null() {
        let absent = || zero(field);
        return Ok(field.always.then(absent));
    }
    match field.shape {
        Shape::List => {
            let Value::Array(list) = &mut value else {
                return Err(mismatch(&value, &go_type(field), at, of));
            };
            for (i, item) in list.iter_mut().enumerate() {
                element(item, field, &at.to(Step::Index(i)), of, unknown)?;
            }
        }
        Shape::Map => {
            let Value::Object(map) = &mut value else {
                return Err(mismatch(&value, &go_type(field), at, of));
            };
            for (key, item) in map.iter_mut() {
                element(item, field, &at.to(Step::Key(key)), of, unknown)?;
            }
        }
        Shape::One | Shape::Inline => element(&mut value, field, at, of, unknown)?,
    }
    // Only a union is null here: `items` of another type, which Go reads as unset.
    let written = !value.is_null() && (field.optional || field.always || !is_zero(&value, field));
    Ok(written.then_some(value))
}

/// Normalizes an object as read from the store: protobuf does not distinguish an empty list or map from none.
pub(crate) fn forget_empty(object: &mut Value, of: &'static Type) {
    let Value::Object(map) = object else { return };
    for (name, value) in map {
        let Some(field) = of.members.get(name.as_str()) else { continue };
        let is_empty = match &*value {
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => field.shape == Shape::Map && map.is_empty(),
            _ => false,
        };
        if is_empty {
            *value = Value::Null;
            continue;
        }
        let Some(inner) = find(field.of) else { continue };
        match (field.shape, value) {
            (Shape::List, Value::Array(items)) => items.iter_mut().for_each(|item| forget_empty(item, inner)),
            (Shape::Map, Value::Object(map)) => map.values_mut().for_each(|item| forget_empty(item, inner)),
            (Shape::One | Shape::Inline, value) => forget_empty(value, inner),
            _ => {}
        }
    }
}

/// Returns the value that Go writes for a field that is not set.
pub(super) fn zero(field: &Field) -> Value {
    if field.optional || field.shape != Shape::One {
        return Value::Null;
    }
    match field.of {
        "string" => "".into(),
        "bool" => false.into(),
        "int32" | "int64" | "double" | "IntOrString" => 0.into(),
        "Quantity" => "0".into(),
        name if is_union(name) => Value::Null,
        name => lookup(name).map_or(Value::Null, blank),
    }
}

fn is_zero(value: &Value, field: &Field) -> bool {
    match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => field.shape == Shape::Map && map.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(set) => !set,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Null => true,
    }
}

/// Normalizes one value: a field's own, or an element of its list or map.
fn element(
    value: &mut Value,
    field: &Field,
    at: &At<'_>,
    of: &'static Type,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    if value.is_null() {
        let element = Field { optional: false, shape: Shape::One, ..*field };
        // Null bytes in a list or map are empty ones.
        *value = if field.of == "bytes" && field.shape != Shape::One { "".into() } else { zero(&element) };
        return Ok(());
    }
    match field.of {
        "string" | "bool" | "int32" | "int64" | "double" | "strings" => scalar(value, field, at, of),
        "bytes" => bytes(value, at, of),
        "Quantity" => amount(value, field.go == Some(RESOURCES)),
        "IntOrString" => int_or_string(value, at, of),
        "meta.Time" | "meta.MicroTime" if !value.is_string() => {
            Err(own_fault(golang::json_type(value), "string", at, of))
        }
        "meta.Time" => time(value, times::SECONDS),
        "meta.MicroTime" => time(value, times::MICROSECONDS),
        name if is_union(name) => union(value, name),
        name => match (lookup(name), &mut *value) {
            (Some(inner), Value::Object(map)) => message(map, inner, at, unknown),
            (Some(_), other) => Err(mismatch(other, &element_type(field), at, of)),
            (None, _) => Ok(()),
        },
    }
}

/// Returns a field's type in Go's notation.
fn go_type(field: &Field) -> String {
    let of = element_type(&Field { go: None, ..*field });
    match (field.go, field.shape) {
        (Some(name), _) => name.to_owned(),
        (None, Shape::List) => format!("[]{of}"),
        (None, Shape::Map) => format!("map[string]{of}"),
        (None, Shape::One | Shape::Inline) => of,
    }
}

/// Returns the type of a field's elements, or of a single field.
fn element_type(field: &Field) -> String {
    if let Some(name) = field.go {
        let element = name.strip_prefix("[]").or_else(|| Some(name.strip_prefix("map[")?.split_once(']')?.1));
        match (element, field.shape) {
            (Some(element), _) => return element.to_owned(),
            (None, Shape::One | Shape::Inline) => return name.to_owned(),
            // The name of a list or map type does not name its elements.
            (None, Shape::List | Shape::Map) => {}
        }
    }
    match field.of {
        "double" => "float64".to_owned(),
        "strings" => "[]string".to_owned(),
        "bytes" => "[]uint8".to_owned(),
        "Quantity" => "resource.Quantity".to_owned(),
        name => match name.split_once('.') {
            Some((package, name)) => format!("{}.{name}", version_of(package)),
            None => name.to_owned(),
        },
    }
}

/// Returns the Go package, which is the API's version, of a package in the table: `autoscalingv2` has another than
/// `v1`.
fn version_of(package: &str) -> &str {
    package.find("v2").map_or("v1", |at| &package[at..])
}

/// As [`cannot`], for a type with a decoder of its own, which the converter of maps knows nothing about.
fn own_fault(what: &str, wanted: &str, at: &At<'_>, of: &Type) -> String {
    match at.converted {
        true => format!("json: cannot unmarshal {what} into Go value of type {wanted}"),
        false => cannot(what, wanted, at, of),
    }
}

fn mismatch(value: &Value, wanted: &str, at: &At<'_>, of: &Type) -> String {
    cannot(golang::json_type(value), wanted, at, of)
}

fn cannot(what: &str, wanted: &str, at: &At<'_>, of: &Type) -> String {
    let name = of.name.split_once('.').map_or(of.name, |(_, name)| name);
    format!("json: cannot unmarshal {what} into Go struct field {name}.{} of type {wanted}", at.fields())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settled(kind: &str, mut value: Value) -> Result<(Value, Vec<String>), String> {
        let unknown = settle(&mut value, find(kind).unwrap())?;
        Ok((value, unknown))
    }

    #[test]
    fn empty_members_are_kept_or_dropped_by_their_type() {
        let (pod, unknown) = settled(
            "core.Pod",
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {}, "creationTimestamp": null},
                   "spec": {"containers": [{"name": "c", "args": [], "image": null}], "hostNetwork": false,
                            "terminationGracePeriodSeconds": 0, "securityContext": {}}}),
        )
        .unwrap();
        assert_eq!(
            pod,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                   "spec": {"containers": [{"name": "c", "resources": {}}], "terminationGracePeriodSeconds": 0,
                            "securityContext": {}},
                   "status": {}})
        );
        assert!(unknown.is_empty());
    }

    #[test]
    fn empty_lists_are_dropped_by_forget_empty() {
        let (mut role, _) = settled("rbac.Role", json!({"rules": []})).unwrap();
        assert_eq!(role["rules"], json!([]));
        forget_empty(&mut role, find("rbac.Role").unwrap());
        assert_eq!(role["rules"], Value::Null);
    }

    #[test]
    fn kind_of_an_inner_object_may_be_null() {
        let set = |kind: Value| {
            settled("apps.StatefulSet", json!({"spec": {"volumeClaimTemplates": [{"kind": kind}]}}))
        };
        let (value, unknown) = set(Value::Null).unwrap();
        assert!(value["spec"]["volumeClaimTemplates"][0].get("kind").is_none() && unknown.is_empty());
        let place = "PersistentVolumeClaim.spec.volumeClaimTemplates.TypeMeta.kind";
        let fault = format!("json: cannot unmarshal number into Go struct field {place} of type string");
        assert_eq!(set(json!(5)).unwrap_err(), fault);
    }

    #[test]
    fn unknown_members_are_reported_and_dropped() {
        let (map, unknown) =
            settled("core.Pod", json!({"spec": {"containers": [{"name": "c", "imagee": "x"}]}, "x": 1}))
                .unwrap();
        assert_eq!(unknown, ["x", "spec.containers[0].imagee"]);
        assert!(map.get("x").is_none());
    }

    #[test]
    fn wrong_type_is_reported_with_gos_message() {
        for (kind, value, expected) in [
            (
                "apps.Deployment",
                json!({"spec": {"replicas": "3"}}),
                "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            (
                "core.Pod",
                json!({"spec": {"containers": [{"image": 1}]}}),
                "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string",
            ),
            (
                "core.ConfigMap",
                json!({"data": {"k": 1}}),
                "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
            ),
            (
                "apps.Deployment",
                json!({"spec": {"replicas": 3_000_000_000_u64}}),
                "json: cannot unmarshal number 3000000000 into Go struct field DeploymentSpec.spec.replicas of type int32",
            ),
            ("core.Secret", json!({"data": {"k": "a"}}), "illegal base64 data at input byte 0"),
        ] {
            assert_eq!(settled(kind, value).unwrap_err(), expected);
        }
    }

    #[test]
    fn items_of_another_type_are_unset_and_empty_dependencies_are_kept() {
        let schema = |mut schema: Value| {
            settle(&mut schema, lookup("apiextensions.JSONSchemaProps").unwrap()).unwrap();
            schema
        };
        let whole = json!({"type": "array", "dependencies": {}, "items": {"type": "string"}});
        assert_eq!(schema(whole.clone()), whole);
        for items in [json!("y"), json!(3), json!(true), json!([])] {
            assert_eq!(schema(json!({"type": "array", "items": items})), json!({"type": "array"}));
        }
    }

    #[test]
    fn quantities_and_times_are_normalised() {
        let resources = json!({"limits": {"cpu": 0.5, "memory": "1024Mi"}});
        let (container, _) = settled("core.Container", json!({"name": "c", "resources": resources})).unwrap();
        assert_eq!(container["resources"]["limits"], json!({"cpu": "500m", "memory": "1Gi"}));
        let (lease, _) = settled(
            "coordination.Lease",
            json!({"metadata": {"creationTimestamp": "2026-01-02T03:04:05+01:00"},
                   "spec": {"renewTime": "2026-01-02T03:04:05.000006Z"}}),
        )
        .unwrap();
        assert_eq!(lease["metadata"]["creationTimestamp"], "2026-01-02T02:04:05Z");
        assert_eq!(lease["spec"]["renewTime"], "2026-01-02T03:04:05.000006Z");
        let tiny = json!({"requests": {"cpu": "1.0001"}});
        let (container, _) = settled("core.Container", json!({"name": "c", "resources": tiny})).unwrap();
        assert_eq!(container["resources"]["requests"]["cpu"], "1001m");
        let bad = settled("coordination.Lease", json!({"spec": {"renewTime": "2026-01-02T03:04:05Z"}}));
        assert!(bad.unwrap_err().starts_with("parsing time"));
    }

    #[test]
    fn blank_object_has_members_that_go_never_omits() {
        assert_eq!(
            blank(find("core.Service").unwrap()),
            json!({"metadata": {}, "spec": {}, "status": {"loadBalancer": {}}})
        );
        assert_eq!(blank(find("apps.ReplicaSet").unwrap())["status"], json!({"replicas": 0}));
    }
}
