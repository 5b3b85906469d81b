//! Parses types in source form, with their parameters and arguments.

use kubesmith_core::nesting;
use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericArgument, GenericParam, LitStr, PathArguments, Type};

use super::Parser;
use crate::syntax::{Argument, ParamItem, PathExpr, TypeExpr};

impl Parser<'_> {
    /// Type and const parameters; lifetimes have no meaning in JSON.
    pub(super) fn params(&self, generics: &syn::Generics) -> Vec<ParamItem> {
        let param = |param: &GenericParam| match param {
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(param) => Some(ParamItem {
                name: self.name(&param.ident),
                is_const: false,
                default: param.default.as_ref().map(|(_, ty)| Argument::Type(self.type_expr(ty))),
            }),
            GenericParam::Const(param) => Some(ParamItem {
                name: self.name(&param.ident),
                is_const: true,
                default: param.default.as_ref().map(|(_, value)| Argument::Value(self.value(value))),
            }),
        };
        generics.params.iter().filter_map(param).collect()
    }

    pub(super) fn type_expr(&self, ty: &Type) -> TypeExpr {
        let unsupported = |what| TypeExpr::Unsupported(what, self.loc(ty.span()));
        match ty {
            Type::Path(path) => {
                let projected = path.qself.as_ref().map(|qself| self.type_expr(&qself.ty));
                match (projected, path.path.segments.last()) {
                    (None, _) => TypeExpr::Path(self.path_expr(&path.path)),
                    // `<T as Trait>::Name` is `T::Name`.
                    (Some(TypeExpr::Path(mut of)), Some(last)) => {
                        of.segments.push(last.ident.unraw().to_string());
                        TypeExpr::Path(of)
                    }
                    _ => unsupported("a projection `<T as Trait>::Type`"),
                }
            }
            Type::Array(array) => {
                TypeExpr::Array(Box::new(self.type_expr(&array.elem)), Some(self.value(&array.len)))
            }
            Type::Slice(slice) => TypeExpr::Array(Box::new(self.type_expr(&slice.elem)), None),
            Type::Reference(reference) => TypeExpr::Reference(Box::new(self.type_expr(&reference.elem))),
            Type::Paren(paren) => self.type_expr(&paren.elem),
            Type::Group(group) => self.type_expr(&group.elem),
            Type::Tuple(tuple) => {
                let items = tuple.elems.iter().map(|item| self.type_expr(item)).collect();
                TypeExpr::Tuple(items, self.loc(ty.span()))
            }
            Type::TraitObject(_) | Type::ImplTrait(_) => unsupported("a trait object"),
            Type::Macro(_) => unsupported("a macro's result"),
            Type::Never(_) => unsupported("`!`"),
            Type::Ptr(_) => unsupported("a pointer"),
            _ => unsupported("a function or other type without data"),
        }
    }

    /// A type in the string of an attribute, with the string's location.
    pub(super) fn type_in_text(&self, text: &str, span: Span) -> Option<TypeExpr> {
        nesting::check(text).ok()?;
        LitStr::new(text, span).parse::<Type>().ok().map(|ty| self.type_expr(&ty))
    }

    /// A path in an attribute.
    pub(super) fn path_in_text(&self, text: &str, span: Span) -> Option<PathExpr> {
        nesting::check(text).ok()?;
        LitStr::new(text, span).parse::<syn::Path>().ok().map(|path| self.path_expr(&path))
    }

    pub(super) fn path_expr(&self, path: &syn::Path) -> PathExpr {
        let arguments = path.segments.iter().rev().find_map(|segment| match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => Some(self.arguments(arguments)),
            _ => None,
        });
        let first = path.segments.first().map_or_else(Span::call_site, |segment| segment.ident.span());
        let last = path.segments.last().map_or(first, |segment| segment.ident.span());
        PathExpr {
            global: path.leading_colon.is_some(),
            segments: path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect(),
            arguments: arguments.unwrap_or_default(),
            loc: self.loc(first).to(self.loc(last)),
        }
    }

    fn arguments(&self, arguments: &syn::AngleBracketedGenericArguments) -> Vec<Argument> {
        let argument = |argument: &GenericArgument| match argument {
            GenericArgument::Type(ty) => Some(Argument::Type(self.type_expr(ty))),
            GenericArgument::Const(value) => Some(Argument::Value(self.value(value))),
            _ => None,
        };
        arguments.args.iter().filter_map(argument).collect()
    }
}
