//! List, map and message literals.

use super::recovery::{ELEMENTS, ENTRIES, FIELDS};
use super::{Parsed, Parser};
use crate::cel::ast::{Entry, Expr, FieldInit, Kind, Literal};
use crate::cel::lexer::TokenKind;

impl Parser {
    pub(super) fn list_literal(&mut self, at: usize) -> Parsed<Expr> {
        self.next();
        let (mut elements, mut optional) = (Vec::new(), Vec::new());
        self.not_the_end(ELEMENTS)?;
        // The grammar has `'[' listInit? ','? ']'`.
        self.eat(",");
        loop {
            if self.eat("]").is_some() {
                break;
            }
            if self.eat("?").is_some() {
                optional.push(elements.len());
            }
            elements.push(self.expr()?);
            if self.closes("]")? {
                break;
            }
            // ANTLR assumes the missing bracket.
            if self.peek().kind == TokenKind::End {
                self.close("]")?;
                break;
            }
        }
        Ok(self.node(at, Kind::List { elements, optional }))
    }

    pub(super) fn map_literal(&mut self, at: usize) -> Parsed<Expr> {
        self.next();
        let mut entries = Vec::new();
        self.not_the_end(ENTRIES)?;
        self.eat(",");
        loop {
            if self.eat("}").is_some() {
                break;
            }
            let optional = self.eat("?").is_some();
            let key = self.expr()?;
            self.expect(":")?;
            let value = self.expr()?;
            entries.push(Entry { key, value, optional });
            if self.closes("}")? {
                break;
            }
            if self.peek().kind == TokenKind::End {
                self.close("}")?;
                break;
            }
        }
        Ok(self.node(at, Kind::Map(entries)))
    }

    /// Returns the dotted name of a message, if a message literal begins with this identifier, and consumes the tokens
    /// up to `{`.
    pub(super) fn message_name(&mut self, first: &str) -> Option<String> {
        let (mut name, mut at) = (first.to_owned(), self.at);
        let kind = |at: usize| self.tokens.get(at).map(|token| &token.kind);
        while let (Some(TokenKind::Punct(".")), Some(TokenKind::Ident(part))) = (kind(at), kind(at + 1)) {
            name = format!("{name}.{part}");
            at += 2;
        }
        matches!(kind(at), Some(TokenKind::Punct("{"))).then(|| {
            self.at = at;
            name
        })
    }

    pub(super) fn struct_literal(&mut self, name: String) -> Parsed<Expr> {
        let at = self.expect("{")?;
        let mut fields = Vec::new();
        self.not_the_end(FIELDS)?;
        loop {
            if self.eat("}").is_some() {
                break;
            }
            let optional = self.eat("?").is_some();
            let (name, _) = self.field_name()?;
            let colon = self.expect(":")?;
            let id = self.node(colon, Kind::Literal(Literal::Null)).id;
            fields.push(FieldInit { id, name, value: self.expr()?, optional });
            if self.closes("}")? {
                break;
            }
        }
        Ok(self.node(at, Kind::Struct { name, fields }))
    }
}
