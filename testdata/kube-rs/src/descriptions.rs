//! Words.

#![allow(clippy::empty_docs, clippy::tabs_in_doc_comments, reason = "what becomes of them is compared")]

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "OneLine")]
pub struct OneLineSpec {
    /// A field.
    pub a: i32,
    ///Without a space.
    pub b: i32,
    ///   With three spaces.   
    pub c: i32,
    ///
    pub empty: i32,
    ///  
    pub blank: i32,
    // No documentation.
    pub comment: i32,
    //// Nor this.
    pub four: i32,
    /** In a block. */
    pub block: i32,
    pub none: i32,
}

/// Several lines
/// that belong together.
///
/// A second paragraph,
/// of two lines.
///
///
/// After two empty lines.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "Paragraphs")]
pub struct ParagraphsSpec {
    /// First.
    ///
    /// Second.
    pub two: i32,
    ///
    /// After an empty line.
    ///
    pub padded: i32,
    /// Trailing spaces  
    /// break lines.
    pub broken: i32,
    /**
     * A block
     * with stars.
     *
     * Two paragraphs.
     */
    pub stars: i32,
    /**
    A block without stars.
      Indented.
    */
    pub bare_block: i32,
    /// One
    /// Two
    // In between.
    /// Three
    pub interrupted: i32,
}

/// # Heading
///
/// Words under it.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "Headings")]
pub struct HeadingsSpec {
    /// # A title alone
    pub alone: i32,
    /// ## Second level
    /// Words right below.
    pub second: i32,
    /// Words first.
    ///
    /// # Heading below
    ///
    /// More words.
    pub below: i32,
    /// #hashtag
    pub hashtag: i32,
    pub part: Titled,
    /// # Of the field
    ///
    /// And its words.
    pub overridden: Titled,
    /// Words without a title.
    pub half: Titled,
}

/// # Of the type
///
/// Words of the type.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Titled {
    pub value: i32,
}

/// Markdown: *emphasis*, **strong**, `code`, [a link](https://example.com), [`OneLineSpec`].
///
/// - one
/// - two
///   - nested
///
/// 1. first
/// 2. second
///
/// ```yaml
/// key: value
///   indented: true
/// ```
///
///     indented code
///
/// | a | b |
/// |---|---|
/// | 1 | 2 |
///
/// > A quote.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "Markdown")]
pub struct MarkdownSpec {
    /// `code first`
    pub code: i32,
    ///     indented code
    ///     in two lines
    pub indented: i32,
    ///   * a list
    ///     that goes on
    pub list: i32,
    ///	With a tab.
    ///		And two.
    pub tabs: i32,
}

/// Ünïcödé: 日本語, emoji 🦀, "quotes", 'apostrophes', back\slashes, {braces}, %percent, & < >.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "Characters")]
pub struct CharactersSpec {
    /// : starts with a colon
    pub colon: i32,
    /// - starts with a dash
    pub dash: i32,
    /// yes
    pub yes: i32,
    /// 42
    pub number: i32,
    /// null
    pub null: i32,
    /// # not: a comment
    pub hash: i32,
    /// trailing colon:
    pub trailing: i32,
    /// {{ template }} and $(VARIABLE) and ${VARIABLE}
    pub template: i32,
    /// \u{1F980} stays as it is
    pub escape: i32,
    /// a no-break space
    pub space: i32,
}

#[doc = "Words from an attribute."]
#[doc = " Another line."]
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "Attributes")]
pub struct AttributesSpec {
    #[doc = "One attribute."]
    pub one: i32,
    #[doc = "Line one.\nLine two.\n\nParagraph two."]
    pub escaped: i32,
    #[doc = r#"Raw "text" with \backslashes."#]
    pub raw: i32,
    /// A comment,
    #[doc = "and an attribute."]
    /// And a comment.
    pub mixed: i32,
    #[doc = ""]
    pub empty: i32,
    #[doc = concat!("Joined ", "of ", "parts ", 1)]
    pub concatenated: i32,
    #[schemars(description = "From schemars.")]
    /// Not this.
    pub overridden: i32,
    #[schemars(title = "A title", description = "With\nlines")]
    pub titled: i32,
    #[schemars(description = "")]
    /// Taken away.
    pub removed: i32,
    #[schemars(title = "Only a title")]
    /// And words.
    pub both: i32,
    #[schemars(description = CONSTANT)]
    pub constant: i32,
    #[schemars(description = "  spaces  ")]
    pub spaces: i32,
    #[schemars(description = concat!("a", "b"))]
    pub joined: i32,
}

pub const CONSTANT: &str = "From a constant.";

/// Who describes a field of a type with words.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "Precedence")]
pub struct PrecedenceSpec {
    pub of_the_type: Documented,
    /// Of the field.
    pub of_the_field: Documented,
    pub maybe: Option<Documented>,
    /// Of the field that may be absent.
    pub maybe_field: Option<Documented>,
    pub list: Vec<Documented>,
    /// Of the list.
    pub described_list: Vec<Documented>,
    pub boxed: Box<Documented>,
    pub newtype: DocumentedNewtype,
    pub bare_newtype: BareNewtype,
    pub choice: DocumentedChoice,
    pub maybe_choice: Option<DocumentedChoice>,
    /// Of the choice's field.
    pub described_choice: Option<DocumentedChoice>,
    pub level: DocumentedLevel,
    pub maybe_level: Option<DocumentedLevel>,
    /// Of the level's field.
    pub described_level: Option<DocumentedLevel>,
}

/// Of the type.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Documented {
    pub value: i32,
}

/// Of the newtype.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct DocumentedNewtype(
    /// Of its field.
    pub Documented,
);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct BareNewtype(
    /// Of its field alone.
    pub Documented,
);

/// Of the choice.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum DocumentedChoice {
    /// Of the variant.
    One(Documented),
    Two(
        /// Of the variant's field.
        Documented,
    ),
    Three(Documented),
    /// Of the variant with fields.
    Four {
        /// Of the field within.
        inner: Documented,
    },
}

/// Of the level.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub enum DocumentedLevel {
    /// Low.
    Low,
    /// High.
    High,
}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "Wordless")]
pub struct WordlessSpec {
    pub value: i32,
}

/// Not the words of the root.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "descriptions.example.com",
    version = "v1",
    kind = "RootWords",
    doc = "The root's own words.\n\nTwo paragraphs."
)]
pub struct RootWordsSpec {
    pub value: i32,
}

/// The root has none.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "descriptions.example.com", version = "v1", kind = "RootWithout", doc = "")]
pub struct RootWithoutSpec {
    pub value: i32,
}
