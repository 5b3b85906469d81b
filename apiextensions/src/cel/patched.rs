//! Checks that patches fit the objects that they change: fields, types of values, and paths.
//!
//! kube-apiserver compiles such expressions without a schema (`DynamicTypeResolver` of apiserver's pkg/cel/mutation), and
//! refuses their values at each request: `ObjectToTyped` and `findAtomics` of policy/mutating/patch/smd.go for apply
//! configurations, and the decoding of the patched object for JSON patches.

use serde_json::{Map, Value as Json};

use super::ast::{Expr, FieldInit, Kind, Literal};
use super::expression::Expression;
use super::issue::Issue;
use super::message::{JSON_PATCH, OBJECT};
use super::types::Type;
use crate::openapi;
use crate::schema::Schema;
use crate::schema::{ListType, MapType};

/// The operations of a JSON patch that read or change the value at their path.
const OPERATIONS: [&str; 6] = ["add", "copy", "move", "remove", "replace", "test"];

/// The objects that patches change.
#[derive(Clone, Debug)]
pub struct Patched(Schema);

impl Patched {
    /// Objects of a custom resource with this schema.
    #[must_use]
    pub fn custom(schema: &Schema) -> Self {
        let mut root = schema.clone();
        for name in ["apiVersion", "kind"] {
            root.properties.entry(name.to_owned()).or_insert_with(|| text().into());
        }
        root.properties.insert("metadata".to_owned(), metadata().into());
        Self(root)
    }

    /// Returns the errors of an expression whose value is a patch.
    #[must_use]
    pub fn issues(&self, expression: &Expression) -> Vec<Issue> {
        let mut checker = Checker { patched: self, expression, issues: Vec::new() };
        checker.walk(&expression.ast.root, false);
        checker.issues
    }

    /// The schemas that a message of this name may have: of a list its items, of a map itself or its values. `None`:
    /// the schema does not describe the place.
    fn places(&self, name: &str) -> Result<Option<Vec<&Schema>>, String> {
        let mut places = within(&self.0);
        let mut path = OBJECT.to_owned();
        for field in name.split('.').skip(1) {
            let Some(found) = field_of(&places, field) else {
                return match places.iter().any(|place| is_open(place)) {
                    true => Ok(None),
                    false => Err(format!("{path} has no field {field:?}")),
                };
            };
            path = format!("{path}.{field}");
            places = within(found);
        }
        Ok(Some(places))
    }

    /// The schema at a path of a JSON patch; `None`: the schema does not describe the place.
    fn at(&self, path: &str) -> Result<Option<&Schema>, String> {
        let mut place = &self.0;
        let Some(rest) = path.strip_prefix('/') else {
            return if path.is_empty() {
                Ok(Some(place))
            } else {
                Err(format!("the path {path:?} does not start with a slash"))
            };
        };
        for segment in rest.split('/') {
            let name = segment.replace("~1", "/").replace("~0", "~");
            let next = match &place.items {
                Some(items) if name == "-" || name.parse::<usize>().is_ok() => Some(&**items),
                Some(_) => return Err(format!("the path {path:?} has {name:?} as index of a list")),
                None => place.field(&name),
            };
            place = match next {
                Some(next) => next,
                None if is_open(place) => return Ok(None),
                None => return Err(format!("the path {path:?} leads to no field: there is no {name:?}")),
            };
        }
        Ok(Some(place))
    }
}

fn text() -> Schema {
    Schema { type_: Some("string".to_owned()), ..Schema::default() }
}

/// The schema of `metadata`.
fn metadata() -> Schema {
    let definitions = openapi::metadata_definitions();
    let name = |kind: &str| format!("{}.{kind}", openapi::META);
    let lookup = |kind: &str| definitions.get(&name(kind)).cloned().unwrap_or_default();
    let inlined = inline(lookup("ObjectMeta"), &lookup);
    // A test builds it.
    Schema::enforced(&inlined).unwrap_or_default()
}

/// Replaces references by their targets.
fn inline(value: Json, lookup: &dyn Fn(&str) -> Json) -> Json {
    match value {
        Json::Object(mut members) => {
            let target = match members.remove("allOf") {
                Some(Json::Array(mut all)) if all.len() == 1 => all.remove(0)["$ref"].take(),
                _ => members.remove("$ref").unwrap_or_default(),
            };
            if let Some((_, kind)) = target.as_str().and_then(|target| target.rsplit_once('.')) {
                return inline(lookup(kind), lookup);
            }
            let members = members.into_iter().map(|(name, value)| (name, inline(value, lookup)));
            Json::Object(members.collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// The schema itself without the lists around it, and the values of a map.
fn within(schema: &Schema) -> Vec<&Schema> {
    let mut schema = schema;
    let mut out = Vec::new();
    loop {
        match (&schema.items, schema.additional_schema()) {
            (Some(items), _) => schema = items,
            (None, Some(values)) => {
                out.push(schema);
                schema = values;
            }
            (None, None) => break,
        }
    }
    out.push(schema);
    out
}

/// The schema of a field. A named field comes before a key of a map, since messages of both have the same name.
fn field_of<'a>(places: &[&'a Schema], name: &str) -> Option<&'a Schema> {
    let named = places.iter().find(|place| place.properties.contains_key(name));
    named.or(places.first()).and_then(|place| place.field(name))
}

/// Whether an object may have fields that its schema does not name, or values of any type.
fn is_open(schema: &Schema) -> bool {
    schema.preserve_unknown_fields || schema.embedded_resource || schema.type_.is_none()
}

struct Checker<'a> {
    patched: &'a Patched,
    expression: &'a Expression,
    issues: Vec<Issue>,
}

impl Checker<'_> {
    fn issue(&mut self, id: usize, message: String) {
        // The message in an unknown field is of an unknown type.
        if self.issues.iter().all(|known| known.message != message) {
            let position = self.expression.ast.positions.get(id).copied().unwrap_or(0);
            self.issues.push(Issue { position, message });
        }
    }

    fn type_of(&self, expr: &Expr) -> Type {
        self.expression.checked.types.get(&expr.id).cloned().unwrap_or(Type::Dyn)
    }

    /// Checks the messages that an expression constructs. Those in JSON patches replace atomic values as a whole.
    fn walk(&mut self, expr: &Expr, is_in_json_patch: bool) {
        let mut is_json_patch = is_in_json_patch;
        if let Kind::Struct { name, fields } = &expr.kind {
            if name == JSON_PATCH {
                is_json_patch = true;
                self.operation(fields);
            } else {
                self.object(expr, name, fields, is_in_json_patch);
            }
        }
        for child in expr.children() {
            self.walk(child, is_json_patch);
        }
    }

    fn object(&mut self, expr: &Expr, name: &str, fields: &[FieldInit], may_be_atomic: bool) {
        let patched = self.patched;
        let places = match patched.places(name) {
            Ok(Some(places)) => places,
            Ok(None) => return,
            Err(fault) => return self.issue(expr.id, fault),
        };
        for field in fields {
            let Some(schema) = field_of(&places, &field.name) else {
                if !places.iter().any(|place| is_open(place)) {
                    self.issue(field.id, format!("{name} has no field {:?}", field.name));
                }
                continue;
            };
            let path = format!("{name}.{}", field.name);
            let found = match self.type_of(&field.value) {
                Type::Optional(inner) if field.optional => (*inner).clone(),
                other => other,
            };
            if !fits(schema, Some(&path), &found) {
                let wanted = wanted(schema, &path);
                self.issue(field.id, format!("{path} is {wanted}, but its value here is {}", shown(&found)));
            } else if !may_be_atomic && is_whole(schema, &found) {
                self.issue(
                    field.id,
                    format!("{path} is atomic, so an apply configuration may not set it; use json_patch"),
                );
            }
        }
    }

    /// Checks an operation of a JSON patch, as far as literals name its place.
    fn operation(&mut self, fields: &[FieldInit]) {
        let literal = |name: &str| {
            let field = fields.iter().find(|field| field.name == name)?;
            match &field.value.kind {
                Kind::Literal(Literal::String(text)) => Some((field.id, text.clone())),
                _ => None,
            }
        };
        if let Some((id, op)) = literal("op").filter(|(_, op)| !OPERATIONS.contains(&&**op)) {
            self.issue(
                id,
                format!("{op:?} is no operation of a JSON patch: use one of {}", OPERATIONS.join(", ")),
            );
        }
        let patched = self.patched;
        let mut place = None;
        for name in ["from", "path"] {
            let Some((id, path)) = literal(name) else { continue };
            match patched.at(&path) {
                Ok(found) => place = found.filter(|_| name == "path").map(|schema| (path, schema)),
                Err(fault) => self.issue(id, fault),
            }
        }
        let value = fields.iter().find(|field| field.name == "value");
        let (Some((path, schema)), Some(value)) = (place, value) else { return };
        let found = self.type_of(&value.value);
        // Kubernetes drops null members of a patched object.
        if found != Type::Null && !fits(schema, None, &found) {
            let wanted = wanted(schema, OBJECT);
            self.issue(value.id, format!("{path} is {wanted}, but its value here is {}", shown(&found)));
        }
    }
}

/// Whether values of this type may be those of a schema. `path` is the name that messages must have there.
fn fits(schema: &Schema, path: Option<&str>, found: &Type) -> bool {
    match (schema.type_name(), found) {
        (_, Type::Dyn | Type::Error | Type::Param(_)) => true,
        (_, Type::Null) if schema.nullable => true,
        (_, Type::Optional(inner)) => fits(schema, path, inner),
        (_, Type::Message(name)) if &**name == JSON_PATCH => false,
        (_, Type::Message(name)) if path.is_some_and(|path| path != &**name) => false,
        _ if schema.int_or_string => matches!(found, Type::Int | Type::String),
        ("", _) => true,
        ("string", Type::String)
        | ("boolean", Type::Bool)
        | ("integer" | "number", Type::Int | Type::Double)
        | ("object", Type::Message(_) | Type::Object(_)) => true,
        ("object", Type::Map(key, value)) => {
            let is_text = matches!(**key, Type::String | Type::Dyn | Type::Param(_));
            is_text && schema.additional_schema().is_none_or(|values| fits(values, path, value))
        }
        ("array", Type::List(item)) => schema.items.as_ref().is_none_or(|items| fits(items, path, item)),
        _ => false,
    }
}

/// Whether the value is atomic, so that one that is set replaces it.
fn is_whole(schema: &Schema, found: &Type) -> bool {
    match found {
        Type::List(_) => schema.is_type("array") && schema.effective_list_type() == ListType::Atomic,
        Type::Map(..) | Type::Message(_) | Type::Object(_) => schema.effective_map_type() == MapType::Atomic,
        _ => false,
    }
}

/// The type of a place, as messages show it.
fn wanted(schema: &Schema, path: &str) -> String {
    match schema.type_name() {
        _ if schema.int_or_string => "int or string".to_owned(),
        "string" => "string".to_owned(),
        "boolean" => "bool".to_owned(),
        "integer" => "int".to_owned(),
        "number" => "double".to_owned(),
        "array" => {
            format!("list({})", schema.items.as_ref().map_or("dyn".to_owned(), |items| wanted(items, path)))
        }
        _ => match schema.additional_schema() {
            Some(values) => format!("map(string, {})", wanted(values, path)),
            None => path.to_owned(),
        },
    }
}

fn shown(found: &Type) -> String {
    match found {
        Type::Timestamp | Type::Duration | Type::Uint | Type::Bytes => {
            format!("{found}, which JSON does not have")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cel::Environment;

    fn patched() -> Patched {
        let port = json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "number": {"type": "integer"}}});
        let spec = json!({"type": "object", "properties": {
            "replicas": {"type": "integer"}, "share": {"type": "number"}, "size": {"x-kubernetes-int-or-string": true},
            "on": {"type": "boolean"}, "note": {"type": "string", "nullable": true}, "tags": {"type": "array", "items": {"type": "string"}},
            "names": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
            "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": port},
            "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
            "byName": {"type": "object", "additionalProperties": port},
            "selector": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}}},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
        let schema = Schema::enforced(&json!({"type": "object", "properties": {"spec": spec}})).unwrap();
        Patched::custom(&schema)
    }

    fn issues(source: &str) -> Vec<String> {
        let environment = Environment::new(&[("object", Type::Dyn)]).with_patches();
        let expression = environment.compile(source).unwrap_or_else(|issues| panic!("{source}: {issues:?}"));
        patched().issues(&expression).into_iter().map(|issue| issue.message).collect()
    }

    #[test]
    fn patch_is_accepted_when_it_fits_the_schema() {
        for source in [
            "Object{apiVersion: 'a/v1', kind: 'A', spec: Object.spec{replicas: 3, share: 1, size: '5%', on: true, note: null}}",
            "Object{metadata: Object.metadata{labels: {'a': 'b'}, finalizers: ['a/b']}}",
            "Object{metadata: Object.metadata{labels: Object.metadata.labels{a: 'b'}}}",
            "Object{metadata: Object.metadata{?labels: object.x ? optional.of({'a': 'b'}) : optional.none()}}",
            "Object{spec: Object.spec{names: ['a'], ports: [Object.spec.ports{name: 'a', number: object.n}]}}",
            "Object{spec: Object.spec{ports: object.spec.ports.map(p, Object.spec.ports{name: p.name, number: 1})}}",
            "Object{spec: Object.spec{limits: {'a': 1}, byName: {'x': Object.spec.byName{name: 'a'}}}}",
            "Object{spec: Object.spec{open: Object.spec.open{x: 1, y: Object.spec.open.y{z: 2}}}}",
            "[JSONPatch{op: 'add', path: '/spec/tags/-', value: 'a'}, JSONPatch{op: 'remove', path: '/spec/ports/0/name'}]",
            "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 1}]",
            "[JSONPatch{op: 'add', path: '/metadata/labels/a~1b', value: 'c'}]",
            "[JSONPatch{op: 'replace', path: '/spec/selector', value: Object.spec.selector{a: 'b'}}]",
            "[JSONPatch{op: 'move', from: '/spec/open/a/b', path: '/spec/tags', value: null}]",
        ] {
            assert_eq!(issues(source), [""; 0], "{source}");
        }
    }

    #[test]
    fn patch_is_refused_when_a_field_or_value_does_not_fit() {
        for (source, fault) in [
            ("Object{spce: Object.spce{}}", "Object has no field \"spce\""),
            ("Object{spec: Object.spec{replica: 3}}", "Object.spec has no field \"replica\""),
            (
                "Object{spec: Object.spec{replicas: '3'}}",
                "Object.spec.replicas is int, but its value here is string",
            ),
            (
                "Object{spec: Object.spec{replicas: uint(3)}}",
                "Object.spec.replicas is int, but its value here is uint, which JSON does not have",
            ),
            ("Object{spec: Object.spec{on: null}}", "Object.spec.on is bool, but its value here is null"),
            (
                "Object{spec: Object.spec{size: true}}",
                "Object.spec.size is int or string, but its value here is bool",
            ),
            (
                "Object{spec: Object.metadata{}}",
                "Object.spec is Object.spec, but its value here is Object.metadata",
            ),
            (
                "Object{spec: Object.spec{ports: Object.spec.ports{name: 'a'}}}",
                "Object.spec.ports is list(Object.spec.ports), but its value here is Object.spec.ports",
            ),
            (
                "Object{spec: Object.spec{ports: [Object.spec.ports{name: 'a', nummer: 1}]}}",
                "Object.spec.ports has no field \"nummer\"",
            ),
            (
                "Object{spec: Object.spec{limits: {'a': 'b'}}}",
                "Object.spec.limits is map(string, int), but its value here is map(string, string)",
            ),
            (
                "Object{metadata: Object.metadata{labels: {'a': 1}}}",
                "Object.metadata.labels is map(string, string), but its value here is map(string, int)",
            ),
            (
                "Object{spec: Object.spec{tags: ['a']}}",
                "Object.spec.tags is atomic, so an apply configuration may not set it; use json_patch",
            ),
            (
                "Object{spec: Object.spec{selector: Object.spec.selector{a: 'b'}}}",
                "Object.spec.selector is atomic, so an apply configuration may not set it; use json_patch",
            ),
            (
                "[JSONPatch{op: 'put', path: '/spec'}]",
                "\"put\" is no operation of a JSON patch: use one of add, copy, move, remove, replace, test",
            ),
            ("[JSONPatch{op: 'remove', path: 'spec'}]", "the path \"spec\" does not start with a slash"),
            (
                "[JSONPatch{op: 'remove', path: '/spec/replica'}]",
                "the path \"/spec/replica\" leads to no field: there is no \"replica\"",
            ),
            (
                "[JSONPatch{op: 'add', path: '/spec/tags/first', value: 'a'}]",
                "the path \"/spec/tags/first\" has \"first\" as index of a list",
            ),
            (
                "[JSONPatch{op: 'copy', from: '/spec/nope', path: '/spec/tags'}]",
                "the path \"/spec/nope\" leads to no field: there is no \"nope\"",
            ),
            (
                "[JSONPatch{op: 'add', path: '/spec/replicas', value: 'a'}]",
                "/spec/replicas is int, but its value here is string",
            ),
        ] {
            assert_eq!(issues(source), [fault], "{source}");
        }
    }
}
