//! The parser: precedence climbing. Nodes have cel-go's positions.

mod aggregates;
mod recovery;

use super::ast::{Ast, Expr, Kind, Literal, NodeId};
use super::issue::Issue;
use super::lexer::{Token, TokenKind, tokens};
use super::macros;
use recovery::{ARGUMENTS, INDEX, STARTS, starts_expression};

/// Longer texts are refused. Source: cel-go's default limit of code points.
const MAX_SIZE: usize = 100_000;
/// Limits of nesting in the text and of the tree's depth, since later stages recurse.
const MAX_NESTING: usize = 80;
const MAX_DEPTH: usize = 250;

const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Parses an expression and expands its macros.
pub(super) fn parse(source: &str) -> Result<Ast, Vec<Issue>> {
    parse_with(source, true)
}

/// Parses an expression in which the names of macros are those of functions.
pub(super) fn parse_without_macros(source: &str) -> Result<Ast, Vec<Issue>> {
    parse_with(source, false)
}

fn parse_with(source: &str, macros: bool) -> Result<Ast, Vec<Issue>> {
    let size = source.chars().count();
    if size > MAX_SIZE {
        let message = format!("expression code point size exceeds limit: size: {size}, limit {MAX_SIZE}");
        return Err(vec![Issue { position: 0, message }]);
    }
    let (tokens, issues) = tokens(source);
    let mut parser = Parser {
        tokens,
        macros,
        at: 0,
        positions: vec![0],
        issues,
        nesting: 0,
        depths: vec![1],
        too_deep: false,
    };
    let root = parser.expr();
    let root = match root {
        Ok(root) => {
            parser.end();
            root
        }
        Err(Fault) => return Err(parser.issues),
    };
    match parser.issues.is_empty() {
        true => Ok(Ast { root, positions: parser.positions }),
        false => Err(parser.issues),
    }
}

/// An issue was recorded; parsing cannot go on.
#[derive(Debug)]
pub(super) struct Fault;

type Parsed<T> = Result<T, Fault>;

pub(super) struct Parser {
    tokens: Vec<Token>,
    /// Whether macros are expanded.
    macros: bool,
    at: usize,
    positions: Vec<usize>,
    issues: Vec<Issue>,
    nesting: usize,
    /// The depth of each node.
    depths: Vec<usize>,
    too_deep: bool,
}

impl Parser {
    /// Makes a node. Cuts off and reports trees beyond the depth limit.
    pub(super) fn node(&mut self, position: usize, kind: Kind) -> Expr {
        let id: NodeId = self.positions.len();
        let mut expr = Expr { id, kind };
        let mut depth = 1 + expr.children().iter().map(|c| self.depth_of(c)).max().unwrap_or(0);
        if depth > MAX_DEPTH {
            expr.kind = Kind::Literal(Literal::Null);
            depth = 1;
            if !self.too_deep {
                self.too_deep = true;
                self.issue(position, format!("expression recursion limit exceeded: {MAX_DEPTH}"));
            }
        }
        self.positions.push(position);
        self.depths.push(depth);
        expr
    }

    fn depth_of(&self, expr: &Expr) -> usize {
        self.depths.get(expr.id).copied().unwrap_or(1)
    }

    pub(super) fn position(&self, expr: &Expr) -> usize {
        self.positions.get(expr.id).copied().unwrap_or(0)
    }

    pub(super) fn issue(&mut self, position: usize, message: impl Into<String>) {
        self.issues.push(Issue { position, message: message.into() });
    }

    fn peek(&self) -> &Token {
        // The last token is the end and is never passed.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is(&self, punct: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Punct(p) if *p == punct)
    }

    fn eat(&mut self, punct: &str) -> Option<usize> {
        let at = self.peek().at;
        self.is(punct).then(|| {
            self.next();
            at
        })
    }

    fn expect(&mut self, punct: &str) -> Parsed<usize> {
        match self.eat(punct) {
            Some(at) => Ok(at),
            None => self.recover(punct, &format!("'{punct}'")),
        }
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let at = self.peek().at;
            self.issue(at, format!("expression recursion limit exceeded: {MAX_DEPTH}"));
            return Err(Fault);
        }
        let expr = self.ternary();
        self.nesting -= 1;
        expr
    }

    fn ternary(&mut self) -> Parsed<Expr> {
        let condition = self.logical("||", "_||_")?;
        let Some(at) = self.eat("?") else { return Ok(condition) };
        let yes = self.logical("||", "_||_")?;
        self.expect(":")?;
        let no = self.expr()?;
        Ok(self.call(at, "_?_:_", vec![condition, yes, no]))
    }

    /// Chains of `&&` and `||` become balanced trees, as in cel-go.
    fn logical(&mut self, punct: &str, function: &str) -> Parsed<Expr> {
        let mut terms = vec![self.logical_term(punct)?];
        let mut places = Vec::new();
        while let Some(at) = self.eat(punct) {
            places.push(at);
            terms.push(self.logical_term(punct)?);
        }
        let mut terms: Vec<Option<Expr>> = terms.into_iter().map(Some).collect();
        let last = terms.len() - 1;
        Ok(self.balanced(function, &mut terms, &places, 0, last))
    }

    fn logical_term(&mut self, punct: &str) -> Parsed<Expr> {
        if punct == "||" { self.logical("&&", "_&&_") } else { self.binary(0) }
    }

    fn balanced(
        &mut self,
        function: &str,
        terms: &mut [Option<Expr>],
        places: &[usize],
        low: usize,
        high: usize,
    ) -> Expr {
        if low == high {
            let missing = Expr { id: 0, kind: Kind::Literal(Literal::Null) };
            return terms[low].take().unwrap_or(missing);
        }
        // The operator in the middle becomes the root.
        let middle = (low + high - 1).div_ceil(2);
        let left = self.balanced(function, terms, places, low, middle);
        let right = self.balanced(function, terms, places, middle + 1, high);
        self.call(places[middle], function, vec![left, right])
    }

    /// Level 0: relations; 1: sums; 2: products.
    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        const LEVELS: [&[(&str, &str)]; 3] = [
            &[
                ("<", "_<_"),
                ("<=", "_<=_"),
                (">", "_>_"),
                (">=", "_>=_"),
                ("==", "_==_"),
                ("!=", "_!=_"),
                ("in", "@in"),
            ],
            &[("+", "_+_"), ("-", "_-_")],
            &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some((punct, function)) = operators.iter().find(|(p, _)| self.is(p)) {
            let Some(at) = self.eat(punct) else { break };
            let right = self.binary(level + 1)?;
            left = self.call(at, function, vec![left, right]);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        for (punct, function) in [("!", "!_"), ("-", "-_")] {
            let Some(first) = self.eat(punct) else { continue };
            let mut count = 1;
            let mut last = first;
            if punct == "-"
                && let Some(literal) = self.negative_literal(first)
            {
                return self.member(literal);
            }
            while let Some(at) = self.eat(punct) {
                count += 1;
                last = at;
            }
            let token = self.peek().clone();
            if !starts_expression(&token) {
                let message = match (punct, token.kind) {
                    ("!", _) => {
                        format!("Syntax error: extraneous input '{}' expecting {STARTS}", token.text)
                    }
                    (_, kind) => {
                        let text = if kind == TokenKind::End { "" } else { &token.text };
                        let space = " ".repeat(token.at.saturating_sub(last + 1));
                        format!("Syntax error: no viable alternative at input '-{space}{text}'")
                    }
                };
                self.issue(token.at, message);
                return Err(Fault);
            }
            let operand = self.primary_and_member()?;
            return Ok(if count % 2 == 0 { operand } else { self.call(first, function, vec![operand]) });
        }
        self.primary_and_member()
    }

    /// `-1` is a literal.
    fn negative_literal(&mut self, position: usize) -> Option<Expr> {
        let literal = match self.peek().kind {
            TokenKind::Literal(Literal::Int(i)) => Literal::Int(-i),
            TokenKind::MinInt => Literal::Int(i64::MIN),
            TokenKind::Literal(Literal::Double(f)) => Literal::Double(-f),
            _ => return None,
        };
        self.next();
        Some(self.node(position, Kind::Literal(literal)))
    }

    fn primary_and_member(&mut self) -> Parsed<Expr> {
        let primary = self.primary()?;
        self.member(primary)
    }

    fn member(&mut self, mut expr: Expr) -> Parsed<Expr> {
        loop {
            if let Some(at) = self.eat(".") {
                let optional = self.eat("?").is_some();
                let (name, quoted) = self.field_name()?;
                if let (false, false, Some(open)) = (optional, quoted, self.eat("(")) {
                    let args = self.list(")")?;
                    expr = self.member_call(open, expr, &name, args)?;
                } else if optional {
                    let field = self.node(at, Kind::Literal(Literal::String(name.as_str().into())));
                    expr = self.call(at, "_?._", vec![expr, field]);
                } else {
                    expr = self.node(at, Kind::Select { operand: Box::new(expr), field: name, test: false });
                }
            } else if let Some(at) = self.eat("[") {
                let optional = self.eat("?").is_some();
                if !optional && matches!(self.peek().kind, TokenKind::End | TokenKind::Punct("]")) {
                    return self.unexpected(INDEX);
                }
                let index = self.expr()?;
                self.close("]")?;
                let function = if optional { "_[?_]" } else { "_[_]" };
                expr = self.call(at, function, vec![expr, index]);
            } else {
                return Ok(expr);
            }
        }
    }

    fn field_name(&mut self) -> Parsed<(String, bool)> {
        match self.peek().kind.clone() {
            TokenKind::Ident(name) => {
                self.next();
                Ok((name, false))
            }
            // The server does not enable names in backticks.
            TokenKind::Quoted(name) => {
                let at = self.next().at;
                self.issue(at, "unsupported syntax: '`'");
                Ok((name, true))
            }
            // `in` is an operator, not an identifier.
            TokenKind::Punct("in") => self.unexpected("IDENTIFIER"),
            _ => {
                let token = self.peek().clone();
                let message = format!(
                    "Syntax error: no viable alternative at input '.{}'",
                    if token.kind == TokenKind::End { "" } else { &token.text }
                );
                self.issue(token.at, message);
                Err(Fault)
            }
        }
    }

    fn list(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        if self.eat(close).is_some() {
            return Ok(items);
        }
        if close == ")" && self.peek().kind == TokenKind::End {
            return self.unexpected(ARGUMENTS);
        }
        let extra = self.peek().clone();
        let has_argument = self.tokens.get(self.at + 1).is_some_and(starts_expression);
        if close == ")" && !starts_expression(&extra) && (has_argument || self.follows(&[close])) {
            self.issue(
                extra.at,
                format!("Syntax error: extraneous input '{}' expecting {ARGUMENTS}", extra.text),
            );
            self.next();
            if self.eat(close).is_some() {
                return Ok(items);
            }
        }
        loop {
            items.push(self.expr()?);
            if self.eat(",").is_none() {
                self.close(close)?;
                return Ok(items);
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek().clone();
        match token.kind {
            TokenKind::Literal(literal) => {
                self.next();
                Ok(self.node(token.at, Kind::Literal(literal)))
            }
            TokenKind::MinInt => {
                self.issue(token.at, "invalid int literal");
                Err(Fault)
            }
            TokenKind::Ident(name) => {
                self.next();
                self.ident_or_call(token.at, name, false)
            }
            TokenKind::Punct(".") => {
                self.next();
                match self.next().kind {
                    TokenKind::Ident(name) => self.ident_or_call(token.at, name, true),
                    _ => self.unexpected("IDENTIFIER"),
                }
            }
            TokenKind::Punct("(") => {
                self.next();
                let inner = self.expr()?;
                self.close(")")?;
                Ok(inner)
            }
            TokenKind::Punct("[") => self.list_literal(token.at),
            TokenKind::Punct("{") => self.map_literal(token.at),
            // At most one token is skipped.
            _ if self.skip_extraneous() => self.primary(),
            _ => self.unexpected(STARTS),
        }
    }

    fn ident_or_call(&mut self, at: usize, name: String, leading_dot: bool) -> Parsed<Expr> {
        if RESERVED.contains(&name.as_str()) {
            self.issue(at, format!("reserved identifier: {name}"));
        }
        if let Some(open) = self.eat("(") {
            let args = self.list(")")?;
            if !self.macros {
                let dot = if leading_dot { "." } else { "" };
                return Ok(self.call(open, &format!("{dot}{name}"), args));
            }
            return match macros::global(self, open, &name, args) {
                macros::Expansion::Done(expr) => Ok(expr),
                macros::Expansion::None(args) => Ok(self.call(open, &name, args)),
                macros::Expansion::Fault => Err(Fault),
            };
        }
        if let Some(name) = self.message_name(&name) {
            return self.struct_literal(name);
        }
        let name = if leading_dot { format!(".{name}") } else { name };
        Ok(self.node(at, Kind::Ident(name)))
    }

    fn member_call(&mut self, open: usize, target: Expr, name: &str, args: Vec<Expr>) -> Parsed<Expr> {
        let expansion = match self.macros {
            true => macros::member(self, open, target, name, args),
            false => macros::MemberExpansion::None(target, args),
        };
        match expansion {
            macros::MemberExpansion::Done(expr) => Ok(expr),
            macros::MemberExpansion::Fault => Err(Fault),
            macros::MemberExpansion::None(target, args) => {
                let function = name.to_owned();
                Ok(self.node(open, Kind::Call { target: Some(Box::new(target)), function, args }))
            }
        }
    }

    pub(super) fn call(&mut self, position: usize, function: &str, args: Vec<Expr>) -> Expr {
        self.node(position, Kind::Call { target: None, function: function.to_owned(), args })
    }
}
