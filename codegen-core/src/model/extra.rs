//! Checks `extra = {...}`: parts of a schema without a key of their own.

use kubesmith_apiextensions::schema::{Keyword, Kind, Rule};

use super::{Constraints, SchemaAttrs};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::Json;

/// The kind of a keyword's value, or of a member of another kind.
type Known = fn(&str) -> Option<Kind>;

fn keyword(name: &str) -> Option<Kind> {
    Keyword::named(name).map(|keyword| keyword.kind)
}

fn rule_member(name: &str) -> Option<Kind> {
    let kind = if name == "optionalOldSelf" { Kind::Flag } else { Kind::Text };
    Rule::MEMBERS.contains(&name).then_some(kind)
}

fn docs_member(name: &str) -> Option<Kind> {
    matches!(name, "url" | "description").then_some(Kind::Text)
}

/// Checks that a literal is a schema, or returns the error and its place in it.
pub(super) fn check_schema(schema: &Json) -> Result<(), String> {
    members(schema, keyword, "")
}

fn members(object: &Json, known: Known, path: &str) -> Result<(), String> {
    let members = match object {
        Json::Object(members) => members.as_slice(),
        Json::Empty => &[],
        other => return Err(wrong(path, "an object", other)),
    };
    for (name, json) in members {
        let path = below(path, name);
        let Some(kind) = known(name) else {
            return Err(format!("`{path}` is not a keyword of a CRD's schema"));
        };
        value(json, kind, &path)?;
    }
    Ok(())
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn wrong(path: &str, expected: &str, found: &Json) -> String {
    let place = if path.is_empty() { "the value" } else { path };
    format!("`{place}` takes {expected}, found {}", found.describe())
}

fn value(json: &Json, kind: Kind, path: &str) -> Result<(), String> {
    let is_right = |fits: bool, expected: &str| if fits { Ok(()) } else { Err(wrong(path, expected, json)) };
    match kind {
        Kind::Text | Kind::Word => is_right(matches!(json, Json::String(_)), "a string"),
        Kind::Number => is_right(matches!(json, Json::Number(_)), "a number"),
        Kind::Count => {
            let fits = matches!(json, Json::Number(n) if n.is_integral() && n.as_f64() >= 0.0);
            is_right(fits, "an integer that is not negative")
        }
        // Absence is equivalent to false.
        Kind::Flag => is_right(matches!(json, Json::Bool(true)), "true"),
        Kind::Any => Ok(()),
        Kind::Schema => members(json, keyword, path),
        Kind::Additional if matches!(json, Json::Bool(_)) => Ok(()),
        Kind::Additional => members(json, keyword, path),
        Kind::Docs => members(json, docs_member, path),
        Kind::Properties => match json {
            Json::Object(found) => {
                found.iter().try_for_each(|(name, schema)| members(schema, keyword, &below(path, name)))
            }
            _ => is_right(false, "an object"),
        },
        Kind::Texts | Kind::Values | Kind::Schemas | Kind::Rules => {
            let Json::Array(items) = json else { return is_right(false, "a list") };
            items.iter().enumerate().try_for_each(|(at, item)| {
                let path = format!("{path}[{at}]");
                match kind {
                    Kind::Texts => value(item, Kind::Text, &path),
                    Kind::Schemas => members(item, keyword, &path),
                    Kind::Rules => members(item, rule_member, &path),
                    _ => Ok(()),
                }
            })
        }
    }
}

/// Checks `extra`: it must be a part of a schema, and must not repeat other keys.
pub(super) fn check_extra(attrs: &SchemaAttrs, constraints: &Constraints, diagnostics: &mut Diagnostics) {
    let Some(extra) = &attrs.extra else { return };
    if let Err(reason) = check_schema(&extra.value) {
        let help = "write keywords as a CRD has them: extra = {\"not\": {\"required\": [\"a\", \"b\"]}}";
        diagnostics.push(Diagnostic::error(Code::WRONG_VALUE, extra.span, reason).help(help));
        return;
    }
    let members = match &extra.value {
        Json::Object(members) => members.as_slice(),
        _ => &[],
    };
    if members.is_empty() {
        let message = "`extra` is empty";
        let help = "leave the key out";
        diagnostics.push(Diagnostic::error(Code::EMPTY_STRING, extra.span, message).help(help));
    }
    for (name, _) in members {
        if let Some(key) = Keyword::named(name).and_then(|keyword| said(attrs, constraints, keyword)) {
            let message = format!("`{name}` of `extra` repeats `{key}`");
            diagnostics.push(
                Diagnostic::error(Code::CONTRADICTION, extra.span, message).help("say it in one of them"),
            );
        }
    }
}

/// The key beside `extra` for this keyword.
fn said(attrs: &SchemaAttrs, constraints: &Constraints, keyword: &Keyword) -> Option<&'static str> {
    let is_given = |key: &&'static str| attrs.keys.contains(key);
    let key = keyword.schema_key.filter(is_given);
    // A struct has a separate key for it.
    let other = Some("struct_type").filter(|key| keyword.schema_key == Some("map_type") && is_given(key));
    let constraint = keyword.attribute.filter(|_| keyword.is_set(&constraints.schema));
    key.or(other).or(constraint.map(|attribute| attribute.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_must_be_a_valid_schema() {
        for good in [
            r#"{"not": {"required": ["a"]}}"#,
            r#"{"items": {"type": "string"}, "additionalProperties": false}"#,
            r#"{"x-kubernetes-validations": [{"rule": "true"}], "properties": {"$ref": {}}}"#,
        ] {
            assert_eq!(check_schema(&Json::parse(good).unwrap()), Ok(()), "{good}");
        }
        for (bad, place) in [
            (r#"{"oneOf": [{"$ref": "a"}]}"#, "`oneOf[0].$ref`"),
            (r#"{"maxLength": -1}"#, "`maxLength`"),
            (r#"{"nullable": false}"#, "`nullable`"),
            (r#"{"properties": {"a": {"type": 1}}}"#, "`properties.a.type`"),
            ("[]", "`the value`"),
        ] {
            let reason = check_schema(&Json::parse(bad).unwrap()).unwrap_err();
            assert!(reason.starts_with(place), "{reason}");
        }
    }
}
