//! Code that makes or changes schemas, in source form: functions that return one, and JSON in attributes.

use std::sync::Arc;

use super::{PathExpr, TypeExpr, ValueExpr};
use crate::source::Loc;

/// The crate with known functions and methods.
pub(crate) const SCHEMARS: &str = "schemars";

/// The types of schemas.
pub(crate) const SCHEMAS: &[&str] = &["Schema", "SchemaObject", "RootSchema"];

/// A function that makes or changes a schema.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its type parameters.
    pub generics: Vec<String>,
    /// Its parameters, the receiver among them.
    pub params: Vec<Pattern>,
    /// Its body.
    pub body: Block,
}

/// Statements, and the expression at their end.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Block {
    pub steps: Vec<Step>,
    pub result: Option<Box<Expr>>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Step {
    /// `let pattern = value else { .. };`
    Let(Pattern, Expr, Option<Block>),
    /// `expression;`
    Expr(Expr),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its form.
    pub kind: Kind,
    /// Its location.
    pub loc: Loc,
    /// The same as a constant expression, if that is possible.
    pub constant: Option<Box<ValueExpr>>,
}

impl Expr {
    /// An expression that is not constant.
    pub(crate) fn new(kind: Kind, loc: Loc) -> Self {
        Self { kind, loc, constant: None }
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A literal, or an expression of constants.
    Value(ValueExpr),
    /// JSON in a text: `from_str("..")`.
    Text(serde_json::Value),
    /// `a::B`
    Path(PathExpr),
    /// `a.b`
    Field(Box<Expr>, String),
    /// `a.f(b)`
    Method(Box<Expr>, String, Vec<Expr>),
    /// `a::f(b)`
    Call(PathExpr, Vec<Expr>),
    /// The schema of a type: `generator.subschema_for::<T>()`, `T::json_schema(generator)`.
    Schema(TypeExpr),
    /// The same with the type's name as the title: `generator.into_root_schema_for::<T>()`.
    RootSchema(TypeExpr),
    /// `A { b: c, ..rest }`: a struct of schemars, whose fields are keywords.
    Struct(PathExpr, Vec<(String, Expr)>, Option<Box<Expr>>),
    /// `[a, b]`, `vec![a, b]`
    List(Vec<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `{ "a": b }` in `json!`
    Object(Vec<(ValueExpr, Expr)>),
    /// `null` in `json!`
    Null,
    /// `format!("a{}b", c)`
    Format(Vec<String>, Vec<Expr>),
    /// `match a { pattern => b }`, `if let pattern = a { b } else { c }`, and `if` with `true` as the pattern.
    Match(Box<Expr>, Vec<(Pattern, Expr)>),
    /// `for pattern in a { .. }`
    For(Pattern, Box<Expr>, Block),
    /// `{ .. }`
    Block(Block),
    /// `|a| b`
    Closure(Arc<(Vec<Pattern>, Expr)>),
    /// `a?`
    Try(Box<Expr>),
    /// `a = b`
    Assign(Box<Expr>, Box<Expr>),
    /// `return a`
    Return(Option<Box<Expr>>),
    /// Anything else.
    Unknown,
}

/// A pattern.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `_`
    Any,
    /// `name`
    Name(String),
    /// `A::B(pattern)`, `None`
    Variant(String, Vec<Pattern>),
    /// `(a, b)`
    Tuple(Vec<Pattern>),
    /// `"a"`
    Value(ValueExpr),
    /// Anything else.
    Unknown,
}
