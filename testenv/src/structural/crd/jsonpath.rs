//! The simple field paths of rules and selectable fields: `.spec.a['b'].c`.

use crate::structural::schema::Structural;

/// A path that was found in a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPath<'a> {
    /// The path as causes show it, without the leading dot: `spec.a.b`.
    pub text: String,
    /// The first field.
    pub root: String,
    /// The schema that it leads to.
    pub schema: &'a Structural,
}

/// Follows a path of fields, `['quoted']` map keys included.
///
/// # Errors
/// Where it leaves the schema, or what cannot be read, in the server's words.
pub fn resolve_field_path<'a>(
    path: &str,
    schema: &'a Structural,
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
        let (name, quoted) = match next_step(&mut rest)? {
            Step::Quoted(_) if !array_notation => {
                return Err("expected to start with '.' and not to contain brackets".to_owned());
            }
            Step::Quoted(name) => (name, true),
            Step::Plain(name) => (name, false),
        };
        let is_entry = !node.properties.contains_key(&name);
        node = match (node.properties.get(&name), node.additional_schema()) {
            (Some(property), _) => property,
            (None, Some(all)) => all,
            _ => return Err(format!("does not refer to a valid field: {path}")),
        };
        match (text.is_empty(), quoted) {
            (true, _) => {
                root.clone_from(&name);
                text.push_str(&name);
            }
            (false, true) if is_entry => text.push_str(&format!("[{name}]")),
            (false, _) => {
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
        return Err(format!("expected [ or . but got: {}", rest.chars().next().unwrap_or_default()));
    };
    let end = after.find(['.', '[']).unwrap_or(after.len());
    if end == 0 {
        return Err("unexpected end of JSON path".to_owned());
    }
    let name = after[..end].to_owned();
    *rest = &after[end..];
    Ok(Step::Plain(name))
}
