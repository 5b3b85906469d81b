//! `extra = {...}`: parts of a schema that no other key says.

use super::{Constraints, SchemaAttrs};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Json, Spanned};

/// The kind of value that a keyword of a schema takes.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Texts,
    Number,
    Count,
    Flag,
    Any,
    Values,
    Schema,
    Schemas,
    /// A schema or a boolean.
    Additional,
    /// Schemas by name.
    Properties,
    Rules,
    Docs,
}

/// The keywords of a CRD's schema that an API server takes.
const KEYWORDS: &[(&str, Kind)] = &[
    ("additionalProperties", Kind::Additional),
    ("allOf", Kind::Schemas),
    ("anyOf", Kind::Schemas),
    ("default", Kind::Any),
    ("description", Kind::Text),
    ("enum", Kind::Values),
    ("example", Kind::Any),
    ("exclusiveMaximum", Kind::Flag),
    ("exclusiveMinimum", Kind::Flag),
    ("externalDocs", Kind::Docs),
    ("format", Kind::Text),
    ("items", Kind::Schema),
    ("maxItems", Kind::Count),
    ("maxLength", Kind::Count),
    ("maxProperties", Kind::Count),
    ("maximum", Kind::Number),
    ("minItems", Kind::Count),
    ("minLength", Kind::Count),
    ("minProperties", Kind::Count),
    ("minimum", Kind::Number),
    ("multipleOf", Kind::Number),
    ("not", Kind::Schema),
    ("nullable", Kind::Flag),
    ("oneOf", Kind::Schemas),
    ("pattern", Kind::Text),
    ("properties", Kind::Properties),
    ("required", Kind::Texts),
    ("title", Kind::Text),
    ("type", Kind::Text),
    ("uniqueItems", Kind::Flag),
    ("x-kubernetes-embedded-resource", Kind::Flag),
    ("x-kubernetes-int-or-string", Kind::Flag),
    ("x-kubernetes-list-map-keys", Kind::Texts),
    ("x-kubernetes-list-type", Kind::Text),
    ("x-kubernetes-map-type", Kind::Text),
    ("x-kubernetes-preserve-unknown-fields", Kind::Flag),
    ("x-kubernetes-validations", Kind::Rules),
];

/// Members of a rule.
const RULE: &[(&str, Kind)] = &[
    ("rule", Kind::Text),
    ("message", Kind::Text),
    ("messageExpression", Kind::Text),
    ("reason", Kind::Text),
    ("fieldPath", Kind::Text),
    ("optionalOldSelf", Kind::Flag),
];

/// Members of `externalDocs`.
const DOCS: &[(&str, Kind)] = &[("url", Kind::Text), ("description", Kind::Text)];

/// Checks that a literal is a schema, or returns the error and its place in it.
pub(super) fn check_schema(schema: &Json) -> Result<(), String> {
    members(schema, KEYWORDS, "")
}

fn members(object: &Json, known: &[(&str, Kind)], path: &str) -> Result<(), String> {
    let members = match object {
        Json::Object(members) => members.as_slice(),
        Json::Empty => &[],
        other => return Err(wrong(path, "an object", other)),
    };
    for (name, json) in members {
        let path = below(path, name);
        let Some((_, kind)) = known.iter().find(|(keyword, _)| keyword == name) else {
            return Err(format!("`{path}` is no keyword of a CRD's schema"));
        };
        value(json, *kind, &path)?;
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
        Kind::Text => is_right(matches!(json, Json::String(_)), "a string"),
        Kind::Number => is_right(matches!(json, Json::Number(_)), "a number"),
        Kind::Count => {
            let fits = matches!(json, Json::Number(n) if n.is_integral() && n.as_f64() >= 0.0);
            is_right(fits, "an integer that is not negative")
        }
        // Absence says the same as false.
        Kind::Flag => is_right(matches!(json, Json::Bool(true)), "true"),
        Kind::Any => Ok(()),
        Kind::Schema => members(json, KEYWORDS, path),
        Kind::Additional if matches!(json, Json::Bool(_)) => Ok(()),
        Kind::Additional => members(json, KEYWORDS, path),
        Kind::Docs => members(json, DOCS, path),
        Kind::Properties => match json {
            Json::Object(found) => {
                found.iter().try_for_each(|(name, schema)| members(schema, KEYWORDS, &below(path, name)))
            }
            _ => is_right(false, "an object"),
        },
        Kind::Texts | Kind::Values | Kind::Schemas | Kind::Rules => {
            let Json::Array(items) = json else { return is_right(false, "a list") };
            items.iter().enumerate().try_for_each(|(at, item)| {
                let path = format!("{path}[{at}]");
                match kind {
                    Kind::Texts => value(item, Kind::Text, &path),
                    Kind::Schemas => members(item, KEYWORDS, &path),
                    Kind::Rules => members(item, RULE, &path),
                    _ => Ok(()),
                }
            })
        }
    }
}

/// Checks `extra`: it is a part of a schema, and says nothing that another key says.
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
    for (keyword, _) in members {
        if let Some(key) = said(attrs, constraints, keyword) {
            let message = format!("`{keyword}` of `extra` is said by `{key}` as well");
            diagnostics.push(
                Diagnostic::error(Code::CONTRADICTION, extra.span, message).help("say it in one of them"),
            );
        }
    }
}

/// The key beside `extra` that says this keyword.
fn said(attrs: &SchemaAttrs, c: &Constraints, keyword: &str) -> Option<&'static str> {
    fn has<T>(value: &Option<Spanned<T>>) -> bool {
        value.is_some()
    }
    let (key, is_said) = match keyword {
        "default" => ("default", has(&attrs.default) || has(&attrs.default_ref)),
        "description" => ("description", has(&attrs.description)),
        "example" => ("example", has(&attrs.example)),
        "title" => ("title", has(&attrs.title)),
        "externalDocs" => ("external_docs", attrs.external_docs.is_some()),
        "nullable" => ("nullable", attrs.nullable.is_some()),
        "x-kubernetes-list-type" => ("list_type", has(&attrs.list_type)),
        "x-kubernetes-list-map-keys" => ("list_map_key", !attrs.list_map_keys.is_empty()),
        "x-kubernetes-map-type" => {
            ("map_type or struct_type", has(&attrs.map_type) || has(&attrs.struct_type))
        }
        "x-kubernetes-preserve-unknown-fields" => (
            "preserve_unknown_fields",
            attrs.preserve_unknown_fields.is_some() || c.x_preserve_unknown_fields.is_some(),
        ),
        "x-kubernetes-embedded-resource" => {
            ("embedded_resource", attrs.embedded_resource.is_some() || c.x_embedded_resource.is_some())
        }
        "x-kubernetes-int-or-string" => ("x_int_or_string", c.x_int_or_string.is_some()),
        "x-kubernetes-validations" => ("rule", !c.rules.is_empty()),
        "minimum" => ("minimum", has(&c.minimum)),
        "maximum" => ("maximum", has(&c.maximum)),
        "exclusiveMinimum" => ("exclusive_minimum", c.exclusive_minimum.is_some()),
        "exclusiveMaximum" => ("exclusive_maximum", c.exclusive_maximum.is_some()),
        "multipleOf" => ("multiple_of", has(&c.multiple_of)),
        "minLength" => ("min_length", has(&c.min_length)),
        "maxLength" => ("max_length", has(&c.max_length)),
        "pattern" => ("pattern", has(&c.pattern)),
        "format" => ("format", has(&c.format)),
        "minItems" => ("min_items", has(&c.min_items)),
        "maxItems" => ("max_items", has(&c.max_items)),
        "uniqueItems" => ("unique_items", c.unique_items.is_some()),
        "minProperties" => ("min_properties", has(&c.min_properties)),
        "maxProperties" => ("max_properties", has(&c.max_properties)),
        "enum" => ("enum", !c.enum_values.is_empty()),
        "type" => ("type", has(&c.schema_type)),
        "items" => ("items", has(&c.items)),
        _ => return None,
    };
    is_said.then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_schemas_pass() {
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
