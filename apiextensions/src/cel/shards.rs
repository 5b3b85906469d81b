//! Shard selectors: expressions that are parsed and not evaluated. Source: apiserver's `pkg/sharding/parser.go`.

use std::ops::RangeInclusive;

use kubesmith_apimachinery::golang::quote;
use kubesmith_apimachinery::sharding::{ShardKey, ShardSelector};

use super::ast::{Expr, Kind, Literal};
use super::parser;

/// The exclusive end of all hashes.
const END: &str = "0x10000000000000000";

/// Parses the parameter `shardSelector` of a list or watch: `shardRange(field, start, end)`, joined by `||`.
///
/// # Errors
/// kube-apiserver's message.
pub fn shard_selector(text: &str) -> Result<ShardSelector, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("empty shard selector is not allowed; omit the parameter for unfiltered lists".to_owned());
    }
    let ast = parser::parse_without_macros(text).map_err(|issues| {
        let message = issues.into_iter().next().map_or_else(String::new, |issue| issue.message);
        format!("CEL parse error: {message}")
    })?;
    let mut ranges = Vec::new();
    walk(&ast.root, &mut ranges)?;
    // The grammar has at least one range.
    let key = ranges.first().map_or(ShardKey::Uid, |(key, _)| *key);
    if let Some((other, _)) = ranges.iter().find(|(other, _)| *other != key) {
        let [key, other] = [key, *other].map(|key| quote(key.path()));
        return Err(format!("all shard ranges must use the same field, got {key} and {other}"));
    }
    Ok(ShardSelector::new(key, ranges.into_iter().map(|(_, range)| range)))
}

type Range = (ShardKey, RangeInclusive<u64>);

fn walk(expr: &Expr, out: &mut Vec<Range>) -> Result<(), String> {
    match &expr.kind {
        Kind::Call { function, args, .. } if function == "_||_" => {
            args.iter().try_for_each(|arg| walk(arg, out))
        }
        Kind::Call { function, args, .. } if function == "shardRange" => {
            out.push(range(args)?);
            Ok(())
        }
        Kind::Call { function, .. } => {
            Err(format!("unsupported function {}; only shardRange() and || are allowed", quote(function)))
        }
        _ => Err(format!(
            "unexpected expression kind {}; expected shardRange() call or || operator",
            number(&expr.kind)
        )),
    }
}

fn range(args: &[Expr]) -> Result<Range, String> {
    let [field, start, end] = args else {
        return Err(format!("shardRange() requires exactly 3 arguments, got {}", args.len()));
    };
    let path = path(field).map_err(|error| format!("shardRange() first argument: {error}"))?;
    let key = ShardKey::from_path(&path).ok_or_else(|| {
        let supported = "object.metadata.uid, object.metadata.namespace";
        format!("unsupported field path {}; supported: {supported}", quote(&path))
    })?;
    let (start, end) = (hex(start, "hexStart")?, hex(end, "hexEnd")?);
    let bound = |text: &str| u128::from_str_radix(&text[2..], 16).unwrap_or_default();
    match (u64::try_from(bound(start)), bound(end).checked_sub(1).map(u64::try_from)) {
        (Ok(first), Some(Ok(last))) if first <= last => Ok((key, first..=last)),
        _ => Err(format!("shard range start {start} must be less than end {end}")),
    }
}

fn path(expr: &Expr) -> Result<String, String> {
    match &expr.kind {
        Kind::Ident(name) => Ok(name.clone()),
        Kind::Select { operand, field, .. } => Ok(format!("{}.{field}", path(operand)?)),
        other => Err(format!(
            "expected field path (e.g. object.metadata.uid), got expression kind {}",
            number(other)
        )),
    }
}

/// Returns a literal that is the bound of a range.
fn hex<'a>(expr: &'a Expr, name: &str) -> Result<&'a str, String> {
    let text = match &expr.kind {
        Kind::Literal(Literal::String(text)) => &**text,
        Kind::Literal(other) => {
            return Err(format!("{name} must be a string literal, got {}", go_type(other)));
        }
        other => {
            let kind = number(other);
            return Err(format!("{name} must be a string literal (e.g. '0xff'), got expression kind {kind}"));
        }
    };
    let Some(digits) = text.strip_prefix("0x") else {
        return Err(format!("{name} must have '0x' prefix, got {}", quote(text)));
    };
    if digits.is_empty() {
        return Err(format!("{name}: hex value is required after '0x'"));
    }
    // Go counts bytes.
    if digits.len() > 17 {
        let length = digits.len();
        return Err(format!("{name}: hex value too long ({length} chars, max 17): {}", quote(digits)));
    }
    if let Some(c) = digits.chars().find(|c| !matches!(c, '0'..='9' | 'a'..='f')) {
        return Err(format!("{name}: invalid hex character {} in {}", quote(&c.to_string()), quote(text)));
    }
    match digits.len() {
        16 => Ok(text),
        17 if text == END => Ok(text),
        17 => Err(format!("{name}: 17-digit hex value must be '{END}' (2^64), got {}", quote(text))),
        _ => {
            let padded = format!("0x{digits:0>16}");
            let (text, padded) = (quote(text), quote(&padded));
            Err(format!(
                "{name} must be a 0x-prefixed 16-digit hex value, got {text} (did you mean {padded}?)"
            ))
        }
    }
}

/// Returns the number of the node's kind in cel-go's `common/ast`.
fn number(kind: &Kind) -> u8 {
    match kind {
        Kind::Call { .. } => 1,
        Kind::Comprehension(_) => 2,
        Kind::Ident(_) => 3,
        Kind::List { .. } => 4,
        Kind::Literal(_) => 5,
        Kind::Map(_) => 6,
        Kind::Select { .. } => 7,
        Kind::Struct { .. } => 8,
    }
}

fn go_type(literal: &Literal) -> &'static str {
    match literal {
        Literal::Null => "structpb.NullValue",
        Literal::Bool(_) => "bool",
        Literal::Int(_) => "int64",
        Literal::Uint(_) => "uint64",
        Literal::Double(_) => "float64",
        Literal::String(_) => "string",
        Literal::Bytes(_) => "[]uint8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
    const HIGH: &str = "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')";

    #[test]
    fn selector_has_the_same_text_after_parsing() {
        let shown = |text: &str| shard_selector(text).unwrap().to_string();
        let both = format!("{LOW} || {HIGH}");
        for text in [LOW, HIGH, &both] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown(&format!("({LOW}||{HIGH}) // both")), both);
        // The receiver of a call has no effect, and neither has the notation of a string.
        assert_eq!(shown(&format!(" x.{}", LOW.replace("'0x8", "r\"0x8").replace("')", "\")"))), LOW);
        let namespace = LOW.replace("uid", "namespace");
        assert_eq!(shown(&namespace), namespace);
    }

    /// The messages of kube-apiserver 1.36.2.
    #[test]
    fn malformed_selector_is_refused_in_the_words_of_kube_apiserver() {
        let with = |start: &str| format!("shardRange(object.metadata.uid, {start}, '0x8000000000000000')");
        for (text, expected) in [
            (" ".to_owned(), "empty shard selector is not allowed; omit the parameter for unfiltered lists"),
            (
                format!("{LOW} || {}", HIGH.replace("uid", "namespace")),
                "all shard ranges must use the same field, got \"object.metadata.uid\" and \
                 \"object.metadata.namespace\"",
            ),
            (
                with("'0x0'"),
                "hexStart must be a 0x-prefixed 16-digit hex value, got \"0x0\" (did you mean \
                 \"0x0000000000000000\"?)",
            ),
            (
                "shardRange(object.metadata.uid, '0x0000000000000000')".to_owned(),
                "shardRange() requires exactly 3 arguments, got 2",
            ),
            (
                LOW.replace("uid", "name"),
                "unsupported field path \"object.metadata.name\"; supported: object.metadata.uid, \
                 object.metadata.namespace",
            ),
            (
                LOW.replace("object.metadata.uid", ".object.metadata.uid"),
                "unsupported field path \".object.metadata.uid\"; supported: object.metadata.uid, \
                 object.metadata.namespace",
            ),
            (
                LOW.replace("object.metadata.uid", "has(object.metadata.uid)"),
                "shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 1",
            ),
            (with("'0x000000000000000A'"), "hexStart: invalid hex character \"A\" in \"0x000000000000000A\""),
            (
                with("'0x20000000000000000'"),
                "hexStart: 17-digit hex value must be '0x10000000000000000' (2^64), got \"0x20000000000000000\"",
            ),
            (
                with("'0x8000000000000000'"),
                "shard range start 0x8000000000000000 must be less than end 0x8000000000000000",
            ),
            (
                with("'0x10000000000000000'"),
                "shard range start 0x10000000000000000 must be less than end 0x8000000000000000",
            ),
            (with("'8000000000000000'"), "hexStart must have '0x' prefix, got \"8000000000000000\""),
            (with("'0x'"), "hexStart: hex value is required after '0x'"),
            (
                with("'0x8000000000000000é'"),
                "hexStart: hex value too long (18 chars, max 17): \"8000000000000000é\"",
            ),
            (with("0"), "hexStart must be a string literal, got int64"),
            (with("null"), "hexStart must be a string literal, got structpb.NullValue"),
            (with("hex(0)"), "hexStart must be a string literal (e.g. '0xff'), got expression kind 1"),
            (
                format!("{LOW} && {HIGH}"),
                "unsupported function \"_&&_\"; only shardRange() and || are allowed",
            ),
            (format!(".{LOW}"), "unsupported function \".shardRange\"; only shardRange() and || are allowed"),
            (
                "[1].all(x, x > 0)".to_owned(),
                "unsupported function \"all\"; only shardRange() and || are allowed",
            ),
            (
                "object.metadata.uid".to_owned(),
                "unexpected expression kind 7; expected shardRange() call or || operator",
            ),
            ("true".to_owned(), "unexpected expression kind 5; expected shardRange() call or || operator"),
            ("x".to_owned(), "unexpected expression kind 3; expected shardRange() call or || operator"),
            ("a b".to_owned(), "CEL parse error: Syntax error: extraneous input 'b' expecting <EOF>"),
        ] {
            assert_eq!(shard_selector(&text).unwrap_err(), expected, "{text}");
        }
    }
}
