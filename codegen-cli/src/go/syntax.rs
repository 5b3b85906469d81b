//! The declarations of a Go file that `parse` keeps, with their comments, as plain values.
//!
//! Places are byte ranges of the file.

use std::ops::Range;

/// A range of bytes of a file.
pub(crate) type Place = Range<usize>;

/// An identifier or text with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The text.
    pub(crate) text: String,
    /// Its position.
    pub(crate) place: Place,
}

/// An import.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// The bound name, `.` or `_`; `None`: the name of the package.
    pub(crate) name: Option<String>,
    /// The path.
    pub(crate) path: Word,
}

/// The comments of a declaration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comments {
    /// The description by controller-gen's rules, possibly empty.
    pub(crate) description: String,
    /// The markers, from the `+` to the end of the line.
    pub(crate) markers: Vec<Word>,
}

/// A type declaration.
#[derive(Clone, Debug)]
pub(crate) struct TypeDecl {
    /// Its name.
    pub(crate) name: Word,
    /// Whether it is an alias: `type A = B`.
    pub(crate) is_alias: bool,
    /// Whether it has type parameters.
    pub(crate) is_generic: bool,
    /// Its comments.
    pub(crate) comments: Comments,
    /// Its form.
    pub(crate) ty: Type,
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its name; `None` for an embedded field.
    pub(crate) name: Option<Word>,
    /// Its position.
    pub(crate) place: Place,
    /// Its type.
    pub(crate) ty: Type,
    /// Its `json` tag, if it has one.
    pub(crate) json: Option<String>,
    /// Its comments.
    pub(crate) comments: Comments,
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    /// Its form.
    pub(crate) kind: Kind,
    /// Its position.
    pub(crate) place: Place,
}

/// Kinds of types.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// `Name`
    Name(String),
    /// `package.Name`
    Qualified(String, String),
    /// `*T`
    Pointer(Box<Type>),
    /// `[]T`
    Slice(Box<Type>),
    /// `[n]T`
    Array(Box<Type>),
    /// `map[K]V`
    Map(Box<Type>, Box<Type>),
    /// `struct { .. }`
    Struct(Vec<Field>),
    /// `T[U]`
    Instance(Box<Type>),
    /// A type without a schema, in words.
    Other(&'static str),
}

/// A method.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    /// The type of its receiver.
    pub(crate) receiver: String,
    /// Its name.
    pub(crate) name: Word,
}

/// A string constant.
#[derive(Clone, Debug)]
pub(crate) struct Constant {
    /// Its name.
    pub(crate) name: Word,
    /// Its type, if it has one.
    pub(crate) ty: Option<String>,
    /// The parts that form its value.
    pub(crate) value: Vec<Part>,
    /// Whether the value is a bare literal.
    pub(crate) is_literal: bool,
    /// Its comments.
    pub(crate) description: String,
}

impl Constant {
    /// Its value, if it is a single literal.
    pub(crate) fn literal(&self) -> Option<&str> {
        match &self.value[..] {
            [Part::Text(text)] if self.is_literal => Some(text),
            _ => None,
        }
    }
}

/// A part of a constant's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// `"a"`
    Text(String),
    /// Another constant of the package.
    Name(String),
}
