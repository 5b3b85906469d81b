//! Evaluates conditional compilation: `#[cfg(...)]`.
//!
//! Features are chosen; everything else matches the machines that run controllers, so that the output does
//! not depend on the generating machine.

use std::collections::{BTreeMap, BTreeSet};

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Field, Lit, LitBool, Meta, Token, Variant};

/// The target of conditions.
pub(crate) const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// True keys with a value: those of the target.
const TARGET: &[(&str, &str)] = &[
    ("panic", "unwind"),
    ("target_arch", "x86_64"),
    ("target_endian", "little"),
    ("target_env", "gnu"),
    ("target_family", "unix"),
    ("target_has_atomic", "8"),
    ("target_has_atomic", "16"),
    ("target_has_atomic", "32"),
    ("target_has_atomic", "64"),
    ("target_has_atomic", "ptr"),
    ("target_os", "linux"),
    ("target_pointer_width", "64"),
    ("target_vendor", "unknown"),
];

/// True keys without a value.
const FLAGS: &[&str] = &["panic", "target_has_atomic", "unix"];

/// The enabled features of the inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureChoice {
    /// By their names: `a`, or `package/a` for one input or a dependency.
    pub names: Vec<String>,
    /// Whether all features are enabled.
    pub all: bool,
    /// Whether `default` is left out.
    pub no_default: bool,
}

/// The values of conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cfg {
    /// The enabled features of the crate.
    pub features: BTreeSet<String>,
    /// Variables of the environment that Cargo sets from the manifest.
    pub env: BTreeMap<String, String>,
}

impl Cfg {
    /// Whether every `#[cfg(...)]` among the attributes holds.
    pub fn active(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).all(|attribute| {
            // rustc refuses an unreadable condition.
            attribute.parse_args::<Condition>().is_ok_and(|condition| self.holds(&condition))
        })
    }

    /// Whether a table `[target.<name>]` of a Cargo.toml applies: its name is the target or a true condition.
    pub fn is_target(&self, name: &str) -> bool {
        match name.strip_prefix("cfg(").and_then(|rest| rest.strip_suffix(')')) {
            Some(condition) => {
                syn::parse_str::<Condition>(condition).is_ok_and(|condition| self.holds(&condition))
            }
            None => name == TRIPLE,
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        let meta = match condition {
            Condition::Always(value) => return *value,
            Condition::Meta(meta) => meta,
        };
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        match &**meta {
            Meta::Path(_) => FLAGS.contains(&name.as_str()),
            Meta::NameValue(pair) => {
                let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = &pair.value else { return false };
                let value = value.value();
                if name == "feature" {
                    self.features.contains(&value)
                } else {
                    TARGET.contains(&(name.as_str(), value.as_str()))
                }
            }
            Meta::List(list) => {
                let parts = list.parse_args_with(Punctuated::<Condition, Token![,]>::parse_terminated);
                let Ok(parts) = parts else { return false };
                match name.as_str() {
                    "all" => parts.iter().all(|part| self.holds(part)),
                    "any" => parts.iter().any(|part| self.holds(part)),
                    "not" => parts.len() == 1 && !self.holds(&parts[0]),
                    _ => false,
                }
            }
        }
    }

    /// The struct as rustc compiles it; `None` if it has no conditions.
    pub fn structure(&self, item: &syn::ItemStruct) -> Option<syn::ItemStruct> {
        let conditional =
            is_conditional(&item.attrs) || fields(&item.fields).any(|f| is_conditional(&f.attrs));
        conditional.then(|| {
            let mut item = item.clone();
            self.expand(&mut item.attrs);
            self.expand_fields(&mut item.fields);
            item
        })
    }

    /// The enum as rustc compiles it; `None` if it has no conditions.
    pub fn enumeration(&self, item: &syn::ItemEnum) -> Option<syn::ItemEnum> {
        let in_variant =
            |v: &Variant| is_conditional(&v.attrs) || fields(&v.fields).any(|f| is_conditional(&f.attrs));
        let conditional = is_conditional(&item.attrs) || item.variants.iter().any(in_variant);
        conditional.then(|| {
            let mut item = item.clone();
            self.expand(&mut item.attrs);
            let variants = std::mem::take(&mut item.variants);
            for mut variant in variants.into_iter().filter(|variant| self.active(&variant.attrs)) {
                self.expand(&mut variant.attrs);
                self.expand_fields(&mut variant.fields);
                item.variants.push(variant);
            }
            item
        })
    }

    fn expand_fields(&self, fields: &mut syn::Fields) {
        let list = match fields {
            syn::Fields::Named(fields) => &mut fields.named,
            syn::Fields::Unnamed(fields) => &mut fields.unnamed,
            syn::Fields::Unit => return,
        };
        for mut field in std::mem::take(list).into_iter().filter(|field| self.active(&field.attrs)) {
            self.expand(&mut field.attrs);
            list.push(field);
        }
    }

    /// Replaces each `cfg_attr` by its attributes if its condition holds, and drops it otherwise.
    fn expand(&self, attributes: &mut Vec<Attribute>) {
        for attribute in std::mem::take(attributes) {
            if !attribute.path().is_ident("cfg_attr") {
                attributes.push(attribute);
                continue;
            }
            let Ok(Conditional { condition, metas }) = attribute.parse_args() else { continue };
            if self.holds(&condition) {
                let mut inner =
                    metas.into_iter().map(|meta| Attribute { meta, ..attribute.clone() }).collect();
                self.expand(&mut inner);
                attributes.append(&mut inner);
            }
        }
    }

    /// The attributes, with those inside `cfg_attr` unwrapped.
    pub fn expanded(&self, attributes: &[Attribute]) -> Vec<Attribute> {
        let mut out = attributes.to_vec();
        self.expand(&mut out);
        out
    }
}

/// A condition.
enum Condition {
    /// `true`, `false`
    Always(bool),
    /// Everything else.
    Meta(Box<Meta>),
}

impl Parse for Condition {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitBool) {
            return input.parse().map(|value: LitBool| Self::Always(value.value));
        }
        input.parse().map(|meta| Self::Meta(Box::new(meta)))
    }
}

/// The contents of a `cfg_attr`.
struct Conditional {
    condition: Condition,
    metas: Punctuated<Meta, Token![,]>,
}

impl Parse for Conditional {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let condition = input.parse()?;
        let _: Option<Token![,]> = input.parse()?;
        Ok(Self { condition, metas: Punctuated::parse_terminated(input)? })
    }
}

fn fields(fields: &syn::Fields) -> impl Iterator<Item = &Field> {
    fields.iter()
}

fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cfg() -> Cfg {
        Cfg { features: ["a".to_string(), "b".to_string()].into(), ..Cfg::default() }
    }

    fn holds(condition: &str) -> bool {
        let item: syn::ItemStruct = syn::parse_str(&format!("#[cfg({condition})] struct S;")).unwrap();
        cfg().active(&item.attrs)
    }

    #[test]
    fn conditions_are_evaluated_as_rustc_does() {
        for condition in [
            "feature = \"a\"",
            "all(feature = \"a\", feature = \"b\")",
            "all()",
            "any(feature = \"z\", unix)",
            "not(test)",
            "not(any())",
            "target_os = \"linux\"",
            "not(debug_assertions)",
            "all(unix, not(target_os = \"windows\"), target_pointer_width = \"64\")",
            "true",
        ] {
            assert!(holds(condition), "{condition}");
        }
        for condition in [
            "feature = \"z\"",
            "test",
            "any()",
            "not(all())",
            "windows",
            "doc",
            "tokio_unstable",
            "not(feature = \"a\")",
            "feature = 1",
            "version(\"1.80\")",
            "all(feature = \"a\", test)",
            "1 + 1",
        ] {
            assert!(!holds(condition), "{condition}");
        }
    }

    #[test]
    fn attributes_fields_and_variants_depend_on_conditions() {
        let item = syn::parse_quote! {
            #[cfg_attr(feature = "a", derive(A), cfg_attr(feature = "z", derive(Z)))]
            struct S { #[cfg(feature = "z")] z: u8, #[cfg_attr(all(), serde(default))] a: u8 }
        };
        let kept = cfg().structure(&item).unwrap();
        let expected: syn::ItemStruct =
            syn::parse_quote! { #[derive(A)] struct S { #[serde(default)] a: u8 } };
        assert_eq!(kept.attrs, expected.attrs);
        assert_eq!(kept.fields.iter().collect::<Vec<_>>(), expected.fields.iter().collect::<Vec<_>>());
        let item =
            syn::parse_quote! { enum E { #[cfg(feature = "z")] Z, A(#[cfg(any())] u8, #[cfg(all())] u16) } };
        let kept = cfg().enumeration(&item).unwrap();
        assert_eq!(kept.variants.len(), 1);
        assert_eq!(kept.variants[0].fields.len(), 1);
        assert!(cfg().structure(&syn::parse_quote! { #[serde(default)] struct S; }).is_none());
    }
}
