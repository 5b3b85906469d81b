//! Reads the statements of a body that builds its value step by step.

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Item, Member, Pat, Stmt};

use super::super::statements::active;
use super::{any_word, names_a_set};
use crate::parse::{Parser, uses};
use crate::syntax::{Change, PathExpr, ValueExpr, ValueKind, Visibility};

/// The most statements in a body that is read.
const STATEMENT_LIMIT: usize = 256;

/// The variables of a block. A changed one is a new variable of the same name, so that expressions that used it
/// before keep its old value.
#[derive(Default)]
struct Variables {
    list: Vec<(String, ValueExpr)>,
    /// The names of those with `mut`.
    changing: Vec<String>,
}

impl Parser<'_> {
    /// The value of an expression behind statements.
    pub(super) fn behind(&self, rest: &[&Stmt], result: ValueExpr) -> ValueKind {
        if rest.is_empty() {
            return result.kind;
        }
        let mut variables = Variables::default();
        let is_read = rest.len() <= STATEMENT_LIMIT
            && rest.iter().all(|stmt| self.step(stmt, &mut variables).is_some());
        match is_read {
            true => ValueKind::Block(variables.list, Box::new(result)),
            false => ValueKind::Unknown,
        }
    }

    fn step(&self, stmt: &Stmt, variables: &mut Variables) -> Option<()> {
        match stmt {
            Stmt::Local(local) => self.local_variable(local, variables),
            Stmt::Item(item) => self.inner_item(item, variables),
            Stmt::Expr(Expr::Assign(assign), Some(_)) => {
                let value = self.unchanging(&assign.right, variables)?;
                match place(&assign.left)? {
                    (name, None) => variables.assign(name, value),
                    (name, Some(field)) => variables.change(name, Change::Field(field, value), &assign.right),
                }
            }
            Stmt::Expr(Expr::MethodCall(call), Some(_)) => {
                let change = self.method_change(call, variables)?;
                match place(&call.receiver)? {
                    (name, None) => variables.change(name, change, &call.args),
                    (name, Some(field)) => {
                        let before = self.value(&call.receiver);
                        let loc = before.loc;
                        let kind = ValueKind::Changed(Box::new(before), vec![change]);
                        variables.change(name, Change::Field(field, ValueExpr { kind, loc }), call)
                    }
                }
            }
            Stmt::Expr(expr, _) => {
                let (option, changes) = self.content_changes(expr, variables)?;
                variables.change(option, Change::Content(changes), expr)
            }
            Stmt::Macro(_) => None,
        }
    }

    /// `let name = value;`
    fn local_variable(&self, local: &syn::Local, variables: &mut Variables) -> Option<()> {
        let pattern = match &local.pat {
            // A set reorders its items.
            Pat::Type(typed) if names_a_set(&typed.ty) => return None,
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let Pat::Ident(name) = pattern else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let value = self.unchanging(&init.expr, variables)?;
        let changes = name.mutability.is_some();
        let name = name.ident.unraw().to_string();
        variables.changing.extend(changes.then(|| name.clone()));
        variables.add(name, value);
        Some(())
    }

    fn inner_item(&self, item: &Item, variables: &mut Variables) -> Option<()> {
        match item {
            Item::Const(item) => variables.add(item.ident.unraw().to_string(), self.value(&item.expr)),
            Item::Static(item) => variables.add(item.ident.unraw().to_string(), self.value(&item.expr)),
            Item::Use(item) => {
                let mut leaves = Vec::new();
                uses::leaves(&item.tree, Visibility::Restricted, false, &mut Vec::new(), &mut leaves);
                for leaf in leaves {
                    let loc = self.loc(item.span());
                    let global = item.leading_colon.is_some();
                    let path = PathExpr { global, segments: leaf.segments, arguments: Vec::new(), loc };
                    variables.add(leaf.binding?, ValueExpr { kind: ValueKind::Path(path), loc });
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The value of an expression, unless a part of it that is not read could change a variable.
    fn unchanging(&self, expr: &Expr, variables: &Variables) -> Option<ValueExpr> {
        let value = self.value(expr);
        (value.is_read() || !variables.changing.iter().any(|name| mentions(expr, name))).then_some(value)
    }

    /// A method of std's collections and strings that adds something.
    fn method_change(&self, call: &syn::ExprMethodCall, variables: &Variables) -> Option<Change> {
        let arguments: Option<Vec<ValueExpr>> =
            call.args.iter().map(|argument| self.unchanging(argument, variables)).collect();
        let mut arguments = arguments?;
        match (call.method.to_string().as_str(), arguments.len()) {
            ("push" | "push_back" | "push_str", 1) => arguments.pop().map(Change::Push),
            ("extend" | "extend_from_slice", 1) => arguments.pop().map(Change::Extend),
            ("insert", 1 | 2) => Some(Change::Insert(arguments)),
            _ => None,
        }
    }

    /// `if let Some(content) = &mut option { .. }`, or a `match` that does nothing for `None`: the name of the
    /// option, and the changes of its content.
    fn content_changes(&self, expr: &Expr, variables: &Variables) -> Option<(String, Vec<Change>)> {
        let (of, pattern, body) = match expr {
            Expr::If(branch) if branch.else_branch.is_none() => {
                let Expr::Let(condition) = &*branch.cond else { return None };
                (&*condition.expr, &*condition.pat, &branch.then_branch)
            }
            Expr::Match(choice) => {
                let [some, none] = &choice.arms.iter().collect::<Vec<_>>()[..] else { return None };
                let (Expr::Block(then), Expr::Block(otherwise)) = (&*some.body, &*none.body) else {
                    return None;
                };
                let is_plain = active(self.cfg, &otherwise.block).is_empty();
                (&*choice.expr, is_plain.then_some(&some.pat)?, &then.block)
            }
            _ => return None,
        };
        let content = inside_some(pattern)?;
        let name = content.unraw().to_string();
        let changes = active(self.cfg, body).into_iter().map(|stmt| {
            let Stmt::Expr(Expr::MethodCall(call), Some(_)) = stmt else { return None };
            // The arguments would see the content as it was.
            let is_of_content =
                place(&call.receiver)? == (name.clone(), None) && !mentions(&call.args, &name);
            is_of_content.then(|| self.method_change(call, variables))?
        });
        Some((borrowed(of)?, changes.collect::<Option<_>>()?))
    }
}

impl Variables {
    fn add(&mut self, name: String, value: ValueExpr) {
        self.list.push((name, value));
    }

    /// Another value of a variable of this block: those of other blocks would keep theirs.
    fn assign(&mut self, name: String, value: ValueExpr) -> Option<()> {
        let is_known = self.list.iter().any(|(known, _)| *known == name);
        is_known.then(|| self.add(name, value))
    }

    /// Adds a change that these words make.
    fn change(&mut self, name: String, change: Change, words: &impl ToTokens) -> Option<()> {
        let (_, current) = self.list.iter().rev().find(|(known, _)| *known == name)?;
        let loc = current.loc;
        if let Some((last, ValueExpr { kind: ValueKind::Changed(_, changes), .. })) = self.list.last_mut()
            && *last == name
            && !mentions(words, &name)
        {
            changes.push(change);
            return Some(());
        }
        let path = PathExpr { global: false, segments: vec![name.clone()], arguments: Vec::new(), loc };
        let before = Box::new(ValueExpr { kind: ValueKind::Path(path), loc });
        self.assign(name, ValueExpr { kind: ValueKind::Changed(before, vec![change]), loc })
    }
}

/// `a` or `a.b`: a variable, and its field.
fn place(expr: &Expr) -> Option<(String, Option<String>)> {
    let variable = |expr: &Expr| match expr {
        Expr::Path(path) => path.path.get_ident().map(|name| name.unraw().to_string()),
        _ => None,
    };
    match expr {
        Expr::Field(field) => match &field.member {
            Member::Named(name) => Some((variable(&field.base)?, Some(name.unraw().to_string()))),
            Member::Unnamed(_) => None,
        },
        expr => Some((variable(expr)?, None)),
    }
}

/// The variable in `&mut a` or `a.as_mut()`.
fn borrowed(expr: &Expr) -> Option<String> {
    let inner = match expr {
        Expr::Reference(reference) if reference.mutability.is_some() => &*reference.expr,
        Expr::MethodCall(call) if call.method == "as_mut" => &*call.receiver,
        _ => return None,
    };
    match place(inner)? {
        (name, None) => Some(name),
        _ => None,
    }
}

/// The variable in the pattern `Some(a)`.
fn inside_some(pattern: &Pat) -> Option<&syn::Ident> {
    match pattern {
        Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => {
            match some.elems.first()? {
                Pat::Ident(name) if name.subpat.is_none() => Some(&name.ident),
                _ => None,
            }
        }
        _ => None,
    }
}

fn mentions(words: &impl ToTokens, name: &str) -> bool {
    any_word(words.to_token_stream(), &|word| word.unraw() == name)
}
