//! Checks a configuration of a built-in kind against the kind's types; see [`super::check`] for custom resources.

use std::collections::BTreeSet;

use kubesmith_apiextensions::cel::Foreign;
use kubesmith_apimachinery::fieldpath::{PathElement, path_text};
use serde_json::{Map, Value};

use super::check::{mismatch, unfit};
use super::types::{key_of, value_of};
use crate::types::{self, Field, Merge, Shape, Type};

/// Returns the faults of a configuration: undeclared members, values of another type, items without a unique key.
pub(crate) fn faults(config: &Value, of: &'static Type) -> Vec<String> {
    let mut walk = Walk { path: Vec::new(), faults: Vec::new() };
    if let Value::Object(map) = config {
        walk.members(map, of);
    }
    walk.faults
}

/// Joins faults as structured-merge-diff shows them.
///
/// # Errors
/// Returns the joined faults, if there are any.
pub(crate) fn joined(faults: &[String]) -> Result<(), String> {
    match faults {
        [] => Ok(()),
        [one] => Err(one.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

struct Walk {
    path: Vec<PathElement>,
    faults: Vec<String>,
}

impl Walk {
    fn fault(&mut self, text: &str) {
        self.faults.push(format!("{}: {text}", path_text(&self.path)));
    }

    /// Records a fault unless the value is of the declared type.
    fn is(&mut self, declared: &str, format: &str, value: &Value) {
        let fault = match Foreign::of(value) {
            Some(foreign) => Some(unfit(declared, format, foreign)),
            None => mismatch(declared, format, value),
        };
        if let Some(fault) = fault {
            self.fault(&fault);
        }
    }

    fn members(&mut self, map: &Map<String, Value>, of: &'static Type) {
        for (name, value) in map {
            self.path.push(PathElement::Field(name.clone()));
            match of.members.get(name.as_str()) {
                Some(field) => self.field(field, value),
                None if of.has_type_meta() && matches!(name.as_str(), "apiVersion" | "kind") => {
                    self.one("string", value);
                }
                None => self.fault("field not declared in schema"),
            }
            self.path.pop();
        }
    }

    fn field(&mut self, field: &Field, value: &Value) {
        match (field.shape, value) {
            (_, Value::Null) => {}
            (Shape::List, Value::Array(items)) => self.items(field, items),
            (Shape::List, other) => self.is("array", "", other),
            (Shape::Map, Value::Object(map)) if Foreign::of(value).is_none() => {
                for (name, value) in map {
                    self.path.push(PathElement::Field(name.clone()));
                    self.one(field.of, value);
                    self.path.pop();
                }
            }
            (Shape::Map, other) => self.is("object", "", other),
            (_, value) => self.one(field.of, value),
        }
    }

    fn items(&mut self, field: &Field, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for (i, item) in items.iter().enumerate() {
            let element = match element(field, i, item) {
                Ok(element) => element,
                // Without a path, the rest cannot be checked.
                Err(fault) => return self.fault(&format!("element {i}: {fault}")),
            };
            if !seen.insert(element.clone()) {
                self.fault(&format!("duplicate entries for key {element}"));
            }
            self.path.push(element);
            self.one(field.of, item);
            self.path.pop();
        }
    }

    fn one(&mut self, of: &str, value: &Value) {
        match (types::find(of), value) {
            (_, Value::Null) => {}
            (Some(inner), Value::Object(map)) if Foreign::of(value).is_none() => self.members(map, inner),
            (Some(_), other) => self.is("object", "", other),
            (None, value) => self.leaf(of, value),
        }
    }

    fn leaf(&mut self, of: &str, value: &Value) {
        match (of, value) {
            ("bool", _) => self.is("boolean", "", value),
            ("int32" | "int64" | "double", _) => self.is("number", "", value),
            ("string" | "bytes", _) => self.is("string", "", value),
            // These accept any scalar.
            ("IntOrString" | "Quantity" | "meta.Time" | "meta.MicroTime", _) => {
                self.is("string", of, value);
            }
            ("strings", Value::Array(items)) => {
                for (i, item) in items.iter().enumerate() {
                    self.path.push(PathElement::Index(i));
                    self.one("string", item);
                    self.path.pop();
                }
            }
            ("strings", _) => self.is("array", "", value),
            _ if Foreign::of(value).is_some() => self.is("object", "", value),
            _ => {}
        }
    }
}

/// Returns the path element of an item of a list.
fn element(field: &Field, place: usize, item: &Value) -> Result<PathElement, String> {
    match field.merge {
        Merge::Set => value_of(item),
        Merge::Keys(keys) => {
            let keys: Vec<String> = keys.split(',').map(str::to_owned).collect();
            let members = types::find(field.of).map(|of| &of.members);
            let default = |name: &str| members?.get(name)?.key_default();
            key_of(&keys, default, item)
        }
        Merge::ByShape | Merge::Atomic | Merge::Granular => Ok(PathElement::Index(place)),
    }
}
