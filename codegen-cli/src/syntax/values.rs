//! Expressions whose value may be known without running the program.

use super::PathExpr;
use super::code;
use super::kube::Predicate;
use crate::source::Loc;

/// The greatest length of a composed text, in bytes. A few lines of source could request any length.
pub(crate) const TEXT_LIMIT: usize = 1 << 20;

/// A constant expression in source form.
#[derive(Clone, Debug)]
pub struct ValueExpr {
    /// Its form.
    pub kind: ValueKind,
    /// Its location.
    pub loc: Loc,
}

impl ValueExpr {
    /// Whether the whole expression was read: nothing in it can change a variable unseen.
    pub(crate) fn is_read(&self) -> bool {
        let all = |exprs: &[ValueExpr]| exprs.iter().all(Self::is_read);
        match &self.kind {
            ValueKind::Unknown => false,
            ValueKind::Not(inner)
            | ValueKind::Neg(inner)
            | ValueKind::Cast(inner, _)
            | ValueKind::Field(inner, _)
            | ValueKind::Converted(_, inner) => inner.is_read(),
            ValueKind::Binary(_, left, right) | ValueKind::Test(_, left, right) => {
                left.is_read() && right.is_read()
            }
            ValueKind::List(items)
            | ValueKind::Tuple(items)
            | ValueKind::Call(_, items)
            | ValueKind::Format(_, items) => all(items),
            ValueKind::Struct(_, fields, rest) => {
                fields.iter().all(|(_, value)| value.is_read())
                    && rest.as_ref().is_none_or(|rest| rest.is_read())
            }
            ValueKind::Choice(subject, arms) => {
                let is_read = |(patterns, result): &(Vec<Self>, Self)| all(patterns) && result.is_read();
                subject.is_read() && arms.iter().all(is_read)
            }
            ValueKind::Block(variables, result) => {
                variables.iter().all(|(_, value)| value.is_read()) && result.is_read()
            }
            _ => true,
        }
    }
}

/// A constant expression.
#[derive(Clone, Debug)]
pub enum ValueKind {
    /// `5`
    Int(i128),
    /// `5.5`
    Float(f64),
    /// `true`
    Bool(bool),
    /// `"a"`, `'a'`
    Text(String),
    /// `-a`
    Neg(Box<ValueExpr>),
    /// `a + b`
    Binary(Operator, Box<ValueExpr>, Box<ValueExpr>),
    /// `a < b`, `a && b`
    Test(Test, Box<ValueExpr>, Box<ValueExpr>),
    /// `match a { b | c => d, _ => e }`: the value, and the results with their patterns; without patterns,
    /// any value matches. `if` is a choice for `true`.
    Choice(Box<ValueExpr>, Vec<(Vec<ValueExpr>, ValueExpr)>),
    /// `a::B`
    Path(PathExpr),
    /// `[a, b]`, `vec![a, b]`
    List(Vec<ValueExpr>),
    /// `(a, b)`
    Tuple(Vec<ValueExpr>),
    /// `a::f(b)`
    Call(PathExpr, Vec<ValueExpr>),
    /// `A { b: c }`, `A { b: c, ..rest }`
    Struct(PathExpr, Vec<(String, ValueExpr)>, Option<Box<ValueExpr>>),
    /// `!a`
    Not(Box<ValueExpr>),
    /// `a as b`
    Cast(Box<ValueExpr>, String),
    /// `a.into()`, `a.to_string()` and similar.
    Converted(Conversion, Box<ValueExpr>),
    /// `format!("a{}b", c)`: the texts between the values, and the values.
    Format(Vec<String>, Vec<ValueExpr>),
    /// `a.b`
    Field(Box<ValueExpr>, String),
    /// `env::var("..").unwrap_or(a)` and similar: the value without that variable; nothing is `None`.
    Environment(Option<Box<ValueExpr>>),
    /// `let a = b; c`
    Block(Vec<(String, ValueExpr)>, Box<ValueExpr>),
    /// `a.push(b);`, `a.b = c;` and similar: the value before, and its changes in order.
    Changed(Box<ValueExpr>, Vec<Change>),
    /// `json!(..)`
    Json(Box<code::Expr>),
    /// A function, with the names of its parameters.
    Function(Vec<String>, Box<ValueExpr>),
    /// A function that makes or changes a schema.
    SchemaFunction(Box<code::Function>),
    /// The body of a function that decides whether to skip a field.
    Predicate(Box<Predicate>),
    /// Any other expression, whose value is unknown.
    Unknown,
}

/// A change of a variable.
#[derive(Clone, Debug)]
pub enum Change {
    /// `a.push(b);`
    Push(ValueExpr),
    /// `set.insert(b);`, `map.insert(b, c);`, `list.insert(b, c);`
    Insert(Vec<ValueExpr>),
    /// `a.extend(b);`
    Extend(ValueExpr),
    /// `a.b = c;`
    Field(String, ValueExpr),
    /// `if let Some(b) = &mut a { .. }`: changes of the value in an option, if there is one.
    Content(Vec<Change>),
}

/// A method that converts a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// The same value: `clone`, `to_owned`, `unwrap`, `collect`.
    Same,
    /// `into`: the same for texts and numbers; for other types, the implementation decides.
    Into,
    /// `to_string`: the output of `Display`.
    ToString,
}

/// An operator of constant expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the operators")]
pub enum Operator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Pow,
    Min,
    Max,
}

/// An operator with a boolean result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the operators")]
pub enum Test {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

impl Operator {
    /// The result for integers, if there is one.
    pub fn apply(self, a: i128, b: i128) -> Option<i128> {
        match self {
            Self::Add => a.checked_add(b),
            Self::Sub => a.checked_sub(b),
            Self::Mul => a.checked_mul(b),
            Self::Div => a.checked_div(b),
            Self::Rem => a.checked_rem(b),
            Self::ShiftLeft => a.checked_mul(2_i128.checked_pow(u32::try_from(b).ok()?)?),
            Self::ShiftRight => a.checked_shr(u32::try_from(b).ok()?),
            Self::BitAnd => Some(a & b),
            Self::BitOr => Some(a | b),
            Self::BitXor => Some(a ^ b),
            Self::Pow => a.checked_pow(u32::try_from(b).ok()?),
            Self::Min => Some(a.min(b)),
            Self::Max => Some(a.max(b)),
        }
    }
}

/// Whether the integer type with this name can store the value.
pub(crate) fn fits(value: i128, name: &str) -> bool {
    macro_rules! fits {
        ($($int:ident),*) => {
            match name {
                $(stringify!($int) => $int::try_from(value).is_ok(),)*
                _ => false,
            }
        };
    }
    fits!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize)
}
