//! One version of a custom resource: the server's processing of its objects between reading and storing them.

use serde_json::{Map, Value};

use super::cause::Cause;
use super::check::Checker;
use super::object_meta::{NameRule, UpdateChecks, validate_object_meta, validate_object_meta_update};
use super::scale::ScalePaths;
use super::{apply_defaults, default, meta, prune};
use crate::cel::Faults;
use crate::schema::Schema;

/// The rules of one version of a custom resource. Make it once per definition; it is immutable afterwards.
#[derive(Debug)]
pub struct CustomResource {
    checker: Checker,
    status: bool,
    scale: Option<ScalePaths>,
    preserves_unknown: bool,
}

/// A write of an object, as a server sees it before it stores the object.
#[derive(Debug)]
pub struct Written {
    /// The object with defaults, without unknown fields. It is incomplete if there are faults.
    pub object: Value,
    /// The object that it replaces; `None` for a new one.
    pub old: Option<Value>,
    /// The faults.
    pub causes: Vec<Cause>,
    /// Rules that unchanged parts break. A server warns of them.
    pub warnings: Vec<Cause>,
}

impl Written {
    /// A write that a single fault refuses.
    #[must_use]
    pub fn refused(object: Value, old: Option<Value>, cause: Cause) -> Self {
        Self { object, old, causes: vec![cause], warnings: Vec::new() }
    }
}

/// The metadata fields that clients cannot change.
const KEPT: [&str; 9] = [
    "name",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// Those of `customResourceStrategy` in apiextensions-apiserver's pkg/registry/customresource.
const UPDATE_CHECKS: UpdateChecks = UpdateChecks { whole: 0, changes: true };

/// The stand-in for the random suffix of a `generateName`.
const GENERATED_SUFFIX: &str = "xxxxx";
/// The limit of the part of `generateName` in the name, in characters.
const GENERATED_PREFIX: usize = 58;

impl CustomResource {
    /// A resource with this schema, and without subresources.
    #[must_use]
    pub fn new(schema: Schema) -> Self {
        Self { checker: Checker::from_schema(schema), status: false, scale: None, preserves_unknown: false }
    }

    /// Sets the `subresources` of a definition. Only writes of a status that is a subresource change it.
    #[must_use]
    pub fn with_subresources(mut self, subresources: &Value) -> Self {
        self.status = subresources["status"].is_object();
        self.scale = ScalePaths::parse(&subresources["scale"]);
        self
    }

    /// Sets whether unknown fields are kept everywhere.
    #[must_use]
    pub fn preserving_unknown_fields(mut self, preserves: bool) -> Self {
        self.preserves_unknown = preserves;
        self
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.checker.schema()
    }

    /// Removes unknown fields, and nulls that the schema treats as absent. Returns the paths of the former.
    ///
    /// Source: `unstructuredSchemaCoercer` of apiextensions-apiserver's pkg/apiserver/customresource_handler.go.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        if self.preserves_unknown {
            return Vec::new();
        }
        let unknown = self.prune_unknown(object);
        default::drop_nulls(self.schema(), object);
        unknown
    }

    /// As [`prune`](Self::prune), but keeps all nulls: those that admission sets are values, to be validated.
    pub fn prune_unknown(&self, object: &mut Value) -> Vec<String> {
        if self.preserves_unknown { Vec::new() } else { prune::prune(self.schema(), object) }
    }

    /// Drops nulls that the schema treats as absent, and fills in its defaults.
    pub fn default(&self, object: &mut Value) {
        apply_defaults(self.schema(), object);
    }

    /// Fills in the schema's defaults. Other nulls stay: those of an applied configuration are values, to be validated.
    pub fn fill_defaults(&self, object: &mut Value) {
        default::fill(self.schema(), object);
    }

    /// Checks the types of metadata and drops unknown fields; returns their paths.
    ///
    /// # Errors
    /// Returns the first metadata field of the wrong type.
    pub fn coerce(&self, object: &mut Value) -> Result<Vec<String>, Cause> {
        meta::coerce(self.schema(), object)
    }

    /// Drops metadata of the wrong type from a merged configuration.
    pub fn drop_invalid_metadata(&self, object: &mut Value) {
        meta::drop_invalid(self.schema(), object);
    }

    /// Returns the faults of an object that has its defaults and its name. Unknown fields may remain: they are ignored, but
    /// count for `minProperties` and `maxProperties`. `old` is the replaced object; with `status_only`, only its status was
    /// written.
    #[must_use]
    pub fn check(&self, object: &Value, old: Option<&Value>, status_only: bool) -> Faults {
        let mut causes = match old {
            Some(old) => validate_object_meta_update(object, old, NameRule::Subdomain, UPDATE_CHECKS),
            None => validate_object_meta(object, NameRule::Subdomain),
        };
        causes.extend(match old {
            Some(old) if status_only => self.checker.status_values(object, old),
            Some(old) => self.checker.updated_values(object, old),
            None => self.checker.values(object),
        });
        if let Some(scale) = &self.scale {
            if !status_only {
                causes.extend(scale.validate_spec(object));
            }
            causes.extend(scale.validate_status(object));
        }
        // Source: `ValidateUpdate` of pkg/registry/customresource/status_strategy.go, which lacks it.
        if !status_only {
            causes.extend(meta::validate_embedded(self.schema(), object));
        }
        self.checker.rest(causes, object, old)
    }

    /// Returns an object that a client wants to create, as a server sees it, and the faults that it finds.
    ///
    /// A generated name is checked with `xxxxx` at its end.
    #[must_use]
    pub fn create(&self, mut object: Value) -> Written {
        if let Err(cause) = self.complete(&mut object) {
            return Written::refused(object, None, cause);
        }
        if self.status {
            put(&mut object, "status", None);
        }
        generate_name(&mut object);
        let Faults { causes, warnings } = self.check(&object, None, false);
        Written { object, old: None, causes, warnings }
    }

    /// Returns an object that a client wants to put in the place of `old`, as a server sees it, and the faults that it
    /// finds. Fields that the client cannot change are taken from `old`, including the status if it is a subresource.
    #[must_use]
    pub fn update(&self, object: Value, old: Value) -> Written {
        self.change(object, old, |object, old| {
            keep_metadata(object, old);
            if self.status {
                put(object, "status", old.get("status").cloned());
            }
            false
        })
    }

    /// Returns `old` with the status that a client wants to put in the place of its own, and the faults that a server
    /// finds. Other fields of `object` are ignored.
    #[must_use]
    pub fn update_status(&self, object: Value, old: Value) -> Written {
        self.change(object, old, |object, old| {
            let status = object.get("status").cloned();
            *object = old.clone();
            put(object, "status", status);
            true
        })
    }

    /// As [`CustomResource::update`]; `merge` builds the stored object from both and returns whether only its status is
    /// new.
    fn change(
        &self,
        mut object: Value,
        mut old: Value,
        merge: impl Fn(&mut Value, &Value) -> bool,
    ) -> Written {
        if let Err(cause) = self.complete(&mut object) {
            return Written::refused(object, Some(old), cause);
        }
        let mut coerced = old.clone();
        // A faulty stored object must remain repairable.
        if self.coerce(&mut coerced).is_ok() {
            old = coerced;
        }
        self.prune(&mut old);
        self.default(&mut old);
        let mut causes = moved(&mut object, &old);
        let status_only = merge(&mut object, &old);
        let found = self.check(&object, Some(&old), status_only);
        causes.extend(found.causes);
        Written { object, old: Some(old), causes, warnings: found.warnings }
    }

    /// Drops unknown fields and fills in defaults.
    fn complete(&self, object: &mut Value) -> Result<(), Cause> {
        self.coerce(object)?;
        self.prune(object);
        self.default(object);
        Ok(())
    }
}

/// Reports a changed name or namespace. An absent namespace is that of the request.
fn moved(object: &mut Value, old: &Value) -> Vec<Cause> {
    if let Some(metadata) = metadata(object)
        && metadata.get("namespace").is_none_or(|namespace| namespace.is_null() || namespace == "")
        && let Some(namespace) = old["metadata"].get("namespace")
    {
        metadata.insert("namespace".to_owned(), namespace.clone());
    }
    let differs = |field: &&str| object["metadata"][*field] != old["metadata"][*field];
    let fields = ["name", "namespace"].into_iter().filter(differs);
    let cause = |field: &str| {
        let value = object["metadata"][field].as_str().unwrap_or_default();
        Cause::invalid(format!("metadata.{field}"), value, "field is immutable")
    };
    fields.map(cause).collect()
}

fn metadata(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata")?.as_object_mut()
}

fn keep_metadata(object: &mut Value, old: &Value) {
    let Some(metadata) = metadata(object) else { return };
    for field in KEPT {
        match old["metadata"].get(field) {
            Some(value) => drop(metadata.insert(field.to_owned(), value.clone())),
            None => drop(metadata.remove(field)),
        }
    }
}

fn generate_name(object: &mut Value) {
    let Some(metadata) = metadata(object) else { return };
    let text = |field: &str| metadata.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("name").is_empty() && !text("generateName").is_empty() {
        let mut name: String = text("generateName").chars().take(GENERATED_PREFIX).collect();
        name.push_str(GENERATED_SUFFIX);
        metadata.insert("name".to_owned(), name.into());
    }
}

/// Sets or removes a member.
fn put(object: &mut Value, name: &str, value: Option<Value>) {
    let Some(map) = object.as_object_mut() else { return };
    match value {
        Some(value) => drop(map.insert(name.to_owned(), value)),
        None => drop(map.remove(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resource() -> CustomResource {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "replicas": {"type": "integer", "default": 1},
                "name": {"type": "string", "maxLength": 3}}},
            "status": {"type": "object", "properties": {"phase": {"type": "string", "enum": ["Up", "Down"]}}}},
            "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('w')"}]}))
        .unwrap();
        let scale = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
        CustomResource::new(schema).with_subresources(&json!({"status": {}, "scale": scale}))
    }

    fn object(spec: Value, status: Value) -> Value {
        json!({"apiVersion": "e.com/v1", "kind": "W", "metadata": {"name": "w"}, "spec": spec, "status": status})
    }

    fn fields(written: &Written) -> Vec<&str> {
        written.causes.iter().map(|cause| cause.field.as_str()).collect()
    }

    #[test]
    fn create_ignores_status() {
        let wrong = object(json!({"name": "long", "replicas": -1}), json!({"phase": "Sideways"}));
        // The string that is too long keeps rules from being run.
        assert_eq!(fields(&resource().create(wrong)), ["spec.name", ".spec.replicas", "<nil>"]);
    }

    #[test]
    fn generate_name_is_validated_as_the_name_on_create() {
        let named = |prefix: &str| json!({"apiVersion": "e.com/v1", "kind": "W", "metadata": {"generateName": prefix}});
        assert!(resource().create(named("w-")).causes.is_empty());
        assert_eq!(fields(&resource().create(named("x-"))), ["<nil>"]);
        let causes = resource().create(json!({"apiVersion": "e.com/v1", "kind": "W", "metadata": {}}));
        assert_eq!(fields(&causes), ["metadata.name", "<nil>"]);
    }

    #[test]
    fn update_validates_spec_and_status_update_validates_status() {
        let old = object(json!({"name": "long"}), json!({"phase": "Up"}));
        let both = object(json!({"name": "longer"}), json!({"phase": "Sideways"}));
        assert_eq!(fields(&resource().update(both.clone(), old.clone())), ["spec.name", "<nil>"]);
        assert_eq!(fields(&resource().update_status(both, old.clone())), ["status.phase", "<nil>"]);
        // Unchanged invalid values are accepted.
        let same = object(json!({"name": "long", "replicas": 4}), Value::Null);
        assert!(resource().update(same, old.clone()).causes.is_empty());
        let mut other = old.clone();
        other["metadata"]["name"] = json!("w2");
        assert_eq!(fields(&resource().update(other, old)), ["metadata.name"]);
    }

    #[test]
    fn update_accepts_an_omitted_namespace() {
        let mut old = object(json!({}), Value::Null);
        old["metadata"]["namespace"] = json!("shop");
        let resource = resource();
        for absent in [object(json!({}), Value::Null), {
            let mut empty = old.clone();
            empty["metadata"]["namespace"] = json!("");
            empty
        }] {
            assert!(resource.update(absent.clone(), old.clone()).causes.is_empty());
            assert!(resource.update_status(absent, old.clone()).causes.is_empty());
        }
        let mut other = old.clone();
        other["metadata"]["namespace"] = json!("bank");
        assert_eq!(fields(&resource.update(other, old.clone()))[0], "metadata.namespace");
        // A cluster-scoped object does not come into a namespace.
        let cluster = object(json!({}), Value::Null);
        assert_eq!(fields(&resource.update(old, cluster))[0], "metadata.namespace");
    }

    #[test]
    fn malformed_metadata_is_the_only_error_reported() {
        let causes = resource().create(json!({"metadata": {"name": 1}, "spec": {"name": "long"}}));
        assert_eq!(fields(&causes), ["metadata"]);
    }
}
