//! JSON paths of print columns, scale and selectable fields.

/// Checks a path as kubectl and the API server read those of print columns: `.a.b`, `['a']`,
/// `[0]`, `[*]`, `[?(@.type=="Ready")]`.
///
/// # Errors
/// Says what is wrong, to follow "invalid JSON path `...`: ".
pub fn check_json_path(path: &str) -> Result<(), String> {
    let mut rest = start(path)?;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            '.' => name(&rest[1..])?,
            '[' => brackets(&rest[1..])?,
            _ => return Err(format!("unexpected `{c}`; field names follow a dot")),
        };
    }
    Ok(())
}

/// Checks a path that names one field: `.spec.replicas`, no brackets.
///
/// # Errors
/// Says what is wrong, to follow "invalid JSON path `...`: ".
pub fn check_simple_path(path: &str) -> Result<(), String> {
    check_json_path(path)?;
    match path.find(['[', '*', '\\']) {
        Some(_) => Err("only field names separated by dots are allowed here".to_owned()),
        None => Ok(()),
    }
}

fn start(path: &str) -> Result<&str, String> {
    if let Some(c) = path.chars().find(|c| c.is_control()) {
        return Err(format!("it contains the control character U+{:04X}", u32::from(c)));
    }
    if path.starts_with('{') || path.starts_with('$') {
        return Err("write it without braces and `$`, starting with a dot".to_owned());
    }
    if !path.starts_with('.') {
        return Err("it must start with a dot".to_owned());
    }
    Ok(path)
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
        } else if !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '*' | '@' | ':')) {
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
    let mut depth = 1;
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (_, '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth -= 1;
                if depth == 0 {
                    return if text[..at].trim().is_empty() {
                        Err("the brackets are empty".to_owned())
                    } else {
                        Ok(&text[at + 1..])
                    };
                }
            }
            (None, _) => {}
        }
    }
    Err(if quote.is_some() { "a quote is not closed" } else { "a bracket is not closed" }.to_owned())
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
        ] {
            assert_eq!(check_json_path(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "spec",
            ".",
            ".spec.",
            ".spec..a",
            "{.spec}",
            "$.spec",
            ".spec[",
            ".spec[]",
            ".spec['a]",
            ".a\n",
            ".a b",
            ".a\\",
            ".a]b",
            ".a\"b",
            ".a[0]b",
        ] {
            assert!(check_json_path(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn simple_paths_name_one_field() {
        assert_eq!(check_simple_path(".spec.replicas"), Ok(()));
        for bad in [".spec[0]", ".spec.*", "spec", r".spec.a\.b"] {
            assert!(check_simple_path(bad).is_err(), "{bad}");
        }
    }
}
