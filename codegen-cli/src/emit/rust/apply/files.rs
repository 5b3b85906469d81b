//! The files of the apply configurations.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::super::skeleton::{Docs, Skeleton, ident, path};
use super::super::{Block, docs, modules, names};
use super::{ApplyTypes, Form, Home, Key, Kind, RUNTIME, Type, setters, shared};
use crate::ir::Scope;

/// The type of an object's metadata.
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The types of a version; kinds have further facts.
type OfVersion<'t> = Vec<(Option<&'t Kind>, &'t Type)>;

impl ApplyTypes {
    /// The files of the versions, by their paths below the module, in blocks.
    pub(in super::super) fn files(&self) -> Vec<(String, Vec<Block<'_>>)> {
        self.versions()
            .into_iter()
            .map(|((group, version), types)| self.file(group, version, types))
            .collect()
    }

    /// The types by the modules of their group and version, sorted by name.
    fn versions(&self) -> BTreeMap<(&str, &str), OfVersion<'_>> {
        let mut out: BTreeMap<_, OfVersion<'_>> = BTreeMap::new();
        for (key, ty) in &self.types {
            let of_version = out.entry((ty.place.group.as_str(), ty.place.version.as_str())).or_default();
            of_version.push((self.kinds.get(key), ty));
        }
        out.values_mut().for_each(|types| types.sort_by(|(_, a), (_, b)| a.place.name.cmp(&b.place.name)));
        out
    }

    fn file<'t>(&'t self, group: &str, version: &str, types: OfVersion<'t>) -> (String, Vec<Block<'t>>) {
        let of_head = types.clone();
        let (group_module, version_module) = (group.to_owned(), version.to_owned());
        let mut blocks: Vec<Block<'t>> =
            vec![Box::new(move || self.head((&group_module, &version_module), &of_head))];
        let mut taken = BTreeSet::new();
        for (kind, ty) in types {
            let Some(kind) = kind else {
                blocks.push(Box::new(move || self.structure(ty)));
                continue;
            };
            let mut free = |mut name: String| {
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
                name
            };
            let extract = free(format!("extract_{}", names::bare(&kind.module)));
            let extract_from = free(format!("extract_{}_from", names::bare(&kind.module)));
            blocks.push(Box::new(move || self.kind(kind, ty, [&extract, &extract_from])));
        }
        (format!("{group}/{version}.rs"), blocks)
    }

    /// The imports of a file.
    fn head(&self, group_and_version: (&str, &str), types: &OfVersion<'_>) -> TokenStream {
        let title = format!("{}::{}", group_and_version.0, group_and_version.1);
        let is_struct =
            |(kind, ty): &&(Option<&Kind>, &Type)| kind.is_none() || self.alias(kind, ty).is_none();
        let mut imports = BTreeSet::new();
        for (_, ty) in types.iter().filter(is_struct) {
            ty.fields.iter().for_each(|field| self.imports(&ty.place, &field.form, &mut imports));
        }
        let structs = || types.iter().filter(is_struct);
        if types.iter().any(|(kind, _)| kind.is_some()) || structs().any(|(_, ty)| !has_flattened(ty)) {
            imports.insert(self.home.module());
        }
        // The other crates are dependencies of the runtime.
        imports.retain(|path| self.home == Home::Package || !path.starts_with(RUNTIME));
        let imports = imports.iter().map(|text| path(text));
        let serde = structs().any(|(_, ty)| has_flattened(ty)).then(|| match self.home {
            Home::Package => quote!(
                use ::kubesmith_runtime::serde::{Deserialize, Serialize};
            ),
            Home::Runtime => quote!(
                use serde::{Deserialize, Serialize};
            ),
        });
        let is_beside_shared = self.home == Home::Package && group_and_version == shared::MODULES;
        let shared = (self.uses_shared && is_beside_shared).then(|| {
            quote!(
                pub use ::kubesmith_runtime::applyconfigurations::meta::v1::*;
            )
        });
        Skeleton::new("apply")
            .name("GroupVersion", title)
            .items("imports", quote!(#(use #imports;)* #serde #shared))
            .fill()
    }

    /// The module, with those of Kubernetes' groups that types refer to.
    pub(in super::super) fn modules(&self) -> TokenStream {
        if self.types.is_empty() {
            return TokenStream::new();
        }
        let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (group, version) in self.versions().into_keys() {
            groups.entry(group).or_default().push(version);
        }
        let shared = self.uses_shared && !groups.contains_key(shared::MODULES.0);
        let shared = shared.then(|| {
            quote!(
                pub use ::kubesmith_runtime::applyconfigurations::meta;
            )
        });
        let tree = modules::tree(
            "Apply configurations",
            groups.into_iter().map(|(group, versions)| (group, group, versions)),
        );
        quote! {
            /// Apply configurations, by group and version: the parts of objects that a field manager wants, for server-side
            /// apply.
            ///
            /// Each type has a method `with_...` for each field, and sends the fields that were set. A kind has functions that
            /// extract the fields that a manager applied before. The types of `meta/v1` are the runtime's.
            pub mod applyconfigurations {
                #shared
                #tree
            }
        }
    }

    /// A struct with a method for each field.
    fn structure(&self, ty: &Type) -> TokenStream {
        let setters = self.setters(ty);
        let (declaration, name) = (self.declaration(ty), ident(&ty.place.configuration()));
        quote!(#declaration impl #name { #setters })
    }

    fn setters(&self, ty: &Type) -> TokenStream {
        ty.fields.iter().map(|field| setters::method(field, |form| self.rust(&ty.place, form))).collect()
    }

    /// The struct, written and read by the runtime's macro. It knows no flattened fields: their structs have serde's derives.
    fn declaration(&self, ty: &Type) -> TokenStream {
        let derives = has_flattened(ty);
        let fields = ty
            .fields
            .iter()
            .map(|field| setters::declaration(field, derives, |form| self.rust(&ty.place, form)));
        let (docs, name) = (Docs(docs_of(ty)), ident(&ty.place.configuration()));
        let names = ty.fields.iter().map(|field| {
            let (rust, json) = (ident(&field.rust), Literal::string(&field.json));
            quote!(#rust(#json))
        });
        let serde = (derives && self.home == Home::Package)
            .then(|| quote!(#[serde(crate = "::kubesmith_runtime::serde")]));
        let (derived, fields_of) = match derives {
            true => (quote!(, Serialize, Deserialize), None),
            false => (quote!(), Some(quote!(applyconfigurations::fields!(#name, #(#names),*);))),
        };
        quote! {
            #docs
            #[derive(Clone, Debug, Default #derived)]
            #serde
            #[must_use]
            pub struct #name { #(#fields)* }
            #fields_of
        }
    }

    /// A kind: an alias of the common form of objects, or a struct of its own.
    fn kind(&self, kind: &Kind, ty: &Type, [extract, extract_from]: [&String; 2]) -> TokenStream {
        let name = ident(&ty.place.configuration());
        let declared = match self.alias(&Some(kind), ty) {
            Some(alias) => {
                let docs = Docs(docs_of(ty));
                quote!(#docs pub type #name = #alias;)
            }
            None => self.own_kind(kind, ty),
        };
        let extract = Skeleton::new("apply_extract")
            .name("Type", ty.place.configuration())
            .name("Object", &kind.object)
            .name("apply", "applyconfigurations")
            .name("extract", extract)
            .name("extract_from", extract_from)
            .fill();
        quote!(#declared #extract)
    }

    /// The target of the alias for a kind with only metadata, spec and status.
    fn alias(&self, kind: &Option<&Kind>, ty: &Type) -> Option<TokenStream> {
        let kind = kind.as_ref()?;
        let scope = match kind.scope? {
            Scope::Cluster => quote!(ClusterApplyConfiguration),
            Scope::Namespaced => quote!(NamespacedApplyConfiguration),
        };
        let [api_version, of_kind, metadata, rest @ ..] = &ty.fields[..] else { return None };
        let is_meta = matches!(&metadata.form, Form::Struct(Key::BuiltIn(name)) if name == OBJECT_META);
        let names = [api_version, of_kind, metadata].map(|field| (field.json.as_str(), field.rust.as_str()));
        let is_object = is_meta
            && names == [("apiVersion", "api_version"), ("kind", "kind"), ("metadata", "metadata")]
            && ty.fields.iter().all(|field| !field.flatten && !field.boxed);
        let fields: Vec<_> = rest.iter().map(|field| (field.json.as_str(), field.rust.as_str())).collect();
        if !is_object || !matches!(fields[..], [("spec", "spec")] | [("spec", "spec"), ("status", "status")])
        {
            return None;
        }
        let is_struct = |form: &Form| matches!(form, Form::Struct(_));
        let types = rest
            .iter()
            .all(|field| is_struct(&field.form))
            .then(|| rest.iter().map(|field| path(&self.rust(&ty.place, &field.form))).collect::<Vec<_>>())?;
        let object = path(&kind.object);
        Some(quote!(applyconfigurations::#scope<#object, #(#types),*>))
    }

    /// A struct for a kind, with methods for its metadata.
    fn own_kind(&self, kind: &Kind, ty: &Type) -> TokenStream {
        let name = ident(&ty.place.configuration());
        let (declaration, setters, object) = (self.declaration(ty), self.setters(ty), path(&kind.object));
        let (api_version, of_kind) = (&kind.api_version, &kind.kind);
        let begin = quote!(Self::default().with_api_version(#api_version).with_kind(#of_kind));
        let meta = quote!(applyconfigurations::meta::v1::ObjectMetaApplyConfiguration);
        let new = match kind.scope {
            Some(Scope::Cluster) => quote! {
                pub fn new(name: impl Into<String>) -> Self {
                    #begin.with_metadata(#meta::default().with_name(name))
                }
            },
            Some(Scope::Namespaced) => quote! {
                pub fn new(name: impl Into<String>, namespace: impl Into<String>) -> Self {
                    #begin.with_metadata(#meta::default().with_name(name).with_namespace(namespace))
                }
            },
            None => quote!(pub fn new() -> Self { #begin }),
        };
        let docs = Docs(match kind.scope {
            Some(Scope::Cluster) => format!("Configures the `{of_kind}` of this name."),
            Some(Scope::Namespaced) => format!("Configures the `{of_kind}` of this name and namespace."),
            None => format!("Configures a `{of_kind}`; the request names its object."),
        });
        // The object's own field with this name has the method.
        let is_free = |name: &&str| ty.fields.iter().all(|field| field.rust != *name);
        let is_there = |name: &&str| *name != "namespace" || kind.scope != Some(Scope::Cluster);
        let metadata = ty.fields.iter().any(|field| field.rust == "metadata").then_some(setters::METADATA);
        let metadata =
            metadata.into_iter().flatten().filter(is_free).filter(is_there).map(setters::of_metadata);
        quote! {
            #declaration
            impl #name {
                #docs
                #new
                #(#metadata)*
                #setters
            }
            impl applyconfigurations::ApplyConfiguration for #name { type Object = #object; }
        }
    }
}

/// Whether the struct has flattened fields.
fn has_flattened(ty: &Type) -> bool {
    ty.fields.iter().any(|field| field.flatten)
}

/// The documentation of an apply configuration, with the summary of its type.
fn docs_of(ty: &Type) -> String {
    let what = format!(
        "The fields of a `{}` that a field manager applies; unset fields are not sent.",
        ty.place.name
    );
    let summary = docs::summary(ty.summary.split("\n\n").next().unwrap_or_default());
    if summary.is_empty() { what } else { format!("{what}\n\n{summary}") }
}
