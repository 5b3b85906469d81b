//! Schemas as API servers enforce them.

use serde_json::Value;

use crate::formats;
use crate::schema::{Schema, SchemaError};

impl Schema {
    /// Reads a schema as API servers enforce it: formats that are unknown for the type are ignored.
    ///
    /// # Errors
    /// A keyword of the wrong type, or a schema nested too deeply.
    pub fn enforced(schema: &Value) -> Result<Self, SchemaError> {
        let mut schema = Self::parse(schema)?;
        schema.walk_mut(&mut |node| {
            if node.format.is_some() && !formats::applies(node) {
                node.format = None;
            }
        });
        Ok(schema)
    }

    /// Returns the formats that are unknown to API servers for their type, outer ones first.
    ///
    /// # Errors
    /// As for [`enforced`](Self::enforced).
    pub fn unrecognized_formats(schema: &Value) -> Result<Vec<String>, SchemaError> {
        let mut unrecognized = Vec::new();
        Self::parse(schema)?.walk_mut(&mut |node| {
            if node.format.is_some() && !formats::applies(node) {
                unrecognized.push(node.format_name().to_owned());
            }
        });
        Ok(unrecognized)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn enforced_schema_drops_format_when_servers_do_not_know_it() {
        let schema = Schema::enforced(&json!({"properties": {
            "a": {"type": "string", "format": "no-such-format", "pattern": "^x"},
            "m": {"type": "object", "additionalProperties": {"type": "integer", "format": "int32"}},
            "i": {"x-kubernetes-int-or-string": true, "type": "integer", "format": "int32"}}}))
        .unwrap();
        assert_eq!(schema.properties["a"].format, None);
        assert_eq!(schema.properties["m"].field("any").unwrap().format_name(), "int32");
        assert_eq!(schema.properties["i"].format, None);
    }

    #[test]
    fn unrecognized_format_is_named_as_it_is_written() {
        let schema = json!({"properties": {"a": {"type": "number", "format": "int32"}, "b": {"type": "string", "format": "date-time"}}});
        assert_eq!(Schema::unrecognized_formats(&schema).unwrap(), ["int32"]);
    }
}
