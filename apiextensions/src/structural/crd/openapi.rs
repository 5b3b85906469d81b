//! Validation of `openAPIV3Schema` in a definition.

use serde_json::Value;

use super::rules::{Cardinality, Rules, Site};
use super::structure::{conversion_fault, validate_structural};
use crate::cel::{Validator, resolve_field_path};
use crate::schema::{Additional, KEYWORDS, Keyword, Rule, Schema, SchemaError};
use crate::structural::cause::Cause;
use crate::structural::{Path, meta, prune, validate};

/// The types that a schema may name.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Refused where it is false.
const NO_PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// The faults of a schema; `before` is the stored schema of the version on update.
pub(super) fn validate_schema(
    json: &Value,
    before: Option<&Value>,
    status: bool,
    path: &Path,
    causes: &mut Vec<Cause>,
) {
    let schema = match Schema::enforced(json) {
        Ok(schema) => schema,
        Err(error) => {
            causes.push(unreadable(&error, path));
            return;
        }
    };
    let others = causes.len();
    if status {
        check_root_with_status(&schema, json, path, causes);
    }
    if schema.nullable {
        causes.push(Cause::forbidden(path.child("nullable"), "nullable cannot be true at the root"));
    }
    // Neither the structure nor defaults and rules of a schema that cannot be converted are checked.
    let conversion = conversion_fault(&schema);
    let mut with_rules = false;
    if conversion.is_none() {
        let shape = validate_structural(path, &schema);
        with_rules = shape.is_empty();
        causes.extend(shape);
    }
    if with_rules {
        // Defaults are validated with all formats, known or not (`ValidateDefaults`).
        let defaults = check_defaults(&Schema::parse(json).unwrap_or_else(|_| schema.clone()), path);
        with_rules = defaults.is_empty();
        causes.extend(defaults);
    }
    let mut walk = Walk { schema_causes: Vec::new(), rules: Rules::new(before == Some(json)) };
    walk.node(&schema, path, &Place::root(with_rules), true);
    causes.extend(walk.schema_causes);
    walk.rules.finish(path, causes);
    // What cannot be converted mostly has a cause of its own.
    if let Some(fault) = conversion.filter(|_| causes.len() == others) {
        causes.push(Cause::invalid(path, "", fault));
    }
}

fn unreadable(error: &SchemaError, path: &Path) -> Cause {
    Cause::invalid(path, "", error.to_string())
}

/// The first keyword that a root may not have while status is a subresource.
fn check_root_with_status(schema: &Schema, json: &Value, path: &Path, causes: &mut Vec<Cause>) {
    if !matches!(schema.type_name(), "" | "object") {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled";
        causes.push(Cause::invalid(path.child("type"), schema.type_name(), detail));
        return;
    }
    let zero = |v: &Value| match v {
        Value::Null | Value::Bool(false) => true,
        Value::String(s) => s.is_empty(),
        _ => false,
    };
    let map = json.as_object().into_iter().flatten();
    let is_allowed = |name: &str| Keyword::named(name).is_some_and(|keyword| keyword.at_root.is_some());
    if map.filter(|(_, v)| !zero(v)).any(|(key, _)| !is_allowed(key)) {
        let mut names: Vec<(u8, &str)> = KEYWORDS.iter().filter_map(|keyword| keyword.at_root).collect();
        names.sort_unstable();
        let names: Vec<&str> = names.into_iter().map(|(_, go)| go).collect();
        let detail = format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            names.join(" ")
        );
        causes.push(Cause::invalid(path, json.clone(), detail));
    }
}

/// Checks that defaults fit the schema that they are in, and only have known fields.
fn check_defaults(schema: &Schema, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk_defaults(schema, true, false, path, &mut causes);
    causes
}

fn walk_defaults(
    schema: &Schema,
    is_resource: bool,
    inside_meta: bool,
    path: &Path,
    causes: &mut Vec<Cause>,
) {
    let inside_meta = inside_meta && !schema.embedded_resource;
    if let Some(default) = schema.default.as_ref().filter(|d| !d.is_null()) {
        check_default(schema, default, is_resource || schema.embedded_resource, inside_meta, path, causes);
    }
    if let Some(items) = &schema.items {
        walk_defaults(items, items.embedded_resource, inside_meta, &path.child("items"), causes);
    }
    for (name, property) in &schema.properties {
        let is_meta = matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        let inside = inside_meta || (is_meta && (is_resource || schema.embedded_resource));
        let below = path.child("properties").key(name);
        walk_defaults(property, property.embedded_resource, inside, &below, causes);
    }
}

fn check_default(
    schema: &Schema,
    default: &Value,
    is_resource: bool,
    inside_meta: bool,
    path: &Path,
    causes: &mut Vec<Cause>,
) {
    let field = path.child("default");
    if !inside_meta {
        let mut pruned = default.clone();
        prune::prune_part(schema, &mut pruned, is_resource);
        if pruned != *default {
            causes.push(Cause::invalid(&field, default.clone(), "must not have unknown fields"));
        }
        // A default of the root is a whole resource, so `apiVersion` and `kind` are required.
        let root = is_resource && !schema.embedded_resource;
        let root = root.then(|| Schema { embedded_resource: true, ..schema.clone() });
        let embedded = meta::validate_embedded(root.as_ref().unwrap_or(schema), default);
        if !embedded.is_empty() {
            causes.extend(embedded.into_iter().map(|mut cause| {
                cause.field = format!("{field}.{}", cause.field);
                cause
            }));
            return;
        }
    }
    let own = validate::validate_at(field.as_str(), &without_int_or_string(schema), default, None);
    if own.is_empty()
        && let Some(rules) = Validator::new(schema, is_resource)
    {
        causes.extend(rules.validate_default(&field, default));
    }
    causes.extend(own);
}

/// Returns the schema for validating defaults, without `x-kubernetes-int-or-string` and its effect on types
/// (`ToKubeOpenAPI`).
fn without_int_or_string(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    schema.walk_mut(&mut |node| node.int_or_string = false);
    schema
}

/// The properties of a node that follow from its place.
#[derive(Clone)]
struct Place {
    /// The reason why defaults are not allowed here, if so.
    no_defaults: Option<String>,
    inside_meta: bool,
    /// The outermost place whose old and new values cannot be matched.
    uncorrelatable: Option<Path>,
    /// The greatest number of the place's occurrences, if rules are checked at all.
    cardinality: Option<Cardinality>,
}

impl Place {
    fn root(with_rules: bool) -> Self {
        let cardinality = with_rules.then_some(Cardinality::Times(1));
        Self { no_defaults: None, inside_meta: false, uncorrelatable: None, cardinality }
    }

    /// The place of the parts of a list, map or object.
    fn below(&self, schema: &Schema) -> Self {
        let mut place = self.clone();
        place.cardinality = self.cardinality.map(|c| c.below(schema));
        place
    }

    /// Returns the place of a junctor, which has no rules.
    fn junction(&self) -> Self {
        Self { cardinality: None, ..self.clone() }
    }

    fn without_defaults(mut self, reason: impl Into<String>) -> Self {
        self.no_defaults = Some(reason.into());
        self
    }

    fn uncorrelatable(mut self, path: &Path) -> Self {
        self.uncorrelatable.get_or_insert_with(|| path.clone());
        self
    }
}

struct Walk {
    schema_causes: Vec<Cause>,
    rules: Rules,
}

impl Walk {
    fn node(&mut self, schema: &Schema, path: &Path, place: &Place, is_root: bool) {
        let known_faults = self.schema_causes.len();
        check_keywords(schema, path, place, &mut self.schema_causes);
        self.children(schema, path, place, is_root);
        for (name, branch) in schema.junctions() {
            self.node(branch, &path.child(&name), &place.junction(), false);
        }
        let causes = &mut self.schema_causes;
        check_preserve(schema, path, causes);
        check_map_type(schema, path, causes);
        check_list_type(schema, path, causes);
        check_list_keys(schema, path, causes);
        check_list_items(schema, path, causes);
        for (i, rule) in schema.validations.iter().enumerate() {
            check_rule_text(schema, rule, &path.child("x-kubernetes-validations").index(i), causes);
        }
        // Rules of a faulty schema would be reported for faults that are not theirs.
        if let (Some(cardinality), true) = (place.cardinality, self.schema_causes.len() == known_faults) {
            let site = Site { path, cardinality, uncorrelatable: place.uncorrelatable.as_ref() };
            self.rules.check(schema, is_root, &site);
        }
    }

    fn children(&mut self, schema: &Schema, path: &Path, place: &Place, is_root: bool) {
        let place = &place.below(schema);
        if let Some(Additional::Schema(all)) = &schema.additional_properties {
            let place = match place.inside_meta {
                true => {
                    place.clone().without_defaults("inside additionalProperties applying to object metadata")
                }
                false => place.clone(),
            };
            self.node(all, &path.child("additionalProperties"), &place, false);
        }
        for (name, property) in &schema.properties {
            let mut below = place.clone();
            if !matches!(schema.map_type.as_deref(), None | Some("granular" | "atomic")) {
                below = below.uncorrelatable(path);
            }
            let is_meta = matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
            if (is_root || schema.embedded_resource) && is_meta {
                below.inside_meta = true;
                if is_root {
                    below = below.without_defaults(format!("in top-level {name}"));
                }
            }
            self.node(property, &path.child("properties").key(name), &below, false);
        }
        if let Some(items) = &schema.items {
            let mut below = place.clone();
            if schema.list_type.as_deref() != Some("map") {
                below = below.uncorrelatable(path);
            }
            self.node(items, &path.child("items"), &below, false);
        }
    }
}

fn check_keywords(schema: &Schema, path: &Path, place: &Place, causes: &mut Vec<Cause>) {
    let type_ = schema.type_name();
    if !type_.is_empty() && !TYPES.contains(&type_) {
        causes.push(Cause::not_supported(path.child("type"), type_, &TYPES.map(str::to_owned)));
    }
    if let (true, Some(reason)) = (schema.default.is_some(), &place.no_defaults) {
        causes.push(Cause::forbidden(path.child("default"), format!("must not be set {reason}")));
    }
    for keyword in &schema.refused {
        let detail = match keyword.as_str() {
            // `conversion_fault` has it.
            NO_PRESERVE | "$schema" => continue,
            "items" => "items must be a schema object and not an array".to_owned(),
            keyword => format!("{keyword} is not supported"),
        };
        causes.push(Cause::forbidden(path.child(keyword), detail));
    }
    if type_ == "null" {
        let detail = "type cannot be set to null, use nullable as an alternative";
        causes.push(Cause::forbidden(path.child("type"), detail));
    }
    if place.inside_meta && schema.embedded_resource {
        let detail = "must not be used inside of resource meta";
        causes.push(Cause::forbidden(path.child("x-kubernetes-embedded-resource"), detail));
    }
    if schema.unique_items {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(path.child("uniqueItems"), detail));
    }
    let closed = !matches!(schema.additional_properties, None | Some(Additional::Allowed(true)));
    if closed && !schema.properties.is_empty() {
        let detail = "additionalProperties and properties are mutual exclusive";
        causes.push(Cause::forbidden(path.child("additionalProperties"), detail));
    }
}

fn check_preserve(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    if schema.refused.iter().any(|keyword| keyword == NO_PRESERVE) {
        causes.push(Cause::invalid(path.child(NO_PRESERVE), false, "must be true or undefined"));
    }
}

fn wrong_type(schema: &Schema, path: &Path, detail: &str) -> Cause {
    match schema.type_name() {
        "" => Cause::required(path.child("type"), detail),
        type_ => Cause::invalid(path.child("type"), type_, detail),
    }
}

fn check_map_type(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    let Some(map_type) = schema.map_type.as_deref() else { return };
    if !schema.is_type("object") {
        causes.push(wrong_type(schema, path, "must be object if x-kubernetes-map-type is specified"));
    }
    let known = ["atomic", "granular"];
    if !known.contains(&map_type) {
        let field = path.child("x-kubernetes-map-type");
        causes.push(Cause::not_supported(field, map_type, &known.map(str::to_owned)));
    }
}

fn check_list_type(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    let Some(list_type) = schema.list_type.as_deref() else { return };
    let items = schema.items.as_deref();
    if !schema.is_type("array") {
        causes.push(wrong_type(schema, path, "must be array if x-kubernetes-list-type is specified"));
    } else if let (Some(items), "set") = (items, list_type) {
        let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let below = path.child("items");
        let own: Value = items.list_type.clone().map_or(Value::Null, Value::String);
        let is_list = items.is_type("array") && !matches!(items.list_type.as_deref(), None | Some("atomic"));
        let is_map = items.is_type("object") && items.map_type.as_deref() != Some("atomic");
        if is_list {
            causes.push(Cause::invalid(below.child("x-kubernetes-list-type"), own, detail));
        } else if is_map {
            causes.push(Cause::invalid(below.child("x-kubernetes-map-type"), own, detail));
        }
    }
    let known = ["atomic", "set", "map"];
    if !known.contains(&list_type) {
        let field = path.child("x-kubernetes-list-type");
        causes.push(Cause::not_supported(field, list_type, &known.map(str::to_owned)));
    }
}

fn check_list_keys(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    let list_type = schema.list_type.as_deref();
    if !schema.list_map_keys.is_empty() {
        let field = path.child("x-kubernetes-list-type");
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list_type {
            None => causes.push(Cause::required(field, detail)),
            Some("map") => {}
            Some(other) => causes.push(Cause::invalid(field, other, detail)),
        }
    }
    if list_type != Some("map") {
        return;
    }
    let keys_field = path.child("x-kubernetes-list-map-keys");
    if schema.list_map_keys.is_empty() {
        causes.push(Cause::required(&keys_field, "must not be empty if x-kubernetes-list-type is map"));
    }
    let Some(items) = &schema.items else {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        causes.push(Cause::required(path.child("items"), detail));
        return;
    };
    if !items.is_type("object") {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        causes.push(Cause::invalid(path.child("items").child("type"), items.type_name(), detail));
        return;
    }
    let keys = || Value::from(schema.list_map_keys.clone());
    for (i, key) in schema.list_map_keys.iter().enumerate() {
        match items.properties.get(key) {
            None => {
                let detail = "entries must all be names of item properties";
                causes.push(Cause::invalid(&keys_field, keys(), detail));
            }
            Some(property) if matches!(property.type_name(), "array" | "object") => {
                let field = path.child("items").child("properties").key(key).child("type");
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                causes.push(Cause::invalid(field, items.type_name(), detail));
            }
            Some(_) => {}
        }
        if schema.list_map_keys[..i].contains(key) {
            causes.push(Cause::invalid(&keys_field, keys(), "must not contain duplicate entries"));
        }
    }
}

/// Checks that items of sets and list maps are never null, and their keys are always present.
fn check_list_items(schema: &Schema, path: &Path, causes: &mut Vec<Cause>) {
    let (Some(items), Some(list_type @ ("set" | "map"))) = (&schema.items, schema.list_type.as_deref())
    else {
        return;
    };
    let below = path.child("items");
    if items.nullable {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        causes.push(Cause::forbidden(below.child("nullable"), detail));
    }
    if list_type == "set" {
        return;
    }
    for key in &schema.list_map_keys {
        let Some(property) = items.properties.get(key) else { continue };
        let field = below.child("properties").key(key);
        if !items.required.contains(key) && property.default.is_none() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            causes.push(Cause::required(field.child("default"), detail));
        }
        if property.nullable {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            causes.push(Cause::forbidden(field.child("nullable"), detail));
        }
    }
}

fn check_rule_text(schema: &Schema, rule: &Rule, path: &Path, causes: &mut Vec<Cause>) {
    const REASONS: [&str; 4] =
        ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    let broken = |text: &str| text.contains(['\n', '\r']);
    let given = rule.message.as_deref().unwrap_or_default();
    let (text, message) = (rule.rule.trim(), given.trim());
    if text.is_empty() {
        causes.push(Cause::required(path.child("rule"), "rule is not specified"));
    } else if !given.is_empty() && message.is_empty() {
        causes.push(Cause::invalid(path.child("message"), given, "must be non-empty if specified"));
    } else if broken(message) {
        causes.push(Cause::invalid(path.child("message"), given, "must not contain line breaks"));
    } else if broken(text) && message.is_empty() {
        let detail = "message must be specified if rule contains line breaks";
        causes.push(Cause::required(path.child("message"), detail));
    }
    if rule.message_expression.as_deref().is_some_and(|expression| expression.trim().is_empty()) {
        let detail = "messageExpression must be non-empty if specified";
        causes.push(Cause::required(path.child("messageExpression"), detail));
    }
    if let Some(reason) = rule.reason.as_deref().filter(|r| !REASONS.contains(r)) {
        causes.push(Cause::not_supported(path.child("reason"), reason, &REASONS.map(str::to_owned)));
    }
    let Some(field_path) = rule.field_path.as_deref() else { return };
    let mut fault = |detail: &str| causes.push(Cause::invalid(path.child("fieldPath"), field_path, detail));
    if field_path.trim().is_empty() {
        fault("must be non-empty if specified");
    }
    if broken(field_path) {
        fault("must not contain line breaks");
    }
    // Any path is valid where the schema cannot be converted (`pathValid`).
    if conversion_fault(schema).is_none() && resolve_field_path(field_path, schema, true).is_err() {
        fault("must be a valid path");
    }
}
