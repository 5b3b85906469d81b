//! Gives hints for the notation of other languages in a rule.

use kubesmith_apiextensions::cel::Issue;

/// Operators of other languages, and CEL's.
const OPERATORS: [(&str, &str); 10] = [
    ("and", "&&"),
    ("or", "||"),
    ("not", "!"),
    ("&", "&&"),
    ("|", "||"),
    ("=", "=="),
    ("===", "=="),
    ("=>", ">="),
    ("=<", "<="),
    ("<>", "!="),
];

/// Functions of other languages, and what CEL has (the functions of cel-go's common/stdlib and ext/strings.go).
const FUNCTIONS: [(&str, &str); 14] = [
    ("len", "`size(...)` is the length of texts, lists and maps"),
    ("length", "`size(...)` is the length of texts, lists and maps"),
    ("count", "`size(...)` is the length of texts, lists and maps"),
    ("is_empty", "write `size(...) == 0`"),
    ("isEmpty", "write `size(...) == 0`"),
    ("is_some", "`has(self.field)` tells whether a field is there"),
    ("is_none", "`!has(self.field)` tells whether a field is missing"),
    ("starts_with", "write `startsWith`"),
    ("ends_with", "write `endsWith`"),
    ("to_lowercase", "write `lowerAscii`"),
    ("to_uppercase", "write `upperAscii`"),
    ("any", "write `exists(item, ...)`"),
    ("is_match", "write `matches`"),
    ("includes", "write `contains` for texts, and `item in list` for lists"),
];

/// The hint for an unknown function.
pub(super) fn function(name: &str) -> Option<String> {
    let known = FUNCTIONS.iter().find(|(other, _)| *other == name).map(|(_, hint)| (*hint).to_owned());
    known.or_else(|| operator(name))
}

/// The hint for a fault of a rule.
pub(super) fn hint(source: &str, issue: &Issue) -> Option<String> {
    if issue.message.starts_with("Syntax error") {
        return tokens(source).into_iter().find_map(operator);
    }
    let operands = issue.message.strip_prefix("found no matching overload for '_")?;
    let is_equality = operands.starts_with("==_'") || operands.starts_with("!=_'");
    let is_null = operands.contains("(null, ") || operands.contains(", null)");
    (is_equality && is_null).then(|| null(source, issue.position, operands.starts_with('=')))
}

fn operator(word: &str) -> Option<String> {
    let (other, own) = OPERATORS.iter().find(|(other, _)| *other == word)?;
    Some(format!("write `{own}` in place of `{other}`"))
}

/// The hint for a comparison with null, which only a nullable field can be equal to.
fn null(source: &str, position: usize, is_equal: bool) -> String {
    let before: String = source.chars().take(position).collect();
    let field = before.trim_end().rsplit(|c: char| !is_word(c) && c != '.').next().unwrap_or_default();
    let not = if is_equal { "!" } else { "" };
    match field.contains('.') {
        true => format!("a missing field is not null: write `{not}has({field})`"),
        false => "the value is never null; `has(self.field)` tells whether a field is there".to_owned(),
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The words and operators outside of texts, without names of fields.
fn tokens(source: &str) -> Vec<&str> {
    let is_symbol = |c: char| "=<>!&|".contains(c);
    let mut out = Vec::new();
    let mut rest = source;
    let mut is_field = false;
    while let Some(first) = rest.chars().next() {
        let run = |is: &dyn Fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let length = match first {
            '"' | '\'' => text(rest, first),
            _ if is_word(first) => run(&is_word),
            _ if is_symbol(first) => run(&is_symbol),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        if !is_field {
            out.push(token);
        }
        is_field = token == ".";
        rest = after;
    }
    out
}

/// The length of a text with its quotes.
fn text(source: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = source.char_indices().skip(1).find(|(_, c)| {
        let is_end = !escaped && *c == quote;
        escaped = !escaped && *c == '\\';
        is_end
    });
    end.map_or(source.len(), |(at, c)| at + c.len_utf8())
}
