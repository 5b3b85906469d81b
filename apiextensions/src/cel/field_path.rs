//! The simple field paths of rules and selectable fields: `.spec.a['b'].c`.

use crate::schema::Schema;

/// A path that was found in a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPath<'a> {
    /// The path as causes show it, without the leading dot: `spec.a.b`.
    pub text: String,
    /// The first field.
    pub root: String,
    /// The schema that it leads to.
    pub schema: &'a Schema,
}

/// Follows a path of fields, `['quoted']` map keys included.
///
/// # Errors
/// Returns the place where it leaves the schema, or the malformed part, in the server's words.
pub fn resolve_field_path<'a>(
    path: &str,
    schema: &'a Schema,
    array_notation: bool,
) -> Result<FieldPath<'a>, String> {
    let mut node = schema;
    let mut text = String::new();
    let mut root = String::new();
    let mut rest = path;
    if rest.is_empty() {
        return Err("fieldPath must not be empty".to_owned());
    }
    while let Some(step) = token(&mut rest) {
        let name = match step {
            "[" if !array_notation => return Err("array notation is not allowed".to_owned()),
            "[" => unquoted(token(&mut rest).ok_or(END)?)?,
            "." => token(&mut rest).ok_or(END)?.to_owned(),
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        let is_entry = node.properties.is_empty();
        node = match (node.properties.get(&name), node.additional_schema()) {
            (Some(property), _) => property,
            (None, Some(all)) if is_entry => all,
            _ => return Err("does not refer to a valid field".to_owned()),
        };
        if step == "[" {
            match token(&mut rest).ok_or(END)? {
                "]" => {}
                other => return Err(format!("expected ] but got {other}")),
            }
        }
        if root.is_empty() {
            root.clone_from(&name);
        }
        match (text.is_empty(), is_entry) {
            (_, true) => text.push_str(&format!("[{name}]")),
            (true, false) => text.push_str(&name),
            (false, false) => {
                text.push('.');
                text.push_str(&name);
            }
        }
    }
    Ok(FieldPath { text, root, schema: node })
}

const END: &str = "unexpected end of JSON path";

/// Takes the next token: a delimiter, a quoted string, or the text before the next delimiter. Source: the scanner of
/// `ValidFieldPath` in apiextensions-apiserver's pkg/apiserver/schema/cel/validation.go.
fn token<'p>(rest: &mut &'p str) -> Option<&'p str> {
    let bytes = rest.as_bytes();
    let end = match bytes.first()? {
        b'\'' => (1..bytes.len()).find(|&at| bytes[at] == b'\'' && bytes[at - 1] != b'\\').map(|at| at + 1),
        b'.' | b'[' | b']' => Some(1),
        _ => rest.find(['.', '[', ']']),
    };
    let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after;
    Some(token)
}

/// Returns the name in a quoted token (`unescapeSingleQuote`).
fn unquoted(token: &str) -> Result<String, String> {
    let inner = token.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\''));
    let inner = inner.ok_or_else(|| format!("expected single quoted string but got {token}"))?;
    let mut name = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\'' | '\\')) => name.push(c),
                _ => return Err(format!("invalid escape in {token}")),
            },
            c => name.push(c),
        }
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn field_path_of_a_rule_resolves_to_its_schema() {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {"a": {"type": "object",
            "properties": {"b-c": {"type": "string"}}}, "m": {"type": "object", "additionalProperties": {"type": "integer"}}}}))
        .unwrap();
        assert_eq!(resolve_field_path(".a['b-c']", &schema, true).unwrap().text, "a.b-c");
        assert_eq!(resolve_field_path(".m['k.x']", &schema, true).unwrap().text, "m[k.x]");
        assert_eq!(resolve_field_path(".a.b-c", &schema, false).unwrap().schema.type_name(), "string");
        for bad in ["", "a", ".a.", ".a['b", ".x", ".a['b-c']"] {
            assert!(resolve_field_path(bad, &schema, false).is_err(), "{bad}");
        }
        for (bad, notation, fault) in [
            (".a[0]", false, "array notation is not allowed"),
            (".a[0]", true, "expected single quoted string but got 0"),
            (".m..k", true, "expected [ or . but got: k"),
            (".m['k'", true, "unexpected end of JSON path"),
            (".m['k'.x", true, "expected ] but got ."),
        ] {
            assert_eq!(resolve_field_path(bad, &schema, notation).err().as_deref(), Some(fault), "{bad}");
        }
    }
}
