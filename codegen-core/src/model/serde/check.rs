//! Reports keys and values that serde does not have.
//!
//! serde's derive refuses them only when the crate is compiled; until then a misspelt key would silently change the schema.

use proc_macro2::Span;
use syn::Attribute;

use super::rename::RULES;
use super::{Key, RenameRule, keys, serde_keys};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::closest;

/// Where a serde attribute stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SerdePlace {
    /// On a struct or enum.
    Container,
    /// On a variant of an enum.
    Variant,
    /// On a field.
    Field,
}

impl SerdePlace {
    /// The keys that serde takes there (`serde_derive/src/internals/attr.rs`).
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Container => &[
                "bound",
                "content",
                "crate",
                "default",
                "deny_unknown_fields",
                "expecting",
                "field_identifier",
                "from",
                "into",
                "non_exhaustive",
                "remote",
                "rename",
                "rename_all",
                "rename_all_fields",
                "tag",
                "transparent",
                "try_from",
                "untagged",
                "variant_identifier",
            ],
            Self::Variant => &[
                "alias",
                "borrow",
                "bound",
                "deserialize_with",
                "other",
                "rename",
                "rename_all",
                "serialize_with",
                "skip",
                "skip_deserializing",
                "skip_serializing",
                "untagged",
                "with",
            ],
            Self::Field => &[
                "alias",
                "borrow",
                "bound",
                "default",
                "deserialize_with",
                "flatten",
                "getter",
                "rename",
                "serialize_with",
                "skip",
                "skip_deserializing",
                "skip_serializing",
                "skip_serializing_if",
                "with",
            ],
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Container => "a type",
            Self::Variant => "a variant",
            Self::Field => "a field",
        }
    }
}

/// Reports unknown keys, and unknown rules of `rename_all` and `rename_all_fields`.
pub(crate) fn check(attributes: &[Attribute], place: SerdePlace, diagnostics: &mut Diagnostics) {
    for key in serde_keys(attributes) {
        if !place.keys().contains(&key.name.as_str()) {
            let message = format!("`serde({})` does not exist on {}", key.name, place.describe());
            let help = match closest(&key.name, place.keys().iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove it: the derive macros of serde refuse it".to_string(),
            };
            diagnostics.push(Diagnostic::error(Code::SERDE_ATTRIBUTE, key.span, message).help(help));
        } else if key.name.starts_with("rename_all") {
            for (rule, span) in rules(&key) {
                check_rule(&rule, span, diagnostics);
            }
        }
    }
}

/// The rules that a key names: one, or one for each direction.
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
    diagnostics.push(Diagnostic::error(Code::SERDE_ATTRIBUTE, span, message).help(help));
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
                SerdePlace::Container,
                "`serde(rename_al)` does not exist on a type; did you mean `rename_all`?",
            ),
            (
                r#"#[serde(rename_all = "camel")]"#,
                SerdePlace::Container,
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
                "#[serde(rename_all = \"x\")]",
                SerdePlace::Field,
                "`serde(rename_all)` does not exist on a field; did you mean `rename`?",
            ),
        ] {
            assert_eq!(found(attribute, place), [wanted], "{attribute}");
        }
    }

    #[test]
    fn known_keys_are_accepted() {
        for place in [SerdePlace::Container, SerdePlace::Variant, SerdePlace::Field] {
            for key in place.keys() {
                assert_eq!(found(&format!("#[serde({key})]"), place), [""; 0], "{key}");
            }
        }
        assert!(found(r#"#[serde(rename_all(serialize = "camelCase"))]"#, SerdePlace::Container).is_empty());
    }
}
