//! The syntax tree of an expression, with macros expanded.

use std::sync::Arc;

/// The number of a node, which positions and types refer to.
pub(super) type NodeId = usize;

/// A literal value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expr {
    pub(super) id: NodeId,
    pub(super) kind: Kind,
}

/// An entry of a map literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// A field of a message literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldInit {
    /// The node of the field itself, which errors point at.
    pub(super) id: NodeId,
    pub(super) name: String,
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Literal(Literal),
    Ident(String),
    /// `operand.field`; with `test` it is `has(operand.field)`.
    Select {
        operand: Box<Expr>,
        field: String,
        test: bool,
    },
    Call {
        target: Option<Box<Expr>>,
        function: String,
        args: Vec<Expr>,
    },
    /// `optional` lists the elements that are omitted when they are absent optionals.
    List {
        elements: Vec<Expr>,
        optional: Vec<usize>,
    },
    Map(Vec<Entry>),
    Struct {
        name: String,
        fields: Vec<FieldInit>,
    },
    Comprehension(Box<Comprehension>),
}

/// A fold over a list or map. All macros expand to folds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comprehension {
    pub(super) range: Expr,
    pub(super) var: String,
    pub(super) var2: Option<String>,
    pub(super) accu_var: String,
    pub(super) accu_init: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

/// The name of the accumulator of macros. It is no identifier, so no expression can use it.
pub(super) const ACCUMULATOR: &str = "@result";

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ast {
    pub(super) root: Expr,
    /// The place of each node in the text, in characters.
    pub(super) positions: Vec<usize>,
}

impl Expr {
    /// The children of a node.
    pub(super) fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Literal(_) | Kind::Ident(_) => Vec::new(),
            Kind::Select { operand, .. } => vec![operand],
            Kind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).collect(),
            Kind::List { elements, .. } => elements.iter().collect(),
            Kind::Map(entries) => entries.iter().flat_map(|e| [&e.key, &e.value]).collect(),
            Kind::Struct { fields, .. } => fields.iter().map(|field| &field.value).collect(),
            Kind::Comprehension(c) => {
                vec![&c.range, &c.accu_init, &c.condition, &c.step, &c.result]
            }
        }
    }
}
