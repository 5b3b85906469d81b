//! Reads the values of constants and functions: literals, and simple expressions of them.

mod blocks;
mod branches;
mod changes;
mod environment;
mod items;

use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Lit, Member, Type, UnOp};

use self::branches::{method_operator, test};
use super::Parser;
use crate::syntax::{Conversion, Operator, PathExpr, ValueExpr, ValueKind};

/// The deepest nesting of expressions that is read.
const DEPTH_LIMIT: usize = 64;

/// The most repetitions of a list's item.
const REPETITION_LIMIT: i128 = 1024;

/// Methods that turn a value into an equal one of another type.
const CONVERSIONS: &[&str] =
    &["into", "to_owned", "to_string", "clone", "unwrap", "into_iter", "iter", "collect", "to_vec", "cloned"];

/// Macros that make a map of `key => value`.
const MAP_MACROS: &[&str] = &["btreemap", "hashmap", "indexmap"];

impl Parser<'_> {
    pub(super) fn value(&self, expr: &Expr) -> ValueExpr {
        self.value_at(expr, 0)
    }

    fn value_at(&self, expr: &Expr, depth: usize) -> ValueExpr {
        let kind = if depth < DEPTH_LIMIT { self.value_kind(expr, depth + 1) } else { ValueKind::Unknown };
        ValueExpr { kind, loc: self.loc(expr.span()) }
    }

    fn value_kind(&self, expr: &Expr, depth: usize) -> ValueKind {
        let boxed = |expr: &Expr| Box::new(self.value_at(expr, depth));
        match expr {
            Expr::Lit(literal) => self::literal(&literal.lit),
            Expr::Paren(inner) => self.value_kind(&inner.expr, depth),
            Expr::Group(inner) => self.value_kind(&inner.expr, depth),
            // What is behind `&mut` may change elsewhere.
            Expr::Reference(inner) if inner.mutability.is_none() => self.value_kind(&inner.expr, depth),
            Expr::Cast(inner) => match &*inner.ty {
                Type::Path(ty) if ty.path.get_ident().is_some() => {
                    let name = ty.path.get_ident().map(ToString::to_string).unwrap_or_default();
                    ValueKind::Cast(boxed(&inner.expr), name)
                }
                _ => ValueKind::Unknown,
            },
            Expr::Block(inner) => self.block_value(&inner.block),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => ValueKind::Neg(boxed(&unary.expr)),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => ValueKind::Not(boxed(&unary.expr)),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.value_kind(&unary.expr, depth),
            // A closure that makes the value on first use.
            Expr::Closure(closure) if closure.inputs.is_empty() => self.value_kind(&closure.body, depth),
            Expr::Binary(binary) => match (operator(&binary.op), test(&binary.op)) {
                (Some(operator), _) => ValueKind::Binary(operator, boxed(&binary.left), boxed(&binary.right)),
                (_, Some(test)) => ValueKind::Test(test, boxed(&binary.left), boxed(&binary.right)),
                _ => ValueKind::Unknown,
            },
            Expr::If(branch) => self.branch(branch, depth),
            Expr::Match(choice) => self.choice(choice, depth),
            Expr::Path(path) => self.function_path(path).map_or(ValueKind::Unknown, ValueKind::Path),
            Expr::Repeat(repeat) => self.repeated(&repeat.expr, &repeat.len, depth),
            Expr::Array(array) => ValueKind::List(self.values(&array.elems, depth)),
            Expr::Tuple(tuple) => ValueKind::Tuple(self.values(&tuple.elems, depth)),
            Expr::Macro(call) => self.macro_value(&call.mac, depth),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => match self.function_path(path) {
                    Some(path) => ValueKind::Call(path, self.values(&call.args, depth)),
                    None => ValueKind::Unknown,
                },
                _ => ValueKind::Unknown,
            },
            Expr::MethodCall(call) => match self.environment(call, depth) {
                Some(value) => value,
                None => self.method_value(call, depth),
            },
            Expr::Field(field) => match &field.member {
                Member::Named(name) => ValueKind::Field(boxed(&field.base), name.unraw().to_string()),
                Member::Unnamed(_) => ValueKind::Unknown,
            },
            Expr::Struct(literal) => self.structure_value(literal, depth),
            _ => ValueKind::Unknown,
        }
    }

    /// The value of a method call: conversions that keep the value, and arithmetic.
    fn method_value(&self, call: &syn::ExprMethodCall, depth: usize) -> ValueKind {
        let boxed = |expr: &Expr| Box::new(self.value_at(expr, depth));
        let is_named = |name: &str| call.method == name;
        if call.turbofish.as_ref().is_some_and(names_a_set) {
            return ValueKind::Unknown;
        }
        let argument = call.args.first();
        match (call.args.len(), argument) {
            (0, _) if CONVERSIONS.iter().any(|name| is_named(name)) => {
                let conversion = match call.method.to_string().as_str() {
                    "into" => Conversion::Into,
                    "to_string" => Conversion::ToString,
                    _ => Conversion::Same,
                };
                ValueKind::Converted(conversion, boxed(&call.receiver))
            }
            (0, _) if is_named("len") => length(&call.receiver),
            _ if is_named("expect") => self.value_kind(&call.receiver, depth),
            _ if is_named("map") && is_conversion(&call.args) => self.value_kind(&call.receiver, depth),
            // The content of a cell after its first use.
            (1, Some(init)) if is_named("get_or_init") => self.value_kind(init, depth),
            (1, Some(right)) => match method_operator(&call.method) {
                Some(operator) => ValueKind::Binary(operator, boxed(&call.receiver), boxed(right)),
                None => ValueKind::Unknown,
            },
            _ => ValueKind::Unknown,
        }
    }

    /// A path in normal form: `<T as Trait>::name` is `T::name`, methods of slices are those of `Vec`.
    pub(super) fn function_path(&self, path: &syn::ExprPath) -> Option<PathExpr> {
        let Some(qself) = &path.qself else { return Some(self.path_expr(&path.path)) };
        let last = path.path.segments.last()?.ident.unraw().to_string();
        let mut ty = &*qself.ty;
        while let Type::Group(syn::TypeGroup { elem, .. }) | Type::Paren(syn::TypeParen { elem, .. }) = ty {
            ty = elem;
        }
        let mut found = match ty {
            Type::Path(ty) if ty.qself.is_none() => self.path_expr(&ty.path),
            Type::Slice(slice) => PathExpr {
                global: false,
                segments: vec!["Vec".to_string()],
                arguments: Vec::new(),
                loc: self.loc(slice.span()),
            },
            _ => return None,
        };
        found.segments.push(last);
        Some(found)
    }

    fn values<'a>(&self, exprs: impl IntoIterator<Item = &'a Expr>, depth: usize) -> Vec<ValueExpr> {
        exprs.into_iter().map(|expr| self.value_at(expr, depth)).collect()
    }

    /// `vec![..]`, `json!(..)`, and macros of std whose values are known.
    fn macro_value(&self, call: &syn::Macro, depth: usize) -> ValueKind {
        if call.path.segments.last().is_some_and(|segment| segment.ident == "json") {
            let parsed = call.parse_body_with(|input: syn::parse::ParseStream<'_>| self.json_tokens(input));
            return parsed.map_or(ValueKind::Unknown, |json| ValueKind::Json(Box::new(json)));
        }
        if let Some(value) = self.built_in_macro(call) {
            return value;
        }
        let is_format = |name: &syn::Ident| name == "format" || name == "formatcp";
        if call.path.segments.last().is_some_and(|segment| is_format(&segment.ident)) {
            return self.format_value(call, depth);
        }
        if call.path.is_ident("vec")
            && let Ok((item, len)) = call.parse_body_with(repetition)
        {
            return self.repeated(&item, &len, depth);
        }
        // Maps of maplit and indexmap.
        if call.path.segments.last().is_some_and(|last| MAP_MACROS.iter().any(|name| last.ident == name))
            && let Ok(entries) = call.parse_body_with(entries)
        {
            let entry = |(key, value): &(Expr, Expr)| ValueExpr {
                kind: ValueKind::Tuple(vec![self.value_at(key, depth), self.value_at(value, depth)]),
                loc: self.loc(key.span()),
            };
            return ValueKind::List(entries.iter().map(entry).collect());
        }
        let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        match call.parse_body_with(parser) {
            Ok(items) if call.path.is_ident("vec") => ValueKind::List(self.values(&items, depth)),
            // `concatcp!` of const_format.
            Ok(items) if call.path.segments.last().is_some_and(|last| last.ident == "concatcp") => {
                ValueKind::Format(vec![String::new(); items.len() + 1], self.values(&items, depth))
            }
            _ => ValueKind::Unknown,
        }
    }

    /// `format!("{}:{port}", host)`, without widths and other format options.
    fn format_value(&self, call: &syn::Macro, depth: usize) -> ValueKind {
        let parser = syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        let Ok(arguments) = call.parse_body_with(parser) else { return ValueKind::Unknown };
        let Some(text) = arguments.first().and_then(text) else { return ValueKind::Unknown };
        let given: Vec<&Expr> = arguments.iter().skip(1).collect();
        let (mut next, mut used) = (0, 0);
        let (mut pieces, mut values) = (Vec::new(), Vec::new());
        let mut rest = text.as_str();
        while let Some((piece, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else { return ValueKind::Unknown };
            if piece.contains('}') || after.starts_with('}') {
                return ValueKind::Unknown;
            }
            let at = if name.is_empty() { Some(next) } else { name.parse().ok() };
            let value = match at {
                Some(at) => {
                    next += usize::from(name.is_empty());
                    used = used.max(at + 1);
                    given.get(at).map(|value| self.value_at(value, depth))
                }
                None => syn::parse_str::<syn::Ident>(name).ok().map(|name| {
                    let name = syn::Ident::new(&name.to_string(), call.path.span());
                    self.value_at(&syn::parse_quote! { #name }, depth)
                }),
            };
            let Some(value) = value else { return ValueKind::Unknown };
            pieces.push(piece.to_string());
            values.push(value);
            rest = after;
        }
        if rest.contains('}') || used < given.len() {
            return ValueKind::Unknown;
        }
        pieces.push(rest.to_string());
        ValueKind::Format(pieces, values)
    }

    /// `[a; 3]`
    fn repeated(&self, item: &Expr, len: &Expr, depth: usize) -> ValueKind {
        match self.value_kind(len, depth) {
            ValueKind::Int(len) if (0..=REPETITION_LIMIT).contains(&len) => {
                let item = self.value_at(item, depth);
                // Nested repetitions would grow with each level.
                match item.kind {
                    ValueKind::List(_)
                    | ValueKind::Tuple(_)
                    | ValueKind::Struct(..)
                    | ValueKind::Changed(..)
                    | ValueKind::Block(..) => ValueKind::Unknown,
                    _ => ValueKind::List((0..len).map(|_| item.clone()).collect()),
                }
            }
            _ => ValueKind::Unknown,
        }
    }

    fn structure_value(&self, literal: &syn::ExprStruct, depth: usize) -> ValueKind {
        if literal.qself.is_some() {
            return ValueKind::Unknown;
        }
        let rest = literal.rest.as_ref().map(|rest| Box::new(self.value_at(rest, depth)));
        let fields = literal.fields.iter().map(|field| {
            let name = match &field.member {
                Member::Named(ident) => ident.unraw().to_string(),
                Member::Unnamed(index) => index.index.to_string(),
            };
            (name, self.value_at(&field.expr, depth))
        });
        ValueKind::Struct(self.path_expr(&literal.path), fields.collect(), rest)
    }
}

/// Whether the words name a set type.
fn names_a_set(words: &impl quote::ToTokens) -> bool {
    any_word(words.to_token_stream(), &|word| word.to_string().ends_with("Set"))
}

/// Whether a test holds for one of the words in these tokens.
fn any_word(tokens: proc_macro2::TokenStream, test: &dyn Fn(&proc_macro2::Ident) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(word) => test(&word),
        proc_macro2::TokenTree::Group(group) => any_word(group.stream(), test),
        _ => false,
    })
}

/// `item; length`
fn repetition(input: syn::parse::ParseStream<'_>) -> syn::Result<(Expr, Expr)> {
    let item = input.parse()?;
    input.parse::<syn::Token![;]>()?;
    Ok((item, input.parse()?))
}

/// `"a" => 1, "b" => 2`
fn entries(input: syn::parse::ParseStream<'_>) -> syn::Result<Vec<(Expr, Expr)>> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        let key = input.parse()?;
        input.parse::<syn::Token![=>]>()?;
        entries.push((key, input.parse()?));
        if !input.is_empty() {
            input.parse::<syn::Token![,]>()?;
        }
    }
    Ok(entries)
}

/// The text of a literal.
fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(literal) => match self::literal(&literal.lit) {
            ValueKind::Text(text) => Some(text),
            ValueKind::Int(value) => Some(value.to_string()),
            ValueKind::Bool(value) => Some(value.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// The length of a string in bytes.
fn length(expr: &Expr) -> ValueKind {
    let length = text(expr).and_then(|text| i128::try_from(text.len()).ok());
    length.map_or(ValueKind::Unknown, ValueKind::Int)
}

/// `String::from`, `ToString::to_string` and similar.
fn is_conversion(arguments: &syn::punctuated::Punctuated<Expr, syn::Token![,]>) -> bool {
    match arguments.first() {
        Some(Expr::Path(path)) => {
            let last = path.path.segments.last().map(|segment| segment.ident.to_string());
            last.is_some_and(|name| ["from", "into", "to_string", "to_owned"].contains(&name.as_str()))
        }
        Some(Expr::Closure(closure)) => match closure.inputs.first() {
            Some(input) if closure.inputs.len() == 1 => is_converted(&closure.body, input),
            _ => false,
        },
        _ => false,
    }
}

/// Whether the expression is the pattern's value, possibly converted.
fn is_converted(expr: &Expr, pattern: &syn::Pat) -> bool {
    match (expr, pattern) {
        (Expr::MethodCall(call), _) => {
            let is_conversion = CONVERSIONS.iter().any(|name| call.method == name);
            is_conversion && call.args.is_empty() && is_converted(&call.receiver, pattern)
        }
        (Expr::Call(call), _) if call.args.len() == 1 => {
            let Expr::Path(function) = &*call.func else { return false };
            let is_from = function.path.segments.last().is_some_and(|segment| segment.ident == "from");
            is_from && is_converted(&call.args[0], pattern)
        }
        (Expr::Unary(unary), _) if matches!(unary.op, UnOp::Deref(_)) => is_converted(&unary.expr, pattern),
        (Expr::Tuple(tuple), syn::Pat::Tuple(patterns)) => {
            tuple.elems.len() == patterns.elems.len()
                && tuple.elems.iter().zip(&patterns.elems).all(|(expr, pattern)| is_converted(expr, pattern))
        }
        (Expr::Path(path), syn::Pat::Ident(name)) => path.path.is_ident(&name.ident),
        (expr, syn::Pat::Reference(inner)) => is_converted(expr, &inner.pat),
        _ => false,
    }
}

fn literal(literal: &Lit) -> ValueKind {
    match literal {
        Lit::Int(number) => number.base10_parse().map_or(ValueKind::Unknown, ValueKind::Int),
        Lit::Float(number) => number.base10_parse().map_or(ValueKind::Unknown, ValueKind::Float),
        Lit::Bool(value) => ValueKind::Bool(value.value),
        Lit::Str(text) => ValueKind::Text(text.value()),
        Lit::Char(c) => ValueKind::Text(c.value().to_string()),
        Lit::Byte(byte) => ValueKind::Int(byte.value().into()),
        _ => ValueKind::Unknown,
    }
}

fn operator(operator: &BinOp) -> Option<Operator> {
    Some(match operator {
        BinOp::Add(_) => Operator::Add,
        BinOp::Sub(_) => Operator::Sub,
        BinOp::Mul(_) => Operator::Mul,
        BinOp::Div(_) => Operator::Div,
        BinOp::Rem(_) => Operator::Rem,
        BinOp::Shl(_) => Operator::ShiftLeft,
        BinOp::Shr(_) => Operator::ShiftRight,
        BinOp::BitAnd(_) => Operator::BitAnd,
        BinOp::BitOr(_) => Operator::BitOr,
        BinOp::BitXor(_) => Operator::BitXor,
        _ => return None,
    })
}
