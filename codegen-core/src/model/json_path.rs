//! JSON paths of print columns, scale and selectable fields.

/// What is wrong with the path of a print column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPathError {
    /// To follow "invalid JSON path `...`: ".
    pub reason: String,
    /// Whether API servers refuse the definition. Otherwise they take it, and the column is of no use.
    pub is_refused: bool,
}

/// Checks a path as kubectl and API servers read those of print columns (client-go's JSONPath): `.a.b`, `..a`, `['a']`, `[0]`,
/// `[*]`, `[?(@.type=="Ready")]`.
///
/// # Errors
/// It cannot be read, or names nothing that anybody could mean.
pub fn check_column_path(path: &str) -> Result<(), ColumnPathError> {
    begins(path).map_err(|reason| ColumnPathError { reason, is_refused: true })?;
    steps(path).map_err(|reason| ColumnPathError { reason, is_refused: false })
}

/// Checks a path that names one field: `.spec.replicas`, no brackets.
///
/// # Errors
/// Says what is wrong, to follow "invalid JSON path `...`: ".
pub fn check_simple_path(path: &str) -> Result<(), String> {
    begins(path)?;
    if path.contains(['[', '*', '\\']) || path.contains("..") {
        return Err("only field names separated by dots are allowed here".to_owned());
    }
    steps(path)
}

/// All that API servers ask of a column's path before they take a definition.
fn begins(path: &str) -> Result<(), String> {
    if path.starts_with('{') || path.starts_with('$') {
        return Err("write it without braces and `$`, starting with a dot".to_owned());
    }
    if !path.starts_with('.') {
        return Err("it must start with a dot".to_owned());
    }
    Ok(())
}

fn steps(path: &str) -> Result<(), String> {
    if let Some(c) = path.chars().find(|c| c.is_control()) {
        return Err(format!("it contains the control character U+{:04X}", u32::from(c)));
    }
    let mut rest = path;
    while let Some(c) = rest.chars().next() {
        // Two dots lead to the name at any depth.
        let deep = rest.strip_prefix("..").filter(|after| !after.starts_with('.'));
        rest = match (c, deep) {
            ('.', Some(after)) if after.starts_with('[') => after,
            ('.', Some(after)) => name(after)?,
            ('.', None) => name(&rest[1..])?,
            ('[', _) => brackets(&rest[1..])?,
            _ => return Err(format!("unexpected `{c}`; field names follow a dot")),
        };
    }
    Ok(())
}

/// A field name, in which a backslash escapes the next character: `foo\.bar`. Returns the rest.
fn name(text: &str) -> Result<&str, String> {
    let mut escaped = false;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if matches!(c, '.' | '[') {
            end = at;
            break;
        } else if !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '*' | ':')) {
            return Err(format!("unexpected `{c}` in a field name"));
        }
    }
    if escaped {
        return Err("it ends with a backslash".to_owned());
    }
    if end == 0 {
        return Err("a field name is missing after a dot".to_owned());
    }
    Ok(&text[end..])
}

/// The inside of brackets up to the closing one. Returns the rest.
fn brackets(text: &str) -> Result<&str, String> {
    if let Some(filter) = text.strip_prefix("?(") {
        return self::filter(filter);
    }
    let Some((inside, rest)) = text.split_once(']') else {
        return Err("a bracket is not closed".to_owned());
    };
    if inside.trim().is_empty() {
        return Err("empty brackets name the first item alone, which is `[0]`; `[*]` are all".to_owned());
    }
    match inside.split(',').find(|part| !is_place(part.trim_matches(' '))) {
        Some(part) => Err(format!("`{part}` is no place in a list, and no name in single quotes")),
        None => Ok(rest),
    }
}

/// `*`, `'name'`, or a number, or up to three with `:` between them.
fn is_place(text: &str) -> bool {
    let is_number = |text: &str| text.is_empty() || text.parse::<i32>().is_ok();
    let name = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let is_range = text.split(':').count() <= 3 && text.split(':').all(is_number) && !text.is_empty();
    text == "*" || name.is_some_and(|name| !name.contains('\'')) || is_range
}

/// A filter behind `[?(` up to the bracket that closes it. Returns the rest.
fn filter(text: &str) -> Result<&str, String> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, ')') => {
                let rest = text[at + 1..].strip_prefix(']');
                return rest.ok_or_else(|| "`]` has to follow the `)` of a filter".to_owned());
            }
            (None, _) => {}
        }
    }
    Err(if quote.is_some() { "a quote is not closed" } else { "a filter is not closed" }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_columns() {
        for good in [
            ".spec.nodename",
            ".metadata.creationTimestamp",
            r#".status.conditions[?(@.type=="Ready")].status"#,
            ".spec.ports[*].port",
            ".spec.ports[0].port",
            r".metadata.annotations.example\.com/name",
            ".metadata.labels['a.b/c']",
            ".status.conditions[?(@.message==\"]\")].status",
            ".spec..a",
            "..a",
            "..['a']",
            ".spec.a[-1]",
            ".spec.a[0:2:1].b",
            ".spec.a[1:]",
            ".spec.a['b', 'c']",
            ".spec.*",
        ] {
            assert_eq!(check_column_path(good), Ok(()), "{good}");
        }
        for refused in ["", "spec", "{.spec}", "$.spec"] {
            assert!(check_column_path(refused).unwrap_err().is_refused, "{refused:?}");
        }
        for bad in [
            ".",
            "...",
            ".....",
            ".spec.",
            ".spec..",
            ".spec...a",
            ".spec[",
            ".spec[]",
            ".spec[a]",
            ".spec[\"a\"]",
            ".spec['a]b']",
            ".spec[0:1:2:3]",
            ".spec[1 2]",
            ".spec[-]",
            ".spec[?@.a]",
            ".spec[?(@.a)",
            ".spec[?(@.a=='b)].c",
            ".spec[?(@.a)b].c",
            ".a@b",
            ".spec['a]",
            ".a\n",
            ".a b",
            ".a\\",
            ".a]b",
            ".a\"b",
            ".a[0]b",
        ] {
            assert!(!check_column_path(bad).unwrap_err().is_refused, "{bad:?}");
        }
    }

    #[test]
    fn simple_paths_name_one_field() {
        assert_eq!(check_simple_path(".spec.replicas"), Ok(()));
        for bad in [".spec[0]", ".spec.*", "spec", r".spec.a\.b", ".spec..a", ".spec."] {
            assert!(check_simple_path(bad).is_err(), "{bad}");
        }
    }
}
