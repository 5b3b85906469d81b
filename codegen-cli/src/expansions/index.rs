//! Indexes the definitions of a file that another file could repeat.

use heck::ToSnakeCase;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, ImplItem, Item, Lit, Meta, TraitItem, Type, TypeParamBound, WherePredicate,
};

use crate::diag::Diagnostic;
use crate::parse::{self, uses};
use crate::source::{FileId, Loc};
use crate::syntax::{Name, UseItem, Visibility};

/// The segments of a path.
pub(super) type Segments = Vec<String>;

/// The definitions of one file, without those in macros, inner modules and conditional code, whose conditions
/// are unknown.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Structs, enums, unions, aliases and traits.
    pub(super) types: Vec<Name>,
    /// Functions of the module.
    pub(super) functions: Vec<(Name, Visibility)>,
    /// `use` declarations, one per leaf.
    pub(super) uses: Vec<UseItem>,
    /// The inherent members of types and traits: methods, constants and types.
    pub(super) members: Vec<(Segments, Name)>,
    /// Generated clients, and their methods from the runtime's traits of verbs.
    pub(super) verbs: Vec<(Segments, Name)>,
    /// Types and traits, and the traits that they implement.
    pub(super) implemented: Vec<Implemented>,
    /// Files beside this one that it declares as modules.
    pub(super) files: Vec<String>,
    /// Whether a macro may define more.
    pub(super) has_macros: bool,
}

/// An implementation of a trait: for a type, or for all types with another trait.
#[derive(Debug)]
pub(super) struct Implemented {
    /// The type, or the trait of all implementing types.
    pub(super) owner: Segments,
    /// The implemented trait.
    pub(super) of_trait: Segments,
    /// The arguments of that trait, as text.
    pub(super) arguments: String,
    /// Whether the owner is a trait: a supertrait, or the bound of an implementation for all types.
    pub(super) is_bound: bool,
    /// The location of the owner's name.
    pub(super) loc: Loc,
}

/// Reads a file.
///
/// # Errors
/// Returns a diagnostic for each place that is not valid Rust.
pub(super) fn read(file: FileId, text: &str) -> Result<Index, Vec<Diagnostic>> {
    let (offset, tree) = parse::tree(file, text)?;
    let mut reader = Reader { file, offset, index: Index::default() };
    tree.items.iter().for_each(|item| reader.item(item));
    Ok(reader.index)
}

struct Reader {
    file: FileId,
    offset: usize,
    index: Index,
}

impl Reader {
    fn name(&self, ident: &syn::Ident) -> Name {
        Name { text: ident.unraw().to_string(), loc: parse::loc(self.file, self.offset, ident.span()) }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Struct(item) => self.data(&item.ident, &item.attrs),
            Item::Enum(item) => self.data(&item.ident, &item.attrs),
            Item::Union(item) => self.data(&item.ident, &item.attrs),
            Item::Type(item) => self.data(&item.ident, &item.attrs),
            Item::Trait(item) if !is_conditional(&item.attrs) => self.definition(item),
            Item::Impl(item) if !is_conditional(&item.attrs) => self.block(item),
            Item::Fn(item) => {
                let name = self.name(&item.sig.ident);
                self.index.functions.push((name, parse::visibility(&item.vis)));
            }
            Item::Use(item) => {
                let (visibility, global) = (parse::visibility(&item.vis), item.leading_colon.is_some());
                uses::leaves(&item.tree, visibility, global, &mut Vec::new(), &mut self.index.uses);
            }
            Item::Mod(item) if item.content.is_none() => {
                let own = || format!("{}.rs", item.ident.unraw());
                self.index.files.push(path_attribute(&item.attrs).unwrap_or_else(own));
            }
            Item::Macro(item) if item.ident.is_none() => self.index.has_macros = true,
            _ => {}
        }
    }

    /// A type, and the traits that it derives.
    fn data(&mut self, ident: &syn::Ident, attributes: &[Attribute]) {
        if is_conditional(attributes) {
            return;
        }
        let name = self.name(ident);
        for derive in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
            let paths = derive.parse_args_with(Punctuated::<syn::Path, syn::Token![,]>::parse_terminated);
            for path in paths.into_iter().flatten() {
                self.implemented(vec![name.text.clone()], &path, false, name.loc);
            }
        }
        self.index.types.push(name);
    }

    /// A trait: its members, and the types that have them.
    fn definition(&mut self, item: &syn::ItemTrait) {
        let name = self.name(&item.ident);
        for member in &item.items {
            let (attributes, ident) = match member {
                TraitItem::Fn(member) => (&member.attrs, &member.sig.ident),
                TraitItem::Const(member) => (&member.attrs, &member.ident),
                TraitItem::Type(member) => (&member.attrs, &member.ident),
                _ => continue,
            };
            self.member(std::slice::from_ref(&name.text), attributes, ident);
        }
        for owner in supertraits(item) {
            for text in methods_of_verb(&owner) {
                let member = Name { text, loc: name.loc };
                self.index.members.push((vec![name.text.clone()], member));
            }
            self.implemented(owner, &item.ident.clone().into(), true, name.loc);
        }
        self.index.types.push(name);
    }

    fn block(&mut self, item: &syn::ItemImpl) {
        let Type::Path(ty) = &*item.self_ty else { return };
        let owner = segments(&ty.path);
        if let Some((path, _)) = &item.trait_ {
            let last = ty.path.segments.last().map(|segment| segment.ident.span());
            let loc = parse::loc(self.file, self.offset, last.unwrap_or_else(proc_macro2::Span::call_site));
            match ty.path.get_ident().filter(|ident| is_parameter(&item.generics, ident)) {
                Some(parameter) => {
                    for owner in bounds_of(&item.generics, parameter) {
                        self.implemented(owner, path, true, loc);
                    }
                }
                None => {
                    for text in methods_of_verb(&segments(path)) {
                        self.index.verbs.push((owner.clone(), Name { text, loc }));
                    }
                    self.implemented(owner, path, false, loc);
                }
            }
            return;
        }
        for member in &item.items {
            let (attributes, ident) = match member {
                ImplItem::Fn(member) => (&member.attrs, &member.sig.ident),
                ImplItem::Const(member) => (&member.attrs, &member.ident),
                ImplItem::Type(member) => (&member.attrs, &member.ident),
                _ => continue,
            };
            self.member(&owner, attributes, ident);
        }
    }

    fn member(&mut self, owner: &[String], attributes: &[Attribute], ident: &syn::Ident) {
        if !is_conditional(attributes) {
            self.index.members.push((owner.to_vec(), self.name(ident)));
        }
    }

    fn implemented(&mut self, owner: Segments, path: &syn::Path, is_bound: bool, loc: Loc) {
        let last = path.segments.last().map(|segment| segment.arguments.to_token_stream().to_string());
        let (of_trait, arguments) = (segments(path), last.unwrap_or_default());
        self.index.implemented.push(Implemented { owner, of_trait, arguments, is_bound, loc });
    }
}

fn segments(path: &syn::Path) -> Segments {
    path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect()
}

fn is_parameter(generics: &syn::Generics, ident: &syn::Ident) -> bool {
    generics.type_params().any(|parameter| parameter.ident == *ident)
}

/// The supertraits of a trait.
fn supertraits(item: &syn::ItemTrait) -> Vec<Segments> {
    let of_self = bounds_of(&item.generics, &syn::Ident::new("Self", proc_macro2::Span::call_site()));
    bounds(&item.supertraits).into_iter().chain(of_self).collect()
}

/// The methods of a type from a trait of the runtime's `client::verbs` or its `delegate`.
fn methods_of_verb(of_trait: &[String]) -> Vec<String> {
    let [.., module, verb] = of_trait else { return Vec::new() };
    match (module.as_str(), verb.as_str()) {
        ("verbs" | "delegate", "All") => ALL.map(str::to_owned).into(),
        ("verbs" | "delegate", "Patch") => ["patch", "patch_subresource"].map(str::to_owned).into(),
        ("verbs" | "delegate", verb) if verb != "GeneratedClient" => vec![verb.to_snake_case()],
        _ => Vec::new(),
    }
}

/// The methods of every verb.
const ALL: [&str; 12] = [
    "create",
    "update",
    "update_status",
    "delete",
    "delete_collection",
    "get",
    "list",
    "watch",
    "patch",
    "patch_subresource",
    "apply",
    "apply_status",
];

/// The traits that bound a parameter.
fn bounds_of(generics: &syn::Generics, parameter: &syn::Ident) -> Vec<Segments> {
    let own = generics.type_params().filter(|own| own.ident == *parameter).map(|own| &own.bounds);
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let further = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => match &predicate.bounded_ty {
            Type::Path(path) if path.path.is_ident(parameter) => Some(&predicate.bounds),
            _ => None,
        },
        _ => None,
    });
    own.chain(further).flat_map(bounds).collect()
}

fn bounds(all: &Punctuated<TypeParamBound, syn::Token![+]>) -> Vec<Segments> {
    let path = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => Some(segments(&bound.path)),
        _ => None,
    };
    all.iter().filter_map(path).collect()
}

fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

/// `#[path = ".."]`
fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_has_every_item_of_an_expansion_file() {
        let text = "mod more; #[path = \"b.rs\"] mod other; use super::{A as B, *};\n\
            #[derive(Clone, std::fmt::Debug)] pub struct S;\n\
            pub trait Count: super::CartInterface { const N: u8; type T; fn count(&self); }\n\
            impl<T> Count for T where T: super::CartInterface {}\n\
            pub trait All where Self: verbs::UpdateStatus<S>, Self: verbs::Patch<S> {}\n\
            impl From<S> for super::Carts { fn from(_: S) -> Self { Self } }\n\
            impl super::Carts { const C: u8 = 0; fn r#type(&self) {} #[cfg(test)] fn hidden() {} }\n\
            #[cfg(test)] impl super::Carts { fn behind() {} }\n\
            pub(crate) fn add_to_scheme() {}\nmacro_rules! m { () => {} } m!();";
        let index = read(FileId(0), text).unwrap();
        let texts = |names: &[Name]| names.iter().map(|name| name.text.clone()).collect::<Vec<_>>();
        assert_eq!(index.files, ["more.rs", "b.rs"]);
        assert_eq!(texts(&index.types), ["S", "Count", "All"]);
        let members: Vec<String> =
            index.members.iter().map(|(owner, name)| format!("{}.{}", owner.join("::"), name.text)).collect();
        let verbs = ["All.update_status", "All.patch", "All.patch_subresource"];
        let own = ["Count.N", "Count.T", "Count.count"].into_iter().chain(verbs);
        assert_eq!(members, own.chain(["super::Carts.C", "super::Carts.type"]).collect::<Vec<_>>());
        let implemented: Vec<String> = index
            .implemented
            .iter()
            .map(|i| {
                format!("{}: {}{} {}", i.owner.join("::"), i.of_trait.join("::"), i.arguments, i.is_bound)
            })
            .collect();
        assert_eq!(
            implemented,
            [
                "S: Clone false",
                "S: std::fmt::Debug false",
                "super::CartInterface: Count true",
                "super::CartInterface: Count true",
                "verbs::UpdateStatus: All true",
                "verbs::Patch: All true",
                "super::Carts: From< S > false",
            ]
        );
        assert_eq!(index.functions[0].1, Visibility::Restricted);
        assert_eq!(index.uses.len(), 2);
        assert!(index.has_macros);
        assert!(read(FileId(0), "fn {").is_err());
    }
}
