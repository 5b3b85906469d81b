//! Checks JSON paths of print columns, scale and selectable fields.

/// An error in the path of a print column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPathError {
    /// The reason, to follow "invalid JSON path `...`: ".
    pub reason: String,
    /// Whether API servers refuse the definition. Otherwise they accept it, and the column is useless.
    pub is_refused: bool,
}

/// Checks a path of a print column as kubectl and API servers read it (client-go's JSONPath): `.a.b`, `..a`,
/// `['a']`, `[0]`, `[*]`, `[?(@.type=="Ready")]`.
///
/// # Errors
/// Returns an error if the path cannot be read, or names nothing useful.
pub fn check_column_path(path: &str) -> Result<(), ColumnPathError> {
    begins(path).map_err(|reason| ColumnPathError { reason, is_refused: true })?;
    steps(path).map_err(|reason| ColumnPathError { reason, is_refused: false })
}

/// Checks a path that names one field: `.spec.replicas`, no brackets.
///
/// # Errors
/// Returns the reason, to follow "invalid JSON path `...`: ".
pub fn check_simple_path(path: &str) -> Result<(), String> {
    begins(path)?;
    if path.contains(['[', '*', '\\']) || path.contains("..") {
        return Err("only field names separated by dots are allowed here".to_owned());
    }
    steps(path)
}

/// The only check of API servers on a column's path before they accept a definition.
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
        // Two dots match the name at any depth.
        let deep = rest.strip_prefix("..").filter(|after| !after.starts_with('.'));
        rest = match (c, deep) {
            ('.', Some(after)) if after.starts_with('[') => after,
            ('.', Some(after)) if after.starts_with(['*', '-', '/', ':', '\\']) => {
                return Err("behind `..`, a name begins with a letter, a digit or `_`".to_owned());
            }
            ('.', Some(after)) => name(after)?,
            ('.', None) => name(&rest[1..])?,
            ('[', _) => brackets(&rest[1..])?,
            _ => return Err(format!("unexpected `{c}`; field names follow a dot")),
        };
    }
    Ok(())
}

/// A field name up to the next step. Returns the rest.
fn name(text: &str) -> Result<&str, String> {
    let length = name_length(text)?;
    match text[length..].chars().next() {
        Some(c) if !matches!(c, '.' | '[') => Err(format!("unexpected `{c}` in a field name")),
        _ if length == 0 => Err("a field name is missing after a dot".to_owned()),
        _ => Ok(&text[length..]),
    }
}

/// The length of a field name, in which a backslash escapes the next character: `foo\.bar`.
fn name_length(text: &str) -> Result<usize, String> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if !(escaped || c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '*' | ':' | '\\')) {
            return Ok(at);
        }
        escaped = c == '\\' && !escaped;
    }
    if escaped { Err("it ends with a backslash".to_owned()) } else { Ok(text.len()) }
}

/// The contents of brackets up to the closing one. Returns the rest.
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
    // Only a comma may have spaces beside it.
    let several = inside.contains(',');
    for place in inside.split(',').map(|place| if several { place.trim_matches(' ') } else { place }) {
        if !is_place(place) {
            return Err(format!("`{place}` is neither an index nor a name in single quotes"));
        }
        if let Some((before, after)) = quoted_name(place).and_then(split_at_dot) {
            return Err(format!(
                "a dot separates names in quotes too: this is `{after}` of `{before}`; within a name, a dot is written `\\.`"
            ));
        }
    }
    Ok(rest)
}

/// `*`, `'name'`, or a number, or up to three with `:` between them.
fn is_place(text: &str) -> bool {
    let is_number = |text: &str| text.is_empty() || !text.starts_with('+') && text.parse::<i64>().is_ok();
    let is_range = text.split(':').count() <= 3 && text.split(':').all(is_number) && !text.is_empty();
    text == "*" || quoted_name(text).is_some_and(is_name) || is_range
}

/// `'name'`
fn quoted_name(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'')
}

/// A name, or several with dots between them.
fn is_name(text: &str) -> bool {
    !text.contains('\'') && steps(&format!(".{text}")).is_ok()
}

/// The texts before and after the first dot without a backslash.
fn split_at_dot(text: &str) -> Option<(&str, &str)> {
    let mut before = None;
    text.char_indices().find_map(|(at, c)| {
        let is_escaped = before == Some('\\');
        before = Some(if is_escaped { ' ' } else { c });
        (c == '.' && !is_escaped).then(|| (&text[..at], &text[at + 1..]))
    })
}

/// A filter after `[?(` up to its closing bracket: `@.type=="Ready"`, `@.type`. Returns the rest.
fn filter(text: &str) -> Result<&str, String> {
    let is_operator = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let rest = operand(text)?;
    if let Some(c) = text[..text.len() - rest.len()].chars().find(|c| is_operator(*c)) {
        return Err(format!("the first `{c}` of a filter is its comparison, in a text too"));
    }
    let rest = rest.trim_start_matches(' ');
    let end = rest.find(|c| !is_operator(c)).unwrap_or(rest.len());
    let rest = match &rest[..end] {
        "" => rest,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => operand(rest[end..].trim_start_matches(' '))?,
        other => {
            return Err(format!(
                "filters compare with `==`, `!=`, `<`, `<=`, `>` or `>=`, not with `{other}`"
            ));
        }
    };
    let Some(rest) = rest.trim_start_matches(' ').strip_prefix(')') else {
        return Err(match rest.trim_start_matches(' ').chars().next() {
            Some(c) => format!("unexpected `{c}` in a filter, which is one comparison"),
            None => "a filter is not closed".to_owned(),
        });
    };
    if end_of_filter(text) != Some(text.len() - rest.len() - 1) {
        return Err("a `)` ends a filter, but in the first text in quotes".to_owned());
    }
    rest.strip_prefix(']').ok_or_else(|| "`]` has to follow the `)` of a filter".to_owned())
}

/// The end of a filter for client-go: the first `)` that is not between the first quote and the next of its
/// kind.
fn end_of_filter(text: &str) -> Option<usize> {
    let (mut quote, mut ended) = (None, false);
    text.char_indices().find_map(|(at, c)| {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => ended |= !text[..at].ends_with('\\'),
            _ => {}
        }
        (c == ')' && quote.is_some() == ended).then_some(at)
    })
}

/// A side of a comparison: `@.a.b`, a text in quotes, a number, `true` or `false`. Returns the rest.
fn operand(text: &str) -> Result<&str, String> {
    let Some(first) = text.chars().next() else { return Err("a filter is not closed".to_owned()) };
    if let Some(path) = text.strip_prefix('@') {
        return place_of_item(path);
    }
    if matches!(first, '"' | '\'') {
        return quoted(&text[1..], first);
    }
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    let word = &text[..end];
    // client-go treats other numbers of Rust as words.
    let is_number = word.parse::<f64>().is_ok() && !word.contains(char::is_alphabetic);
    match is_number || matches!(word, "true" | "false") {
        true => Ok(&text[end..]),
        false if word.is_empty() => Err(format!("unexpected `{first}` in a filter")),
        false => Err(format!(
            "`{word}` in a filter is not a number; texts have quotes, and fields of an item begin with `@.`"
        )),
    }
}

/// The steps after `@`. Returns the rest.
fn place_of_item(path: &str) -> Result<&str, String> {
    let mut rest = path;
    loop {
        rest = match rest.strip_prefix('.') {
            Some(after) => match name_length(after)? {
                0 => return Err("a field name is missing after a dot".to_owned()),
                length => &after[length..],
            },
            None => match rest.strip_prefix('[') {
                Some(after) => brackets(after)?,
                None => return Ok(rest),
            },
        };
    }
}

/// Reads a text after its opening quote. Returns the text after the closing one.
fn quoted(text: &str, quote: char) -> Result<&str, String> {
    let mut rest = text;
    while let Some(at) = rest.find(['\\', quote]) {
        let after = &rest[at + 1..];
        if rest[at..].starts_with(quote) {
            return Ok(after);
        }
        let Some(length) = escape(after, quote) else {
            let c = after.chars().next().map(String::from).unwrap_or_default();
            return Err(format!("`\\{c}` is not an escape"));
        };
        rest = &after[length..];
        if after.starts_with('\\') && rest.starts_with(quote) {
            return Err(
                "a quote behind a backslash does not end a text, whatever is before the backslash".to_owned()
            );
        }
    }
    Err("a quote is not closed".to_owned())
}

/// The length of an escape after its backslash, if Go has it.
fn escape(text: &str, quote: char) -> Option<usize> {
    let (begin, digits, radix) = match text.chars().next()? {
        'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' => return Some(1),
        c if c == quote => return Some(1),
        'x' => (1, 2, 16),
        'u' => (1, 4, 16),
        'U' => (1, 8, 16),
        '0'..='7' => (0, 3, 8),
        _ => return None,
    };
    let end = begin + digits;
    text.get(begin..end)?.chars().all(|c| c.is_digit(radix)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_path_check_accepts_only_valid_paths() {
        for good in [
            ".spec.nodename",
            ".metadata.creationTimestamp",
            r#".status.conditions[?(@.type=="Ready")].status"#,
            ".spec.ports[*].port",
            ".spec.ports[0].port",
            r".metadata.annotations.example\.com/name",
            r".metadata.labels['a\.b/c']",
            ".status.conditions[?(@.type=='Ready')].status",
            ".status.conditions[?(@.type != 'a)b')].status",
            ".status.conditions[?(@.ready==true)].status",
            ".status.conditions[?(@.n >= -1.5)].status",
            r".status.conditions[?(@.labels.a\.b/c<=@['d'][0])].status",
            ".status.conditions[?(@.reason)].reason",
            ".status.list[?(@==\"a\")]",
            r".status.list[?(@=='\x41\\\n\u00e9\101')]",
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
            ".spec..*",
            ".spec...a",
            ".spec[",
            ".spec[]",
            ".spec[a]",
            ".spec[\"a\"]",
            ".spec['a]b']",
            ".spec[0:1:2:3]",
            ".spec[1 2]",
            ".spec[-]",
            ".spec[+1]",
            ".spec[ 1]",
            ".spec['b' ]",
            ".spec[?@.a]",
            ".spec[?(@.a)",
            ".spec[?(@.a=='b)].c",
            ".spec[?(@.a)b].c",
            ".a@b",
            ".spec['a]",
            ".spec['a.b/c']",
            r".spec['b', 'c\\.d']",
            ".spec['a b']",
            ".a[?(@.b==1&&@.c==2)]",
            ".a[?(@.b=1)]",
            ".a[?(@.b===1)]",
            ".a[?(@.b=~'x')]",
            ".a[?(@.b==Ready)]",
            ".a[?(b=='Ready')]",
            ".a[?(@.b==)]",
            ".a[?()]",
            ".a[?(@.)]",
            ".a[?(@.b[x])]",
            ".a[?(@.b==1e5)]",
            ".a[?(@['b']=='c)')]",
            ".a[?('b=c'==@.d)]",
            r".a[?(@.b=='c\\')]",
            r".a[?(@.b=='\x4')]",
            ".a[?(@.b=='\\q')]",
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
    fn simple_path_names_one_field() {
        assert_eq!(check_simple_path(".spec.replicas"), Ok(()));
        for bad in [".spec[0]", ".spec.*", "spec", r".spec.a\.b", ".spec..a", ".spec."] {
            assert!(check_simple_path(bad).is_err(), "{bad}");
        }
    }
}
