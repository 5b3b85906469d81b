//! Members of schemas that have one of two types (apiextensions/v1/marshal.go).

use kubesmith_apimachinery::golang;
use serde_json::{Map, Value};

use super::{At, lookup, message};

/// Reports whether a type has its own `UnmarshalJSON` (apiextensions/v1/marshal.go).
pub(super) fn is_union(name: &str) -> bool {
    name.starts_with("apiextensions.JSONSchemaPropsOr")
}

const OR_ARRAY: &str = "apiextensions.JSONSchemaPropsOrArray";
const OR_BOOL: &str = "apiextensions.JSONSchemaPropsOrBool";
const OR_STRING_ARRAY: &str = "apiextensions.JSONSchemaPropsOrStringArray";

/// Normalizes a schema, or another value in place of one.
pub(super) fn union(value: &mut Value, name: &str) -> Result<(), String> {
    // It is decoded separately: errors do not name its parent, and unknown members are dropped without a warning.
    let of = lookup("apiextensions.JSONSchemaProps").ok_or("there is no type of schemas")?;
    let schema = |map: &mut Map<String, Value>| message(map, of, &At::ROOT, &mut Vec::new());
    match (name, &mut *value) {
        (_, Value::Object(map)) => schema(map),
        (OR_BOOL, Value::Bool(_)) => Ok(()),
        (OR_BOOL, _) => Err("boolean or JSON schema expected".to_owned()),
        (OR_ARRAY, Value::Array(list)) if list.is_empty() => {
            *value = Value::Null;
            Ok(())
        }
        (OR_STRING_ARRAY, Value::Array(list)) => {
            for item in list {
                if item.is_null() {
                    *item = "".into();
                } else if !item.is_string() {
                    let what = golang::json_type(item);
                    return Err(format!("json: cannot unmarshal {what} into Go value of type string"));
                }
            }
            Ok(())
        }
        (_, Value::Array(list)) => {
            for item in list {
                match item {
                    Value::Object(map) => schema(map)?,
                    Value::Null => *item = Value::Object(Map::new()),
                    _ => {
                        let what = golang::json_type(item);
                        let name = "v1.JSONSchemaProps";
                        return Err(format!("json: cannot unmarshal {what} into Go value of type {name}"));
                    }
                }
            }
            Ok(())
        }
        _ => {
            *value = Value::Null;
            Ok(())
        }
    }
}
