//! Makes the root type that `#[derive(CustomResource)]` writes around a spec. Other types may use it.

use syn::{Ident, Visibility, parse_quote};

use super::KubeDerives;
use crate::parse::Parser;
use crate::syntax::kube::{Body, CustomResource, SchemaMode};
use crate::syntax::{Argument, TypeExpr, TypeItem};

impl Parser<'_> {
    /// The struct that kube-derive writes, without `metadata`, which its schema leaves out.
    pub(in crate::parse) fn root_type(
        &self,
        spec: &Ident,
        visibility: &Visibility,
        resource: &CustomResource,
    ) -> TypeItem {
        let doc = &resource.doc;
        let flatten: Option<syn::Attribute> = resource.no_spec.then(|| parse_quote! { #[serde(flatten)] });
        let item: syn::ItemStruct = parse_quote! {
            #[doc = #doc]
            struct Root {
                #flatten
                spec: #spec,
                status: ::core::option::Option<()>,
            }
        };
        let json = resource.schema == SchemaMode::Derived;
        let derives = KubeDerives { json, serialize: true, ..KubeDerives::default() };
        let mut definition = self.type_item(spec, visibility, &item.generics);
        definition.name = resource.root.clone();
        definition.schemars = self.derived_struct(&item, derives).map(Box::new);
        if let Some(derived) = &mut definition.schemars {
            derived.rules = resource.rules.clone();
            if let Body::Named(fields) = &mut derived.body {
                let status = fields.pop().zip(resource.status.clone()).map(|(mut field, status)| {
                    if let TypeExpr::Path(path) = &mut field.ty {
                        path.arguments = vec![Argument::Type(status)];
                    }
                    field
                });
                fields.extend(status);
            }
        }
        definition
    }
}
