//! The statements of a block that decide its value.

use syn::{Attribute, Block, Expr, Item, Stmt};

use crate::cfg::Cfg;

/// The statements whose conditions hold, without those that only print. A body that is a single block is replaced by that block.
pub(super) fn active<'b>(cfg: &Cfg, block: &'b Block) -> Vec<&'b Stmt> {
    let counts = |stmt: &&Stmt| cfg.active(attributes(stmt)) && !prints(stmt);
    let active: Vec<&Stmt> = block.stmts.iter().filter(counts).collect();
    match active[..] {
        [Stmt::Expr(Expr::Block(inner), None)] if inner.label.is_none() => self::active(cfg, &inner.block),
        _ => active,
    }
}

/// Whether a statement is a macro of std, log or tracing that prints: no value depends on it.
fn prints(stmt: &Stmt) -> bool {
    let Stmt::Macro(call) = stmt else { return false };
    let names: Vec<String> = call.mac.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names[..] {
        [name] | ["std", name] => matches!(name, "print" | "println" | "eprint" | "eprintln"),
        ["log" | "tracing", name] => matches!(name, "trace" | "debug" | "info" | "warn" | "error"),
        _ => false,
    }
}

fn attributes(stmt: &Stmt) -> &[Attribute] {
    match stmt {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(call) => &call.attrs,
        Stmt::Item(Item::Const(item)) => &item.attrs,
        Stmt::Item(Item::Static(item)) => &item.attrs,
        Stmt::Item(Item::Use(item)) => &item.attrs,
        Stmt::Expr(expr, _) => match expr {
            // As syn places them.
            Expr::Assign(expr) => match &*expr.left {
                Expr::Field(left) => &left.attrs,
                Expr::Path(left) => &left.attrs,
                _ => &[],
            },
            Expr::Binary(expr) => &expr.attrs,
            Expr::Block(expr) => &expr.attrs,
            Expr::Call(expr) => &expr.attrs,
            Expr::If(expr) => &expr.attrs,
            Expr::Lit(expr) => &expr.attrs,
            Expr::Macro(expr) => &expr.attrs,
            Expr::Match(expr) => &expr.attrs,
            Expr::MethodCall(expr) => &expr.attrs,
            Expr::Path(expr) => &expr.attrs,
            Expr::Return(expr) => &expr.attrs,
            Expr::Struct(expr) => &expr.attrs,
            _ => &[],
        },
        Stmt::Item(_) => &[],
    }
}
