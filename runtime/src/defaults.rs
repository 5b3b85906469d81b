//! Defaults of fields: the functions that generated `defaults` modules call.
//!
//! A field that is `None` is unset and gets its default, as in a custom resource that an API server reads. A field that is no
//! `Option` is never unset: Go takes the zero value for that, which in Rust is a value like any other.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use kubesmith_runtime::defaults;
//!
//! #[derive(Default)]
//! struct Port { protocol: Option<String> }
//!
//! fn set_defaults_port(port: &mut Port) {
//!     defaults::literal(&mut port.protocol, r#""TCP""#);
//! }
//!
//! let mut ports: Option<Vec<Port>> = Some(vec![Port::default()]);
//! defaults::each(&mut ports, set_defaults_port);
//! assert_eq!(ports.unwrap()[0].protocol.as_deref(), Some("TCP"));
//!
//! // Values of types that no function is generated for: the defaults of their schema.
//! let mut by_name = BTreeMap::from([("a".to_owned(), serde_json::json!({"x": 1}))]);
//! defaults::structural(&mut by_name, r#"{"additionalProperties": {"properties": {"y": {"default": 2}}}}"#);
//! assert_eq!(by_name["a"], serde_json::json!({"x": 1, "y": 2}));
//! ```

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Sets an unset field to a default in JSON. The [module](self) has an example.
///
/// A default that the type cannot decode is ignored; `kubesmith generate` refuses it.
pub fn literal<T: DeserializeOwned>(field: &mut Option<T>, default: &str) {
    if field.is_none() {
        *field = serde_json::from_str(default).ok();
    }
}

/// Calls a function with every `T` in the field: the field itself, or in `Option`s, boxes, lists and maps, nested
/// to any depth. The [module](self) has an example.
pub fn each<T, I>(field: &mut impl Holds<T, I>, mut set_defaults: impl FnMut(&mut T)) {
    field.each(&mut set_defaults);
}

/// Sets the defaults of a structural schema throughout a value, as an API server does, by `properties`, `items`,
/// `additionalProperties`, `default` and `nullable`. A null counts as unset unless it is allowed. The
/// [module](self) has an example.
///
/// The value is written as JSON and read back. If that fails, it stays unchanged.
pub fn structural<T: Serialize + DeserializeOwned>(value: &mut T, schema: &str) {
    let (Ok(schema), Ok(mut json)) = (serde_json::from_str(schema), serde_json::to_value(&*value)) else {
        return;
    };
    if set(&mut json, &schema)
        && let Ok(defaulted) = serde_json::from_value(json)
    {
        *value = defaulted;
    }
}

/// Sets defaults below the value; returns whether there were any.
fn set(value: &mut Value, schema: &Value) -> bool {
    let mut changed = false;
    match value {
        Value::Object(members) => {
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                if let (None, Some(default)) = (members.get(name), schema.get("default")) {
                    members.insert(name.clone(), default.clone());
                    changed = true;
                }
            }
            for (name, member) in members {
                let schema = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
                changed |= replace_null(member, schema) | set(member, schema);
            }
        }
        Value::Array(items) => {
            let schema = &schema["items"];
            changed = items
                .iter_mut()
                .fold(false, |changed, item| replace_null(item, schema) | set(item, schema) | changed);
        }
        _ => {}
    }
    changed
}

/// Replaces a null that is not allowed by the default; returns whether there is one.
fn replace_null(value: &mut Value, schema: &Value) -> bool {
    let default = schema.get("default").filter(|_| value.is_null() && schema["nullable"] != true);
    default.is_some_and(|default| {
        *value = default.clone();
        true
    })
}

/// A type that contains values of type `T`, which [`each`] finds. The compiler infers `I`, which says where.
pub trait Holds<T, I> {
    /// Calls the function with each of them; [`each`] is easier to call.
    fn each(&mut self, call: &mut dyn FnMut(&mut T));
}

/// The value itself; [`each`] finds it.
#[derive(Debug)]
pub struct Here;

/// The inner type of the value; [`each`] finds it.
#[derive(Debug)]
pub struct Inside<I>(PhantomData<I>);

impl<T> Holds<T, Here> for T {
    fn each(&mut self, call: &mut dyn FnMut(&mut T)) {
        call(self);
    }
}

impl<T, I, C: Holds<T, I>> Holds<T, Inside<I>> for Box<C> {
    fn each(&mut self, call: &mut dyn FnMut(&mut T)) {
        C::each(self, call);
    }
}

macro_rules! holds {
    ($([$($parameter:tt)*] $container:ty, $values:ident;)*) => {
        $(impl<T, I, C: Holds<T, I>, $($parameter)*> Holds<T, Inside<I>> for $container {
            fn each(&mut self, call: &mut dyn FnMut(&mut T)) {
                self.$values().for_each(|held| held.each(call));
            }
        })*
    };
}

holds! {
    [] Option<C>, iter_mut;
    [] Vec<C>, iter_mut;
    [] VecDeque<C>, iter_mut;
    [const N: usize] [C; N], iter_mut;
    [K] BTreeMap<K, C>, values_mut;
    [K, S] HashMap<K, C, S>, values_mut;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_unset_fields_get_defaults() {
        let (mut unset, mut set): (Option<u8>, _) = (None, Some(1_u8));
        literal(&mut unset, "7");
        literal(&mut set, "7");
        assert_eq!((unset, set), (Some(7), Some(1)));
        let mut wrong: Option<u8> = None;
        literal(&mut wrong, "\"text\"");
        assert_eq!(wrong, None);
    }

    #[test]
    fn each_finds_nested_values() {
        let add = |value: &mut u8| *value += 1;
        let mut deep = Some(Box::new(BTreeMap::from([("a", vec![[1_u8, 2], [3, 4]])])));
        each(&mut deep, add);
        assert_eq!(deep.unwrap()["a"], [[2, 3], [4, 5]]);
        let mut one = 1_u8;
        each(&mut one, add);
        let mut queue = VecDeque::from([HashMap::from([("a", one)])]);
        each(&mut queue, add);
        assert_eq!(queue[0]["a"], 3);
        let mut none: Option<Vec<u8>> = None;
        each(&mut none, add);
        assert_eq!(none, None);
    }

    #[test]
    fn structural_defaults_equal_those_of_an_api_server() {
        let schema = json!({
            "properties": {
                "a": {"default": {"b": 1}, "properties": {"c": {"default": 2}}},
                "d": {"items": {"properties": {"e": {"default": "x"}}}},
            },
        });
        let mut value = json!({"d": [{"e": null}, {"e": "y"}, 3], "z": 1});
        structural(&mut value, &schema.to_string());
        assert_eq!(value, json!({"a": {"b": 1, "c": 2}, "d": [{"e": "x"}, {"e": "y"}, 3], "z": 1}));
        structural(&mut value, "no schema");
    }

    #[test]
    fn nulls_count_as_unset_where_they_are_not_allowed() {
        let schema = json!({
            "properties": {
                "may": {"default": 1, "nullable": true, "properties": {"x": {"default": 1}}},
                "must": {"default": {}, "properties": {"x": {"default": 2}}},
                "list": {"items": {"default": {}, "properties": {"x": {"default": 3}}}},
                "gaps": {"items": {"default": 4, "nullable": true}},
            },
            "additionalProperties": {"additionalProperties": {"default": 5}},
        });
        let mut value = json!({
            "may": null, "must": null, "list": [null, {}, {"x": 1}], "gaps": [null], "map": {"a": null, "b": 1},
        });
        structural(&mut value, &schema.to_string());
        let wanted = json!({
            "may": null, "must": {"x": 2}, "list": [{"x": 3}, {"x": 3}, {"x": 1}], "gaps": [null],
            "map": {"a": 5, "b": 1},
        });
        assert_eq!(value, wanted);
        structural(&mut value, &schema.to_string());
        assert_eq!(value, wanted, "a second time changes nothing");
    }
}
