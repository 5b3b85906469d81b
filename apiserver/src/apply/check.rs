//! Checks objects against the merge rules of their kind; faulty ones are never merged.

use std::collections::BTreeSet;

use kubesmith_apiextensions::cel::{Foreign, shown, syntax};
use kubesmith_apiextensions::structural::{Additional, Schema};
use kubesmith_apimachinery::fieldpath::{PathElement, path_text};
use serde_json::{Map, Value};

use super::types::{Ty, Typed};
use super::walk::MAX_DEPTH;

/// Checks a configuration: all of it must be declared and of its type, and items of sets and list maps must be unique.
///
/// # Errors
/// Returns all faults in kube-apiserver's words.
pub(super) fn config(typed: &Typed, value: &Value) -> Result<(), String> {
    check(typed, value, Tolerance::default())
}

/// Checks an object that is stored or about to be: items may repeat, and undeclared fields are already pruned.
///
/// # Errors
/// As for [`config`].
pub(super) fn object(typed: &Typed, value: &Value) -> Result<(), String> {
    check(typed, value, Tolerance { repeated_items: true, undeclared_fields: true })
}

/// Checks an object that admission or a conversion has changed: items may repeat.
///
/// # Errors
/// As for [`config`].
pub(super) fn changed(typed: &Typed, value: &Value) -> Result<(), String> {
    check(typed, value, Tolerance { repeated_items: true, undeclared_fields: false })
}

/// Input that the check accepts.
#[derive(Clone, Copy, Default)]
struct Tolerance {
    repeated_items: bool,
    undeclared_fields: bool,
}

fn check(typed: &Typed, value: &Value, tolerance: Tolerance) -> Result<(), String> {
    let mut check = Check { tolerance, path: Vec::new(), faults: Vec::new() };
    check.node(Ty::of(typed), typed.keeps_unknown, value);
    match check.faults.as_slice() {
        [] => Ok(()),
        [one] => Err(one.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

struct Check {
    tolerance: Tolerance,
    path: Vec<PathElement>,
    faults: Vec<String>,
}

impl Check {
    fn fault(&mut self, text: &str) {
        let path = path_text(&self.path);
        self.faults.push(if path.is_empty() { text.to_owned() } else { format!("{path}: {text}") });
    }

    /// `keeps_unknown` also holds below the schema that sets it.
    fn node(&mut self, ty: Ty<'_>, keeps_unknown: bool, value: &Value) {
        // Null is a value of every type.
        if value.is_null() || self.path.len() >= MAX_DEPTH {
            return;
        }
        let Some(schema) = ty.schema() else { return self.untyped(value) };
        if let Some(foreign) = Foreign::of(value) {
            return self.fault(&unfit(declared(schema), schema.format_name(), foreign));
        }
        let keeps_unknown = keeps_unknown || schema.preserve_unknown_fields;
        match (declared(schema), value) {
            ("object" | "", Value::Object(map)) => self.members(ty, schema, keeps_unknown, map),
            ("array" | "", Value::Array(items)) => self.items(ty, keeps_unknown, items),
            (declared, value) => {
                if let Some(fault) = mismatch(declared, schema.format_name(), value) {
                    self.fault(&fault);
                }
            }
        }
    }

    /// Values without a schema are valid if they are JSON.
    fn untyped(&mut self, value: &Value) {
        if let Some(foreign) = Foreign::of(value) {
            return self.fault(&unfit("object", "", foreign));
        }
        let mut at = |element, value: &Value| {
            self.path.push(element);
            self.untyped(value);
            self.path.pop();
        };
        match value {
            Value::Object(map) => {
                map.iter().for_each(|(name, value)| at(PathElement::Field(name.clone()), value));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, item)| at(PathElement::Index(i), item));
            }
            _ => {}
        }
    }

    fn members(&mut self, ty: Ty<'_>, schema: &Schema, keeps_unknown: bool, map: &Map<String, Value>) {
        let open = match &schema.additional_properties {
            Some(Additional::Schema(_)) => true,
            Some(Additional::Allowed(any)) => *any,
            None => keeps_unknown || schema.properties.is_empty(),
        };
        for (name, value) in map {
            self.path.push(PathElement::Field(name.clone()));
            if open || self.tolerance.undeclared_fields || schema.properties.contains_key(name) {
                self.node(ty.field(name).0, keeps_unknown, value);
            } else {
                self.fault("field not declared in schema");
            }
            self.path.pop();
        }
    }

    fn items(&mut self, ty: Ty<'_>, keeps_unknown: bool, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (i, item) in items.iter().enumerate() {
            let element = if ty.is_associative() { ty.element(item) } else { Ok(PathElement::Index(i)) };
            let element = match element {
                Ok(element) => element,
                // Without a path, the rest cannot be checked.
                Err(fault) => return self.fault(&format!("element {i}: {fault}")),
            };
            if !seen.insert(element.clone()) && !self.tolerance.repeated_items {
                self.fault(&format!("duplicate entries for key {element}"));
            }
            self.path.push(element);
            self.node(ty.item(), keeps_unknown, item);
            self.path.pop();
        }
    }
}

fn declared(schema: &Schema) -> &str {
    if schema.int_or_string { "" } else { schema.type_name() }
}

/// Returns the fault of a value that is no JSON.
pub(super) fn unfit(declared: &str, format: &str, foreign: Foreign<'_>) -> String {
    let Foreign { shown, syntax, type_name } = foreign;
    match declared {
        "array" => format!("expected list, got &{{{shown}}}"),
        "integer" | "number" => format!("expected numeric (int or float), got {type_name}"),
        "boolean" => format!("expected boolean, got &{{{shown}}}"),
        "string" if matches!(format, "" | "byte") => {
            format!("expected string, got &value.valueUnstructured{{Value:{syntax}}}")
        }
        "string" => format!("expected any scalar, got &{{{shown}}}"),
        _ => format!("expected map, got &{{{shown}}}"),
    }
}

/// Returns the fault of a value that is not of the declared type.
pub(super) fn mismatch(declared: &str, format: &str, value: &Value) -> Option<String> {
    let is_scalar = !value.is_object() && !value.is_array();
    match declared {
        "object" => Some(format!("expected map, got &{{{}}}", shown(value))),
        "array" => Some(format!("expected list, got &{{{}}}", shown(value))),
        "integer" | "number" if !value.is_number() => {
            Some(format!("expected numeric (int or float), got {}", go_type(value)))
        }
        "boolean" if !value.is_boolean() => Some(format!("expected boolean, got &{{{}}}", shown(value))),
        "string" if matches!(format, "" | "byte") && !value.is_string() => {
            Some(format!("expected string, got &value.valueUnstructured{{Value:{}}}", syntax(value)))
        }
        // The other formats accept any scalar.
        "string" if !is_scalar => Some(format!("expected any scalar, got &{{{}}}", shown(value))),
        _ => None,
    }
}

/// The type of a decoded value in Go.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
