//! Reads code that makes or changes schemas.

use std::sync::Arc;

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Expr, ExprPath, FnArg, Member, Pat, ReturnType, Signature, Stmt, Token, Type};

use super::super::statements::active;
use super::Parser;
use crate::syntax::code::{self, Block, Expr as Code, Function, Kind, Pattern, Step};
use crate::syntax::{PathExpr, TypeExpr, ValueExpr, ValueKind};

/// The deepest nesting of expressions and statements that is read.
const DEPTH_LIMIT: usize = 64;

impl Parser<'_> {
    /// The code of a function that makes or changes a schema; `of_schema`: a method of a schema.
    pub(in crate::parse) fn schema_code(
        &self,
        signature: &Signature,
        block: &syn::Block,
        of_schema: bool,
    ) -> Option<ValueKind> {
        let output = matches!(&signature.output, ReturnType::Type(_, output) if is_schema(output));
        let input = signature.inputs.iter().any(|input| match input {
            FnArg::Receiver(_) => of_schema,
            FnArg::Typed(typed) => is_schema(&typed.ty),
        });
        if !output && !input {
            return None;
        }
        let params = signature.inputs.iter().map(|input| match input {
            FnArg::Receiver(_) => Pattern::Name("self".to_string()),
            FnArg::Typed(typed) => self.pattern(&typed.pat),
        });
        Some(ValueKind::SchemaFunction(Box::new(Function {
            generics: self.params(&signature.generics).into_iter().map(|param| param.name.text).collect(),
            params: params.collect(),
            body: self.code_block(block, 0),
        })))
    }

    /// An expression that becomes JSON.
    pub(in crate::parse) fn code(&self, expr: &Expr) -> Code {
        self.code_at(expr, 0)
    }

    fn code_block(&self, block: &syn::Block, depth: usize) -> Block {
        let active = active(self.cfg, block);
        let (mut steps, mut result) = (Vec::new(), None);
        let last = active.len().saturating_sub(1);
        for (at, stmt) in active.into_iter().enumerate() {
            match stmt {
                Stmt::Expr(expr, None) if at == last => result = Some(Box::new(self.code_at(expr, depth))),
                Stmt::Macro(call) if at == last && call.semi_token.is_none() => {
                    result = Some(Box::new(self.code_macro(&call.mac, call.span(), depth)));
                }
                Stmt::Expr(expr, _) => steps.push(Step::Expr(self.code_at(expr, depth))),
                Stmt::Local(local) => steps.push(self.code_let(local, depth)),
                // Imports have no effect.
                Stmt::Item(syn::Item::Use(_)) => {}
                Stmt::Item(syn::Item::Const(item)) => {
                    let name = Pattern::Name(item.ident.unraw().to_string());
                    steps.push(Step::Let(name, self.code_at(&item.expr, depth), None));
                }
                stmt => steps.push(Step::Expr(Code::new(Kind::Unknown, self.loc(stmt.span())))),
            }
        }
        Block { steps, result }
    }

    fn code_let(&self, local: &syn::Local, depth: usize) -> Step {
        let Some(init) = &local.init else {
            return Step::Expr(Code::new(Kind::Unknown, self.loc(local.span())));
        };
        let otherwise = init.diverge.as_ref().map(|(_, expr)| match &**expr {
            Expr::Block(block) => self.code_block(&block.block, depth),
            expr => Block { steps: Vec::new(), result: Some(Box::new(self.code_at(expr, depth))) },
        });
        Step::Let(self.pattern(&local.pat), self.code_at(&init.expr, depth), otherwise)
    }

    fn code_at(&self, expr: &Expr, depth: usize) -> Code {
        let kind = if depth < DEPTH_LIMIT { self.code_kind(expr, depth + 1) } else { Kind::Unknown };
        let may_be_constant = matches!(
            kind,
            Kind::Unknown | Kind::Method(..) | Kind::Call(..) | Kind::Struct(..) | Kind::Match(..)
        );
        let constant = may_be_constant.then(|| self.value(expr));
        let constant = constant.filter(|value| !matches!(value.kind, ValueKind::Unknown)).map(Box::new);
        Code { kind, loc: self.loc(expr.span()), constant }
    }

    fn codes<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>, depth: usize) -> Vec<Code> {
        exprs.into_iter().map(|expr| self.code_at(expr, depth)).collect()
    }

    fn code_kind(&self, expr: &Expr, depth: usize) -> Kind {
        let boxed = |expr: &Expr| Box::new(self.code_at(expr, depth));
        match expr {
            Expr::Paren(inner) => self.code_kind(&inner.expr, depth),
            Expr::Group(inner) => self.code_kind(&inner.expr, depth),
            Expr::Reference(inner) => self.code_kind(&inner.expr, depth),
            Expr::Try(inner) => Kind::Try(boxed(&inner.expr)),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                self.code_kind(&unary.expr, depth)
            }
            Expr::Array(array) => Kind::List(self.codes(&array.elems, depth)),
            Expr::Tuple(tuple) => Kind::Tuple(self.codes(&tuple.elems, depth)),
            Expr::Path(path) => self.function_path(path).map_or(Kind::Unknown, Kind::Path),
            Expr::Field(field) => match &field.member {
                Member::Named(name) => Kind::Field(boxed(&field.base), name.unraw().to_string()),
                Member::Unnamed(_) => Kind::Unknown,
            },
            Expr::Macro(call) => self.code_macro(&call.mac, call.span(), depth).kind,
            Expr::MethodCall(call) => self.code_method(call, depth),
            Expr::Call(call) => self.code_call(call, depth),
            Expr::Struct(literal) => {
                let rest = literal.rest.as_ref().map(|rest| boxed(rest));
                let fields = literal.fields.iter().map(|field| {
                    (field.member.to_token_stream().to_string(), self.code_at(&field.expr, depth))
                });
                Kind::Struct(self.path_expr(&literal.path), fields.collect(), rest)
            }
            Expr::Match(choice) => self.code_match(choice, depth),
            Expr::If(branch) => self.code_if(branch, depth),
            Expr::ForLoop(each) if each.label.is_none() => {
                Kind::For(self.pattern(&each.pat), boxed(&each.expr), self.code_block(&each.body, depth))
            }
            Expr::Block(block) if block.label.is_none() => Kind::Block(self.code_block(&block.block, depth)),
            Expr::Closure(closure) => {
                let params = closure.inputs.iter().map(|input| self.pattern(input)).collect();
                Kind::Closure(Arc::new((params, self.code_at(&closure.body, depth))))
            }
            Expr::Assign(assign) => Kind::Assign(boxed(&assign.left), boxed(&assign.right)),
            Expr::Return(value) => Kind::Return(value.expr.as_deref().map(boxed)),
            expr => self.code_value(expr),
        }
    }

    /// A value made only of constants.
    fn code_value(&self, expr: &Expr) -> Kind {
        let value = self.value(expr);
        match value.kind {
            ValueKind::Unknown => Kind::Unknown,
            _ => Kind::Value(value),
        }
    }

    fn code_macro(&self, call: &syn::Macro, span: Span, depth: usize) -> Code {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let list = |input: ParseStream<'_>| {
            let parser = syn::punctuated::Punctuated::<Expr, Token![,]>::parse_terminated;
            Ok(Kind::List(self.codes(&parser(input)?, depth)))
        };
        let value = || self.code_value(&Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: call.clone() }));
        let kind = match name.as_str() {
            "json" | "json_schema" => {
                call.parse_body_with(|input: ParseStream<'_>| Ok(self.json_tokens(input)?.kind))
            }
            "vec" => call.parse_body_with(list).or_else(|_| Ok(value())),
            "format" => Ok(match value() {
                Kind::Value(ValueExpr { kind: ValueKind::Format(texts, values), .. }) => {
                    Kind::Format(texts, values.into_iter().map(leaf).collect())
                }
                kind => kind,
            }),
            _ => Ok(value()),
        };
        let kind = kind.unwrap_or(Kind::Unknown);
        Code::new(kind, self.loc(span))
    }

    fn code_method(&self, call: &syn::ExprMethodCall, depth: usize) -> Kind {
        let (name, arguments) = (call.method.unraw().to_string(), self.codes(&call.args, depth));
        if let Some(ty) = call.turbofish.as_ref().and_then(type_argument) {
            match name.as_str() {
                "subschema_for" => return Kind::Schema(self.type_expr(ty)),
                "root_schema_for" | "into_root_schema_for" => return Kind::RootSchema(self.type_expr(ty)),
                _ => {}
            }
        }
        Kind::Method(Box::new(self.code_at(&call.receiver, depth)), name, arguments)
    }

    fn code_call(&self, call: &syn::ExprCall, depth: usize) -> Kind {
        let Expr::Path(function) = &*call.func else { return Kind::Unknown };
        let Some(last) = function.path.segments.last() else { return Kind::Unknown };
        if last.ident == "json_schema" && call.args.len() == 1 {
            return self.schema_owner(function).map_or(Kind::Unknown, Kind::Schema);
        }
        if last.ident == "from_str" && call.args.len() == 1 {
            let text = super::super::string(&call.args[0]);
            let value = text.and_then(|text| serde_json::from_str(&text).ok());
            return value.map_or(Kind::Unknown, Kind::Text);
        }
        let arguments = self.codes(&call.args, depth);
        self.function_path(function).map_or(Kind::Unknown, |path| Kind::Call(path, arguments))
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

    fn code_match(&self, choice: &syn::ExprMatch, depth: usize) -> Kind {
        let arms = choice.arms.iter().map(|arm| (self.pattern(&arm.pat), self.code_at(&arm.body, depth)));
        Kind::Match(Box::new(self.code_at(&choice.expr, depth)), arms.collect())
    }

    fn code_if(&self, branch: &syn::ExprIf, depth: usize) -> Kind {
        let loc = self.loc(branch.then_branch.span());
        let then = Code::new(Kind::Block(self.code_block(&branch.then_branch, depth)), loc);
        let otherwise = match &branch.else_branch {
            Some((_, expr)) => self.code_at(expr, depth),
            None => Code::new(Kind::Block(Block { steps: Vec::new(), result: None }), loc),
        };
        let (pattern, asked) = match &*branch.cond {
            Expr::Let(condition) => (self.pattern(&condition.pat), &*condition.expr),
            condition => (Pattern::Value(ValueExpr { kind: ValueKind::Bool(true), loc }), condition),
        };
        let arms = vec![(pattern, then), (Pattern::Any, otherwise)];
        Kind::Match(Box::new(self.code_at(asked, depth)), arms)
    }

    fn pattern(&self, pattern: &Pat) -> Pattern {
        match pattern {
            Pat::Wild(_) => Pattern::Any,
            Pat::Ident(name) if name.subpat.is_none() => match name.ident.unraw().to_string() {
                name if name == "None" => Pattern::Variant(name, Vec::new()),
                name => Pattern::Name(name),
            },
            Pat::Type(typed) => self.pattern(&typed.pat),
            Pat::Paren(inner) => self.pattern(&inner.pat),
            Pat::Reference(inner) => self.pattern(&inner.pat),
            Pat::Tuple(items) => Pattern::Tuple(items.elems.iter().map(|item| self.pattern(item)).collect()),
            Pat::TupleStruct(variant) => Pattern::Variant(
                last_segment(&variant.path),
                variant.elems.iter().map(|item| self.pattern(item)).collect(),
            ),
            Pat::Path(path) => match self.path_expr(&path.path).segments.as_slice() {
                [.., owner, name] if owner == "InstanceType" => Pattern::Value(ValueExpr {
                    kind: ValueKind::Text(name.to_ascii_lowercase()),
                    loc: self.loc(path.span()),
                }),
                _ => Pattern::Variant(last_segment(&path.path), Vec::new()),
            },
            Pat::Lit(literal) => Pattern::Value(
                self.value(&Expr::Lit(syn::ExprLit { attrs: Vec::new(), lit: literal.lit.clone() })),
            ),
            _ => Pattern::Unknown,
        }
    }
}

/// A part of a constant expression, which may be a variable.
fn leaf(value: ValueExpr) -> Code {
    let loc = value.loc;
    let kind = match value.kind {
        ValueKind::Path(path) => Kind::Path(path),
        ValueKind::Unknown => Kind::Unknown,
        _ => Kind::Value(value),
    };
    Code::new(kind, loc)
}

fn last_segment(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.unraw().to_string()).unwrap_or_default()
}

/// Whether the type is a schema, behind references.
pub(in crate::parse) fn is_schema(ty: &Type) -> bool {
    match ty {
        Type::Reference(inner) => is_schema(&inner.elem),
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| code::SCHEMAS.iter().any(|name| last.ident == name))
        }
        _ => false,
    }
}

fn type_argument(arguments: &syn::AngleBracketedGenericArguments) -> Option<&Type> {
    arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
