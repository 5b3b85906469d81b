//! Syntax errors in the words of Go's `regexp/syntax`.

/// The fault of an expression. Its text is the code's description in `regexp/syntax`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// A class, range or name of a class is invalid.
    InvalidCharRange,
    /// `\` precedes a character without a special meaning.
    InvalidEscape,
    /// The name of a group is malformed.
    InvalidNamedCapture,
    /// `(?` begins a construct that Go does not support, such as a look-ahead.
    InvalidPerlOp,
    /// A repetition of a repetition, such as `a**`.
    InvalidRepeatOp,
    /// A repetition, or the product of nested ones, is over 1,000, or its bounds are in the wrong order.
    InvalidRepeatSize,
    /// A class has no closing bracket.
    MissingBracket,
    /// A group is not closed.
    MissingParen,
    /// A repetition at the beginning.
    MissingRepeatArgument,
    /// The expression ends with `\`.
    TrailingBackslash,
    /// `)` closes no group.
    UnexpectedParen,
    /// The expression is more than 1,000 levels deep.
    NestingDepth,
    /// The expression would compile to more than Go's limit of instructions.
    Large,
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::InvalidCharRange => "invalid character class range",
            Self::InvalidEscape => "invalid escape sequence",
            Self::InvalidNamedCapture => "invalid named capture",
            Self::InvalidPerlOp => "invalid or unsupported Perl syntax",
            Self::InvalidRepeatOp => "invalid nested repetition operator",
            Self::InvalidRepeatSize => "invalid repeat count",
            Self::MissingBracket => "missing closing ]",
            Self::MissingParen => "missing closing )",
            Self::MissingRepeatArgument => "missing argument to repetition operator",
            Self::TrailingBackslash => "trailing backslash at end of expression",
            Self::UnexpectedParen => "unexpected )",
            Self::NestingDepth => "expression nests too deeply",
            Self::Large => "expression too large",
        })
    }
}

/// A syntax error: its code and the part of the expression that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The fault.
    pub code: ErrorCode,
    /// The faulty part, as Go reports it.
    pub expression: String,
}

impl Error {
    pub(crate) fn new(code: ErrorCode, expression: impl Into<String>) -> Self {
        Self { code, expression: expression.into() }
    }
}

/// Formats the error as Go's `regexp.Compile` does: ``error parsing regexp: missing closing ): `(a` ``.
impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error parsing regexp: {}: `{}`", self.code, self.expression)
    }
}

impl std::error::Error for Error {}

/// The part of `text` before `rest`, which is its end: errors show the part that was read.
pub(crate) fn before<'a>(text: &'a str, rest: &str) -> &'a str {
    &text[..text.len() - rest.len()]
}
