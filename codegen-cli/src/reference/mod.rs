//! Makes the content of reference documentation: pages, kinds, types and fields, in words, with their links.
//! The emitters decide its look.

mod given;
mod kinds;
mod kubernetes;
mod names;
mod pages;
mod sample;
mod text;
mod types;
mod words;

pub use pages::build;
pub(crate) use sample::sample;

/// The documentation of an API.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// A page for each version of a group, in the order of groups and of preference.
    pub pages: Vec<Page>,
}

/// A version of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Anchor, unique in the whole documentation; the prefix of all anchors on the page.
    pub id: String,
    /// `example.com/v1`, or `v1` for the core group.
    pub api_version: String,
    /// Name of a file for the page, without an extension.
    pub file: String,
    /// Its kinds, ordered by name.
    pub kinds: Vec<Kind>,
    /// The types that they use, ordered by name.
    pub types: Vec<Type>,
}

/// A version of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Short facts with their titles: scope, names, subresources.
    pub facts: Vec<(&'static str, Text)>,
    /// The versions of the kind.
    pub versions: Vec<VersionRow>,
    /// The columns that `kubectl get` prints.
    pub columns: Vec<Column>,
    /// A manifest.
    pub sample: Option<Sample>,
    /// The fields of an object.
    pub object: Type,
}

/// A version in the table of a kind's versions.
#[derive(Clone, Debug, PartialEq)]
pub struct VersionRow {
    /// Its name, with a link if it is on another page.
    pub name: Text,
    /// Whether the API server serves it.
    pub served: bool,
    /// Whether objects are stored in it.
    pub stored: bool,
    /// Deprecation, with the warning.
    pub deprecated: Option<Text>,
}

/// A printer column.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are those of CustomResourceColumnDefinition")]
pub struct Column {
    pub name: String,
    pub type_: String,
    pub json_path: String,
    pub description: String,
    /// Whether only `kubectl get -o wide` shows it.
    pub wide: bool,
}

/// A manifest of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The manifest.
    pub yaml: String,
    /// The reason for which an API server would refuse it; empty: it is valid.
    pub problem: String,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Anchor.
    pub id: String,
    /// Its name without modules, `BalancerSpec`.
    pub name: String,
    /// Its purpose.
    pub description: Vec<Block>,
    /// Whether the description marks it as deprecated.
    pub deprecated: bool,
    /// The form of its values; empty for an object with fields.
    pub form: Text,
    /// The fields of the object.
    pub fields: Vec<Field>,
    /// The values, or alternatives, of an enum.
    pub variants: Vec<Variant>,
    /// The checks.
    pub rules: Vec<Text>,
    /// The fields and types that use it.
    pub appears_in: Vec<Inline>,
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Anchor.
    pub id: String,
    /// Its name in JSON; `None`: the fields of its type are flattened into the enclosing object.
    pub name: Option<String>,
    /// Its type.
    pub ty: Text,
    /// Whether it is required.
    pub required: bool,
    /// Its default, as JSON.
    pub default: Option<String>,
    /// Its purpose.
    pub description: Vec<Block>,
    /// Whether the description marks it as deprecated.
    pub deprecated: bool,
    /// The checks.
    pub rules: Vec<Text>,
}

/// A value or alternative of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Anchor.
    pub id: String,
    /// Its name in JSON.
    pub name: String,
    /// Its content, if any.
    pub holds: Text,
    /// Its meaning.
    pub description: Vec<Block>,
    /// Whether the description marks it as deprecated.
    pub deprecated: bool,
}

/// A line of text.
pub type Text = Vec<Inline>;

/// A part of a line, as unescaped text of the user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inline {
    /// Plain text.
    Plain(String),
    /// A name, value or expression.
    Code(String),
    /// A label with a link.
    Link(String, Target),
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// An anchor of the same page.
    Here(String),
    /// An anchor of another page: its file and the anchor.
    Page(String, String),
    /// Another address, by `http` or `https`.
    Url(String),
}

/// A piece of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Text),
    /// A list with the content of its items.
    List {
        /// Whether its items are numbered.
        ordered: bool,
        /// The items.
        items: Vec<Vec<Block>>,
    },
    /// Preformatted lines.
    Code(String),
}

fn plain(text: impl Into<String>) -> Inline {
    Inline::Plain(text.into())
}

fn code(text: impl Into<String>) -> Inline {
    Inline::Code(text.into())
}
