//! The values of blocks.

use syn::spanned::Spanned;
use syn::{Expr, Stmt};

use crate::parse::Parser;
use crate::parse::statements::active;
use crate::syntax::{ValueExpr, ValueKind};

impl Parser<'_> {
    /// The value of a block: an expression after variables that are created and changed.
    pub(super) fn block_value(&self, block: &syn::Block) -> ValueKind {
        let active = active(self.cfg, block);
        let Some((last, rest)) = active.split_last() else { return ValueKind::Unknown };
        let result = match last {
            Stmt::Expr(expr, None) => self.value(expr),
            Stmt::Macro(call) if call.semi_token.is_none() => {
                ValueExpr { kind: self.macro_value(&call.mac, 0), loc: self.loc(call.mac.span()) }
            }
            _ => return ValueKind::Unknown,
        };
        self.behind(rest, result)
    }

    /// The value of a function's body. A `return` in an inner block would end the function, not the block.
    pub(super) fn body_value(&self, block: &syn::Block) -> ValueKind {
        let active = active(self.cfg, block);
        match active.split_last() {
            Some((Stmt::Expr(Expr::Return(syn::ExprReturn { expr: Some(expr), .. }), _), rest)) => {
                self.behind(rest, self.value(expr))
            }
            _ => self.block_value(block),
        }
    }
}
