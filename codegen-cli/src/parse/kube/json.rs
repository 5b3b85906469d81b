//! JSON that is written in Rust: `json!({ .. })`, `json_schema!(..)` and what leads to them.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, Token, Type, braced, bracketed};

use super::Parser;
use crate::syntax::kube::JsonExpr;
use crate::syntax::{PathExpr, TypeExpr, ValueKind};

/// Methods that leave JSON as it is.
const METHODS: &[&str] =
    &["try_into", "unwrap", "expect", "clone", "to_owned", "to_value", "unwrap_or_default"];

/// Types whose functions `from`, `try_from` and variants leave JSON as it is.
const OWNERS: &[&str] = &["Schema", "Value", "Map", "SchemaObject"];

impl Parser<'_> {
    /// What stands in `json!(..)`.
    pub(in crate::parse) fn json_tokens(&self, input: ParseStream<'_>) -> syn::Result<JsonExpr> {
        if input.peek(syn::token::Brace) {
            let content;
            braced!(content in input);
            let mut members = Vec::new();
            while !content.is_empty() {
                let key: Expr = content.parse()?;
                content.parse::<Token![:]>()?;
                members.push((self.value(&key), self.json_tokens(&content)?));
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            return Ok(JsonExpr::Object(members));
        }
        if input.peek(syn::token::Bracket) {
            let content;
            bracketed!(content in input);
            let mut items = Vec::new();
            while !content.is_empty() {
                items.push(self.json_tokens(&content)?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            return Ok(JsonExpr::List(items));
        }
        let expr: Expr = input.parse()?;
        Ok(self.json_value(&expr))
    }

    /// An expression that becomes JSON.
    pub(super) fn json_value(&self, expr: &Expr) -> JsonExpr {
        match expr {
            Expr::Paren(inner) => self.json_value(&inner.expr),
            Expr::Group(inner) => self.json_value(&inner.expr),
            Expr::Reference(inner) => self.json_value(&inner.expr),
            Expr::Try(inner) => self.json_value(&inner.expr),
            Expr::Array(array) => {
                JsonExpr::List(array.elems.iter().map(|item| self.json_value(item)).collect())
            }
            Expr::Path(ExprPath { qself: None, path, .. }) if path.is_ident("null") => JsonExpr::Null,
            Expr::Macro(call) => self.json_macro(expr.span(), &call.mac),
            Expr::MethodCall(call) => {
                if call.method == "subschema_for"
                    && let Some(ty) =
                        call.turbofish.as_ref().and_then(|arguments| type_argument(&arguments.args))
                {
                    return JsonExpr::Schema(self.type_expr(ty));
                }
                let is_same = METHODS.iter().any(|name| call.method == name);
                match self.json_value(&call.receiver) {
                    inner if is_same => inner,
                    // A constant is converted as its type says.
                    JsonExpr::Value(_) | JsonExpr::Unknown(_) => self.json_constant(expr),
                    inner if call.method == "into" => inner,
                    _ => self.json_constant(expr),
                }
            }
            Expr::Call(call) => self.json_call(expr, call),
            _ => self.json_constant(expr),
        }
    }

    fn json_constant(&self, expr: &Expr) -> JsonExpr {
        let value = self.value(expr);
        match value.kind {
            ValueKind::Unknown => JsonExpr::Unknown(value.loc),
            _ => JsonExpr::Value(value),
        }
    }

    pub(super) fn json_macro(&self, span: Span, call: &syn::Macro) -> JsonExpr {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let parsed = match name.as_str() {
            "json" | "json_schema" => call.parse_body_with(|input: ParseStream<'_>| self.json_tokens(input)),
            "vec" => call.parse_body_with(|input: ParseStream<'_>| {
                let parser = syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated;
                Ok(JsonExpr::List(parser(input)?.iter().map(|item| self.json_value(item)).collect()))
            }),
            _ => {
                let mac = call.clone();
                return self.json_constant(&Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac }));
            }
        };
        parsed.unwrap_or_else(|_| JsonExpr::Unknown(self.loc(span)))
    }

    /// Conversions, schemas of types, and functions that return schemas.
    fn json_call(&self, expr: &Expr, call: &syn::ExprCall) -> JsonExpr {
        let Expr::Path(function) = &*call.func else { return self.json_constant(expr) };
        let Some(last) = function.path.segments.last() else { return self.json_constant(expr) };
        let (name, single) = (last.ident.to_string(), call.args.len() == 1);
        if name == "json_schema" && single {
            return self
                .schema_owner(function)
                .map_or(JsonExpr::Unknown(self.loc(expr.span())), JsonExpr::Schema);
        }
        let owner = function.path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string());
        let owner = owner.unwrap_or_default();
        let is_json = OWNERS.contains(&owner.as_str());
        // schemars 0.8 begins with an empty object.
        if matches!(name.as_str(), "default" | "new") && call.args.is_empty() && is_json {
            return JsonExpr::Object(Vec::new());
        }
        if name == "from_str" && single {
            let value = super::super::string(&call.args[0]).and_then(|text| serde_json::from_str(&text).ok());
            return value.map_or(JsonExpr::Unknown(self.loc(expr.span())), JsonExpr::Text);
        }
        let leaves_as_it_is = match name.as_str() {
            "from_value" | "to_value" => owner == "serde_json" || owner.is_empty() || owner == "value",
            "Ok" | "Some" => true,
            "from" | "try_from" | "Bool" | "String" | "Array" | "Number" | "Object" => is_json,
            _ => false,
        };
        if single && leaves_as_it_is {
            return self.json_value(&call.args[0]);
        }
        match self.json_constant(expr) {
            // The argument is a generator.
            JsonExpr::Value(_) if single && is_name(&call.args[0]) && function.qself.is_none() => {
                JsonExpr::Call(self.path_expr(&function.path))
            }
            other => other,
        }
    }

    /// `T` of `T::json_schema` and `<T as JsonSchema>::json_schema`.
    fn schema_owner(&self, function: &ExprPath) -> Option<TypeExpr> {
        if let Some(qself) = &function.qself {
            return Some(self.type_expr(&qself.ty));
        }
        let path = self.path_expr(&function.path);
        let mut segments = path.segments.clone();
        segments.pop();
        (!segments.is_empty()).then_some(TypeExpr::Path(PathExpr { segments, ..path }))
    }
}

/// Whether the expression is the name of a variable.
fn is_name(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.qself.is_none() && path.path.get_ident().is_some(),
        Expr::Reference(inner) => is_name(&inner.expr),
        _ => false,
    }
}

fn type_argument(arguments: &syn::punctuated::Punctuated<syn::GenericArgument, Token![,]>) -> Option<&Type> {
    arguments.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
