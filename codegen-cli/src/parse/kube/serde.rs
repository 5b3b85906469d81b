//! Reads serde's attributes as schemars' derive macro does: `#[schemars(rename = ..)]` and similar keys
//! replace serde's, and `#[schemars(!default)]` removes one (`schemars_to_serde.rs`).

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Generics, Meta, Path, Token, Type, TypeParamBound, WherePredicate, parse_quote};

/// Keys of schemars' attributes that replace serde's.
pub(super) const KEYWORDS: &[&str] = &[
    "rename",
    "rename_all",
    "rename_all_fields",
    "deny_unknown_fields",
    "tag",
    "content",
    "untagged",
    "default",
    "skip",
    "skip_serializing",
    "skip_serializing_if",
    "skip_deserializing",
    "flatten",
    "remote",
    "transparent",
    "into",
    "from",
    "try_from",
];

/// An item of an attribute of schemars.
pub(super) enum Item {
    /// `key`, `key = value`, `key(..)`
    Meta(Box<Meta>),
    /// `!key`
    Not(Path),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Token![!]) {
            let _: Token![!] = input.parse()?;
            return input.parse().map(Self::Not);
        }
        input.parse().map(|meta| Self::Meta(Box::new(meta)))
    }
}

impl Item {
    fn name(&self) -> String {
        let path = match self {
            Self::Meta(meta) => meta.path(),
            Self::Not(path) => path,
        };
        path.get_ident().map(ToString::to_string).unwrap_or_default()
    }
}

/// The items of all attributes of a name. rustc refuses unreadable ones.
pub(super) fn items(attributes: &[Attribute], name: &str) -> Vec<Item> {
    let lists = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let parsed = lists.filter_map(|attribute| {
        let Meta::List(list) = &attribute.meta else { return None };
        list.parse_args_with(Punctuated::<Item, Token![,]>::parse_terminated).ok()
    });
    parsed.flatten().collect()
}

/// The metas of all attributes of a name.
pub(super) fn metas(attributes: &[Attribute], name: &str) -> Vec<Meta> {
    let items = items(attributes, name).into_iter();
    items
        .filter_map(|item| match item {
            Item::Meta(meta) => Some(*meta),
            Item::Not(_) => None,
        })
        .collect()
}

/// serde's attributes that affect the schema.
pub(super) fn effective(attributes: &[Attribute]) -> Vec<Attribute> {
    let schemars = items(attributes, "schemars");
    if schemars.is_empty() {
        return attributes.iter().filter(|attribute| attribute.path().is_ident("serde")).cloned().collect();
    }
    let mut taken: Vec<String> = schemars.iter().map(Item::name).collect();
    if taken.iter().any(|name| name == "skip") {
        taken.extend(["skip_serializing".to_string(), "skip_deserializing".to_string()]);
    }
    let own = schemars.iter().filter_map(|item| match item {
        Item::Meta(meta) if KEYWORDS.contains(&item.name().as_str()) => Some(meta.to_token_stream()),
        _ => None,
    });
    let theirs = metas(attributes, "serde").into_iter().filter(|meta| {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        !taken.contains(&name) && (KEYWORDS.contains(&name.as_str()) || name == "alias")
    });
    let kept: Vec<TokenStream> = own.chain(theirs.map(ToTokens::into_token_stream)).collect();
    let tokens = quote! { #(#kept),* };
    vec![parse_quote! { #[serde(#tokens)] }]
}

/// Whether a function writes the field's value.
pub(super) fn has_serialize_with(attributes: &[Attribute]) -> bool {
    has_function(attributes, "serialize_with")
}

/// Whether a function reads the field's value.
pub(super) fn has_deserialize_with(attributes: &[Attribute]) -> bool {
    has_function(attributes, "deserialize_with")
}

fn has_function(attributes: &[Attribute], key: &str) -> bool {
    let metas = metas(attributes, "serde");
    metas.iter().any(|meta| meta.path().is_ident(key) || meta.path().is_ident("with"))
}

/// The effect of `#[serde_as(as = ..)]` on a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SerdeAs {
    /// An option: the macro adds `#[serde(default)]`, so that a missing value is `None`.
    Option,
    /// Another type that writes the value.
    Other,
}

/// The effect of serde_with's attribute on a field (`serde_with_macros/src/lib.rs`,
/// `serde_as_add_attr_to_field`).
pub(super) fn serde_as(attributes: &[Attribute]) -> Option<SerdeAs> {
    // `as` is a keyword, so syn cannot parse it as a meta.
    let list = attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("serde_as") => Some(list),
        _ => None,
    })?;
    let words: Vec<String> = list.tokens.clone().into_iter().map(|token| token.to_string()).collect();
    let at = words.windows(2).position(|pair| pair == ["as", "="])?;
    let ty = words.get(at + 2)?.trim_matches('"').to_string();
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let last = ty.split('<').next().unwrap_or_default().rsplit("::").next().unwrap_or_default().trim();
    let is_option = last == "Option" && !is_named("no_default");
    Some(if is_option { SerdeAs::Option } else { SerdeAs::Other })
}

/// The type parameters with the bound `Serialize`.
pub(super) fn written_params(generics: &Generics) -> Vec<String> {
    let is_serialize = |bounds: &Punctuated<TypeParamBound, Token![+]>| {
        bounds.iter().any(|bound| match bound {
            TypeParamBound::Trait(bound) => {
                bound.path.segments.last().is_some_and(|segment| segment.ident == "Serialize")
            }
            _ => false,
        })
    };
    let inline = generics
        .type_params()
        .filter(|param| is_serialize(&param.bounds))
        .map(|param| param.ident.to_string());
    let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let clauses = clauses.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) if is_serialize(&predicate.bounds) => match &predicate.bounded_ty {
            Type::Path(path) => path.path.get_ident().map(ToString::to_string),
            _ => None,
        },
        _ => None,
    });
    inline.chain(clauses).collect()
}
