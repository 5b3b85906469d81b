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
    while !rest.is_empty() {
        let name = match next_step(&mut rest)? {
            Step::Quoted(_) if !array_notation => return Err("array notation is not allowed".to_owned()),
            Step::Quoted(name) | Step::Plain(name) => name,
        };
        let is_entry = node.properties.is_empty();
        node = match (node.properties.get(&name), node.additional_schema()) {
            (Some(property), _) => property,
            (None, Some(all)) if is_entry => all,
            _ => return Err("does not refer to a valid field".to_owned()),
        };
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

enum Step {
    Plain(String),
    Quoted(String),
}

fn next_step(rest: &mut &str) -> Result<Step, String> {
    if let Some(after) = rest.strip_prefix("['") {
        let mut name = String::new();
        let mut chars = after.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some((_, c @ ('\'' | '\\'))) => name.push(c),
                    _ => return Err(format!("invalid escape in {rest}")),
                },
                '\'' if after[at + 1..].starts_with(']') => {
                    *rest = &after[at + 2..];
                    return Ok(Step::Quoted(name));
                }
                c => name.push(c),
            }
        }
        return Err(format!("unterminated string: {rest}"));
    }
    let Some(after) = rest.strip_prefix('.') else {
        let token = rest.split(['.', '[', ']']).next().unwrap_or_default();
        return Err(format!("expected [ or . but got: {token}"));
    };
    let end = after.find(['.', '[']).unwrap_or(after.len());
    if end == 0 {
        return Err("unexpected end of JSON path".to_owned());
    }
    let name = after[..end].to_owned();
    *rest = &after[end..];
    Ok(Step::Plain(name))
}
