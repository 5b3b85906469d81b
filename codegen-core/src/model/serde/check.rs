//! Reports unknown keys and values of serde's attributes.
//!
//! serde's derive refuses them only at compile time; until then a misspelt key would silently change the
//! schema.

use proc_macro2::Span;
use syn::Attribute;

use super::rename::RULES;
use super::{Given, Key, RenameRule, is_serde, keys, serde_keys};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::names::closest;

/// The place of a serde attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SerdePlace {
    /// On a struct.
    Struct,
    /// On an enum.
    Enum,
    /// On a variant of an enum.
    Variant,
    /// On a field.
    Field,
}

/// The form of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// No value: `flatten`
    Word,
    /// `tag = "kind"`
    Text,
    /// No value or a text: `default`, `default = "path"`
    WordOrText,
    /// One text, or one for each direction: `rename(serialize = "a", deserialize = "b")`
    Pair,
}

use Form::{Pair, Text, Word, WordOrText};

/// The keys on a type with their forms (`serde_derive/src/internals/attr.rs`, like the other two lists).
const CONTAINER: [(&str, Form); 18] = [
    ("bound", Pair),
    ("content", Text),
    ("crate", Text),
    ("default", WordOrText),
    ("deny_unknown_fields", Word),
    ("expecting", Text),
    ("field_identifier", Word),
    ("from", Text),
    ("into", Text),
    ("remote", Text),
    ("rename", Pair),
    ("rename_all", Pair),
    ("rename_all_fields", Pair),
    ("tag", Text),
    ("transparent", Word),
    ("try_from", Text),
    ("untagged", Word),
    ("variant_identifier", Word),
];

const VARIANT: [(&str, Form); 13] = [
    ("alias", Text),
    ("borrow", WordOrText),
    ("bound", Pair),
    ("deserialize_with", Text),
    ("other", Word),
    ("rename", Pair),
    ("rename_all", Pair),
    ("serialize_with", Text),
    ("skip", Word),
    ("skip_deserializing", Word),
    ("skip_serializing", Word),
    ("untagged", Word),
    ("with", Text),
];

const FIELD: [(&str, Form); 14] = [
    ("alias", Text),
    ("borrow", WordOrText),
    ("bound", Pair),
    ("default", WordOrText),
    ("deserialize_with", Text),
    ("flatten", Word),
    ("getter", Text),
    ("rename", Pair),
    ("serialize_with", Text),
    ("skip", Word),
    ("skip_deserializing", Word),
    ("skip_serializing", Word),
    ("skip_serializing_if", Text),
    ("with", Text),
];

/// Keys that serde accepts on one sort of type only.
const ONLY_ON: [(&str, SerdePlace); 6] = [
    ("content", SerdePlace::Enum),
    ("default", SerdePlace::Struct),
    ("field_identifier", SerdePlace::Enum),
    ("rename_all_fields", SerdePlace::Enum),
    ("untagged", SerdePlace::Enum),
    ("variant_identifier", SerdePlace::Enum),
];

impl SerdePlace {
    fn keys(self) -> &'static [(&'static str, Form)] {
        match self {
            Self::Struct | Self::Enum => &CONTAINER,
            Self::Variant => &VARIANT,
            Self::Field => &FIELD,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Struct | Self::Enum => "a type",
            Self::Variant => "a variant",
            Self::Field => "a field",
        }
    }
}

/// Reports attributes that serde's derive macros refuse: unknown keys and rules, values of another form,
/// repeated keys, and keys that exclude each other.
pub(crate) fn check(attributes: &[Attribute], place: SerdePlace, diagnostics: &mut Diagnostics) {
    for attribute in attributes.iter().filter(|attribute| is_serde(attribute)) {
        if !matches!(attribute.meta, syn::Meta::List(_)) {
            let message = "`#[serde]` needs keys in parentheses".to_owned();
            error(attribute.path().segments[0].ident.span(), message, "write #[serde(default)]", diagnostics);
        }
    }
    let given = serde_keys(attributes);
    for (at, key) in given.iter().enumerate() {
        let Some((_, form)) = place.keys().iter().find(|(name, _)| *name == key.name) else {
            unknown_key(key, place, diagnostics);
            continue;
        };
        if key.name.starts_with("rename_all") {
            for (rule, span) in rules(key) {
                check_rule(&rule, span, diagnostics);
            }
        }
        check_form(key, *form, diagnostics);
        if let Some((_, only)) = ONLY_ON.iter().find(|(name, _)| *name == key.name)
            && matches!(place, SerdePlace::Struct | SerdePlace::Enum)
            && place != *only
        {
            let what = if *only == SerdePlace::Enum { "enums" } else { "structs" };
            error(key.span, format!("`serde({})` is for {what}", key.name), "remove it", diagnostics);
        }
        let slots = slots(key);
        if let Some(first) =
            given[..at].iter().find(|first| self::slots(first).iter().any(|it| slots.contains(it)))
        {
            let message = match first.name == key.name {
                true => format!("`serde({})` is given twice", key.name),
                false => format!("`serde({})` says again what `{}` says", key.name, first.name),
            };
            let diagnostic = Diagnostic::error(Code::SERDE_ATTRIBUTE, key.span, message);
            diagnostics.push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
        }
    }
    check_tag(&given, place, diagnostics);
}

fn error(span: Span, message: String, help: impl Into<String>, diagnostics: &mut Diagnostics) {
    diagnostics.push(Diagnostic::error(Code::SERDE_ATTRIBUTE, span, message).help(help));
}

fn unknown_key(key: &Key, place: SerdePlace, diagnostics: &mut Diagnostics) {
    let message = format!("`serde({})` does not exist on {}", key.name, place.describe());
    let help = match closest(&key.name, place.keys().iter().map(|(name, _)| *name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "remove it: the derive macros of serde refuse it".to_owned(),
    };
    error(key.span, message, help, diagnostics);
}

fn check_form(key: &Key, form: Form, diagnostics: &mut Diagnostics) {
    let name = &key.name;
    let (takes, example) = match (form, key.given) {
        (Word, Given::Word) | (Text, Given::Text) | (WordOrText, Given::Word | Given::Text) => return,
        (Pair, Given::Text | Given::List) => return,
        (Word, _) => ("no value", name.clone()),
        (WordOrText, _) => ("nothing or a string", format!("{name})] or #[serde({name} = \"...\"")),
        (Text | Pair, _) => ("a string", format!("{name} = \"...\"")),
    };
    let help = format!("write #[serde({example})]");
    error(key.span, format!("`serde({name})` takes {takes}"), help, diagnostics);
}

/// The settings of a key: serde refuses repeated ones, except aliases.
fn slots(key: &Key) -> Vec<(&str, &'static str)> {
    const BOTH: [&str; 2] = ["serialize", "deserialize"];
    match key.name.as_str() {
        "alias" => Vec::new(),
        "skip" => vec![("skip_serializing", ""), ("skip_deserializing", "")],
        "with" => vec![("serialize_with", ""), ("deserialize_with", "")],
        name if key.given == Given::List => {
            let nested = keys(key.nested.clone());
            let named = |direction: &&'static str| nested.iter().any(|inner| inner.name == *direction);
            BOTH.into_iter().filter(named).map(|direction| (name, direction)).collect()
        }
        name @ ("rename" | "rename_all" | "rename_all_fields" | "bound") => {
            BOTH.map(|it| (name, it)).to_vec()
        }
        name => vec![(name, "")],
    }
}

/// Checks that the keys of an enum's representation fit together (serde_derive's `decide_tag`).
fn check_tag(given: &[Key], place: SerdePlace, diagnostics: &mut Diagnostics) {
    if place != SerdePlace::Enum {
        return;
    }
    let find = |name: &str| given.iter().find(|key| key.name == name);
    match (find("untagged"), find("tag"), find("content")) {
        (None, None, Some(content)) => {
            let message = "`serde(content)` has no meaning without `tag`".to_owned();
            error(
                content.span,
                message,
                "add tag = \"...\", the name of the field with the variant",
                diagnostics,
            );
        }
        (Some(untagged), tag, content) => {
            for other in tag.iter().chain(&content) {
                let message = format!("an enum cannot have `untagged` and `{}`", other.name);
                let diagnostic = Diagnostic::error(Code::SERDE_ATTRIBUTE, other.span, message);
                diagnostics
                    .push(diagnostic.secondary(untagged.span, "untagged here").help("keep one of them"));
            }
        }
        _ => {}
    }
}

/// The rules in a key: one, or one for each direction.
fn rules(key: &Key) -> Vec<(String, Span)> {
    let nested = keys(key.nested.clone());
    let all = std::iter::once(key).chain(&nested);
    all.filter_map(|key| Some((key.text.clone()?, key.span))).collect()
}

fn check_rule(rule: &str, span: Span, diagnostics: &mut Diagnostics) {
    if RenameRule::parse(rule).is_some() {
        return;
    }
    let message = format!("serde has no rule `{rule}` for names");
    let with_case = format!("{rule}Case");
    let near = closest(rule, RULES).or_else(|| RULES.into_iter().find(|known| **known == with_case));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", RULES.join(", ")),
    };
    error(span, message, help, diagnostics);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(attribute: &str, place: SerdePlace) -> Vec<String> {
        let item: syn::ItemStruct = syn::parse_str(&format!("{attribute} struct S;")).unwrap();
        let mut diagnostics = Diagnostics::new();
        check(&item.attrs, place, &mut diagnostics);
        let text = |found: Diagnostic| format!("{}; {}", found.message, found.help.unwrap_or_default());
        diagnostics.into_vec().into_iter().map(text).collect()
    }

    #[test]
    fn misspelt_keys_and_rules_are_errors() {
        for (attribute, place, wanted) in [
            (
                r#"#[serde(rename_al = "camelCase")]"#,
                SerdePlace::Struct,
                "`serde(rename_al)` does not exist on a type; did you mean `rename_all`?",
            ),
            (
                r#"#[serde(rename_all = "camel")]"#,
                SerdePlace::Struct,
                "serde has no rule `camel` for names; did you mean `camelCase`?",
            ),
            (
                r#"#[serde(rename_all(serialize = "camelcase"))]"#,
                SerdePlace::Variant,
                "serde has no rule `camelcase` for names; did you mean `camelCase`?",
            ),
            (
                "#[serde(flaten)]",
                SerdePlace::Field,
                "`serde(flaten)` does not exist on a field; did you mean `flatten`?",
            ),
            (
                "#[serde(rename_all = \"camelCase\")]",
                SerdePlace::Field,
                "`serde(rename_all)` does not exist on a field; did you mean `rename`?",
            ),
        ] {
            assert_eq!(found(attribute, place), [wanted], "{attribute}");
        }
    }

    #[test]
    fn values_of_another_form_are_errors() {
        for (attribute, wanted) in [
            ("#[serde]", "`#[serde]` needs keys in parentheses; write #[serde(default)]"),
            ("#[serde = \"default\"]", "`#[serde]` needs keys in parentheses; write #[serde(default)]"),
            ("#[serde(flatten = true)]", "`serde(flatten)` takes no value; write #[serde(flatten)]"),
            (
                "#[serde(default = 3)]",
                "`serde(default)` takes nothing or a string; write #[serde(default)] or #[serde(default = \"...\")]",
            ),
            (
                "#[serde(skip_serializing_if)]",
                "`serde(skip_serializing_if)` takes a string; write #[serde(skip_serializing_if = \"...\")]",
            ),
            ("#[serde(rename = 3)]", "`serde(rename)` takes a string; write #[serde(rename = \"...\")]"),
        ] {
            assert_eq!(found(attribute, SerdePlace::Field), [wanted], "{attribute}");
        }
    }

    #[test]
    fn keys_given_twice_are_errors() {
        for (attribute, wanted) in [
            ("#[serde(rename = \"a\")] #[serde(rename = \"b\")]", "`serde(rename)` is given twice"),
            ("#[serde(skip, skip_serializing)]", "`serde(skip_serializing)` says again what `skip` says"),
            (
                "#[serde(serialize_with = \"f\", with = \"m\")]",
                "`serde(with)` says again what `serialize_with` says",
            ),
        ] {
            assert_eq!(found(attribute, SerdePlace::Field), [format!("{wanted}; keep one of them")]);
        }
        for attribute in [
            r#"#[serde(alias = "a", alias = "b")]"#,
            r#"#[serde(rename(serialize = "a"))] #[serde(rename(deserialize = "a"))]"#,
            r#"#[serde(rename(serialize = "a", deserialize = "b", deserialize = "c"))]"#,
            r#"#[serde(skip_serializing, skip_deserializing, default)]"#,
        ] {
            assert_eq!(found(attribute, SerdePlace::Field), [""; 0], "{attribute}");
        }
    }

    #[test]
    fn representations_that_exclude_each_other_are_errors() {
        for (attribute, place, wanted) in [
            (
                "#[serde(tag = \"a\", tag = \"b\")]",
                SerdePlace::Enum,
                "`serde(tag)` is given twice; keep one of them",
            ),
            (
                "#[serde(tag = \"a\", untagged)]",
                SerdePlace::Enum,
                "an enum cannot have `untagged` and `tag`; keep one of them",
            ),
            (
                "#[serde(content = \"a\")]",
                SerdePlace::Enum,
                "`serde(content)` has no meaning without `tag`; add tag = \"...\", the name of the field with the variant",
            ),
            ("#[serde(untagged)]", SerdePlace::Struct, "`serde(untagged)` is for enums; remove it"),
            ("#[serde(default)]", SerdePlace::Enum, "`serde(default)` is for structs; remove it"),
        ] {
            assert_eq!(found(attribute, place), [wanted], "{attribute}");
        }
        assert!(found("#[serde(tag = \"a\", content = \"b\")]", SerdePlace::Enum).is_empty());
    }

    #[test]
    fn known_keys_are_accepted() {
        for place in [SerdePlace::Struct, SerdePlace::Enum, SerdePlace::Variant, SerdePlace::Field] {
            for (key, form) in place.keys() {
                let value = if matches!(form, Word | WordOrText) { "" } else { " = \"camelCase\"" };
                let excluded = |(name, only): &(&str, SerdePlace)| name == key && *only != place;
                if *key == "content" || place.describe() == "a type" && ONLY_ON.iter().any(excluded) {
                    continue;
                }
                assert_eq!(found(&format!("#[serde({key}{value})]"), place), [""; 0], "{key}");
            }
        }
        assert!(found(r#"#[serde(rename_all(serialize = "camelCase"))]"#, SerdePlace::Struct).is_empty());
    }
}
