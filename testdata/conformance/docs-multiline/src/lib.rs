//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Article is a long
/// read that spans
/// three lines.
///
/// It also has a second paragraph.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "docs.conformance.dev", version = "v1")]
pub struct Article {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: ArticleSpec,
}

/// ArticleSpec holds text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ArticleSpec {
    /// Body is text with a list:
    /// - first
    /// - second, with more
    ///   words on a second line
    ///   * nested star
    /// 1. numbered
    ///
    /// And an end.
    pub body: String,
    /// Todo has a note.
    /// TODO(me): drop this line
    /// After the note.
    #[serde(default)]
    pub todo: String,
    /// TODO: everything here is a note
    #[serde(default)]
    pub only_todo: String,
    /// Visible part.
    /// ---
    /// Hidden part.
    /// Still hidden.
    #[serde(default)]
    pub dashes: String,
    /// Fenced shows code:
    /// ```yaml
    /// key: value
    /// ---
    /// TODO: kept
    /// ```
    /// After the fence.
    /// --- gone
    #[serde(default)]
    pub fenced: String,
    /// Tilde:
    /// ~~~
    /// TODO stays
    /// ~~~
    #[serde(default)]
    pub tilde: String,
    ///
    /// Leading and trailing blank lines.
    ///
    ///
    /// Two blanks above.
    ///
    #[serde(default)]
    pub blank: String,
    /// A block comment.
    #[serde(default)]
    pub star: String,
    /// A long block comment
    /// with indentation.
    ///
    /// Second paragraph.
    #[serde(default)]
    pub star_long: String,
    ///No space after slashes.
    #[serde(default)]
    pub tight: String,
    ///   Three spaces.
    ///	A tab.
    #[serde(default)]
    pub indent: String,
    /// Marker in the middle.
    /// Text after the marker.
    #[serde(default)]
    #[schema(optional)]
    pub middle: String,
    /// Trailing spaces here:
    /// next line.
    #[serde(default)]
    pub spaces: String,
    #[serde(default)]
    pub no_doc: String,
    #[serde(default)]
    pub loose: String,
    /// nolint:all
    #[serde(default)]
    pub directive: String,
    /// Text after a directive.
    #[serde(default)]
    pub lint: String,
}
