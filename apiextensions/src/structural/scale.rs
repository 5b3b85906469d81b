//! The requirements of the scale subresource on its fields.

use serde_json::Value;

use super::cause::Cause;
use super::golang;

/// The paths of the scale subresource's fields, such as `.spec.replicas`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScalePaths {
    /// `specReplicasPath`.
    pub spec: String,
    /// `statusReplicasPath`.
    pub status: String,
    /// `labelSelectorPath`.
    pub selector: Option<String>,
}

impl ScalePaths {
    /// Parses `subresources.scale` of a definition; `None` if one of the numbers has no path.
    #[must_use]
    pub fn parse(scale: &Value) -> Option<Self> {
        Some(Self {
            spec: scale["specReplicasPath"].as_str()?.to_owned(),
            status: scale["statusReplicasPath"].as_str()?.to_owned(),
            selector: scale["labelSelectorPath"].as_str().map(str::to_owned),
        })
    }

    /// The faults of the wanted number of replicas and of the selector.
    #[must_use]
    pub fn validate_spec(&self, object: &Value) -> Vec<Cause> {
        let mut causes = replicas(object, &self.spec);
        let selector = self.selector.as_deref().filter(|path| !path.is_empty());
        if let Some(path) = selector
            && let Err(detail) = nested(object, path, "string", Value::is_string)
        {
            causes.push(Cause::invalid(path, "", detail));
        }
        causes
    }

    /// The faults of the observed number of replicas.
    #[must_use]
    pub fn validate_status(&self, object: &Value) -> Vec<Cause> {
        replicas(object, &self.status)
    }
}

fn replicas(object: &Value, path: &str) -> Vec<Cause> {
    let (value, detail) = match nested(object, path, "int64", Value::is_i64) {
        Err(detail) => (0, detail),
        Ok(found) => match found.and_then(Value::as_i64) {
            Some(number) if number < 0 => (number, "should be a non-negative integer".to_owned()),
            Some(number) if number > i64::from(i32::MAX) => {
                (number, format!("should be less than or equal to {}", i32::MAX))
            }
            _ => return Vec::new(),
        },
    };
    vec![Cause::invalid(path, value, detail)]
}

/// Returns the value at a path; an error if it is not of the type `wanted`.
fn nested<'v>(
    object: &'v Value,
    path: &str,
    wanted: &str,
    fits: impl Fn(&Value) -> bool,
) -> Result<Option<&'v Value>, String> {
    let mut at = object;
    let mut way = String::new();
    let fault = |way: &str, value: &Value, wanted: &str| {
        format!(
            "{way} accessor error: {} is of the type {}, expected {wanted}",
            golang::display(value),
            go_type(value)
        )
    };
    for field in path.trim_start_matches('.').split('.') {
        way.push('.');
        way.push_str(field);
        match at {
            Value::Null => return Ok(None),
            Value::Object(map) => match map.get(field) {
                Some(value) => at = value,
                None => return Ok(None),
            },
            other => return Err(fault(&way, other, "map[string]interface{}")),
        }
    }
    if fits(at) { Ok(Some(at)) } else { Err(fault(&way, at, wanted)) }
}

/// Go's name of the type that a JSON value is decoded to.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replicas_must_be_a_non_negative_int32() {
        let paths = ScalePaths {
            spec: ".spec.replicas".to_owned(),
            status: ".status.replicas".to_owned(),
            selector: Some(".status.selector".to_owned()),
        };
        let texts = |object: Value| -> Vec<String> {
            let causes = [paths.validate_spec(&object), paths.validate_status(&object)].concat();
            causes.iter().map(Cause::to_string).collect()
        };
        for fine in [
            json!({}),
            json!({"spec": null}),
            json!({"spec": {"replicas": 3}, "status": {"selector": "a=b"}}),
        ] {
            assert_eq!(texts(fine), Vec::<String>::new());
        }
        assert_eq!(
            texts(
                json!({"spec": {"replicas": -1}, "status": {"replicas": 3_000_000_000_i64, "selector": [1, "a"]}})
            ),
            [
                ".spec.replicas: Invalid value: -1: should be a non-negative integer",
                ".status.selector: Invalid value: \"\": .status.selector accessor error: [1 a] is of the type []interface {}, expected string",
                ".status.replicas: Invalid value: 3000000000: should be less than or equal to 2147483647"
            ]
        );
        assert_eq!(
            texts(json!({"spec": 1.5})),
            [
                ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected map[string]interface{}"
            ]
        );
    }
}
