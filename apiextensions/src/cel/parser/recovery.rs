//! Syntax errors with the texts of ANTLR, and the ways in which ANTLR goes on after one.

use super::{Fault, Parsed, Parser};
use crate::cel::lexer::{Token, TokenKind};

/// The tokens that can start an expression, and those that can follow the opening parenthesis of a call, in ANTLR's words.
pub(super) const STARTS: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/// As [`STARTS`], behind the bracket of an index, an open list and an open map, which may have optional elements.
pub(super) const INDEX: &str = "{'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
pub(super) const ELEMENTS: &str = "{'[', ']', '{', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
pub(super) const ENTRIES: &str = "{'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
pub(super) const FIELDS: &str = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";
pub(super) const ARGUMENTS: &str = "{'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/// Reports whether an expression can begin with a token.
pub(super) fn starts_expression(token: &Token) -> bool {
    match token.kind {
        TokenKind::Ident(_) | TokenKind::Literal(_) | TokenKind::MinInt => true,
        TokenKind::Punct(punct) => matches!(punct, "[" | "{" | "(" | "." | "-" | "!"),
        _ => false,
    }
}

impl Parser {
    /// Reports a token where another has to follow, and goes on if the other is the next one, or if it can be assumed
    /// (`RecoverInline` of ANTLR's error strategy).
    pub(super) fn recover(&mut self, punct: &str, expected: &str) -> Parsed<usize> {
        let token = self.peek().clone();
        if self.follows(&[punct]) {
            self.issue(
                token.at,
                format!("Syntax error: extraneous input '{}' expecting {expected}", token.text),
            );
            self.next();
            return Ok(self.next().at);
        }
        if punct == ":" && starts_expression(&token) {
            self.issue(token.at, format!("Syntax error: missing ':' at '{}'", token.text));
            return Ok(token.at);
        }
        self.unexpected(expected)
    }

    /// Reports whether the token behind the next one is one of these.
    pub(super) fn follows(&self, puncts: &[&str]) -> bool {
        let behind = self.tokens.get(self.at + 1).map(|token| &token.kind);
        matches!(behind, Some(TokenKind::Punct(p)) if puncts.contains(p))
    }

    /// Expects the token that closes a call, parentheses or an index. At the end of the text ANTLR assumes it, because an
    /// expression may end there.
    pub(super) fn close(&mut self, punct: &str) -> Parsed<usize> {
        let token = self.peek().clone();
        if token.kind != TokenKind::End {
            return self.expect(punct);
        }
        self.issue(token.at, format!("Syntax error: missing '{punct}' at '<EOF>'"));
        Ok(token.at)
    }

    /// Refuses the end where one of these tokens has to follow.
    pub(super) fn not_the_end(&mut self, expected: &str) -> Parsed<()> {
        if self.peek().kind == TokenKind::End { self.unexpected(expected) } else { Ok(()) }
    }

    /// Consumes the comma after an element, or the token that closes the literal. Reports whether the literal is closed.
    pub(super) fn closes(&mut self, punct: &str) -> Parsed<bool> {
        let expected = format!("{{'{punct}', ','}}");
        let extra = self.peek().clone();
        if !self.is(",") && !self.is(punct) && self.follows(&[punct, ","]) {
            self.issue(
                extra.at,
                format!("Syntax error: extraneous input '{}' expecting {expected}", extra.text),
            );
            self.next();
        }
        if self.eat(",").is_some() {
            // The token after the last comma may not begin an element.
            let token = self.peek();
            let goes_on = starts_expression(token)
                || matches!(token.kind, TokenKind::End | TokenKind::Quoted(_) | TokenKind::Punct("?"));
            return if goes_on { Ok(false) } else { self.expect(punct).map(|_| true) };
        }
        match self.eat(punct) {
            Some(_) => Ok(true),
            None => self.unexpected(&expected),
        }
    }

    /// Reports a token after the expression.
    pub(super) fn end(&mut self) {
        let rest = self.peek().clone();
        if rest.kind == TokenKind::End || self.too_deep {
            return;
        }
        let alone = self.tokens.get(self.at + 1).is_some_and(|t| t.kind == TokenKind::End);
        let what = if alone { "extraneous" } else { "mismatched" };
        self.issue(rest.at, format!("Syntax error: {what} input '{}' expecting <EOF>", rest.text));
    }

    /// Skips and reports a token before one that starts an expression, as ANTLR does.
    pub(super) fn skip_extraneous(&mut self) -> bool {
        let token = self.peek().clone();
        let starts = |t: &Token| {
            matches!(t.kind, TokenKind::Ident(_) | TokenKind::Literal(_) | TokenKind::Punct("(" | "[" | "{"))
        };
        let skip = token.kind != TokenKind::End && self.tokens.get(self.at + 1).is_some_and(starts);
        if skip {
            self.issue(
                token.at,
                format!("Syntax error: extraneous input '{}' expecting {STARTS}", token.text),
            );
            self.next();
        }
        skip
    }

    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let token = self.peek().clone();
        let message = format!("Syntax error: mismatched input '{}' expecting {expected}", token.text);
        self.issue(token.at, message);
        Err(Fault)
    }
}
