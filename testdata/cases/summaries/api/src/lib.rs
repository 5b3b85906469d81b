//! Documentation that Markdown would interpret.
#![allow(rustdoc::all, clippy::all, reason = "the documentation is odd on purpose")]

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// ```
/// not a test();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Fenced {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: FencedSpec,
}

/// What is wanted of a Fenced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct FencedSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// Has a <tag> & a &lt;reference&gt; in `Vec<u8>`.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Html {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: HtmlSpec,
}

/// What is wanted of a Html.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct HtmlSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// See [the docs] and <https://example.com>, or https://example.com/b?c=d#e.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Link {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: LinkSpec,
}

/// What is wanted of a Link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct LinkSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// - one
/// - two
///
/// 1. three
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct List {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: ListSpec,
}

/// What is wanted of a List.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct ListSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// Long is a kind with a summary of so many words that they do not fit on one line, or on two: it goes on, - with a dash - and 1. a number and # a hash, until nobody reads it any more.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Long {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: LongSpec,
}

/// What is wanted of a Long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct LongSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// "Quoted" \ with *stars*, _underscores_ and */ the end of a comment.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Quoted {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: QuotedSpec,
}

/// What is wanted of a Quoted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct QuotedSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

/// # Heading
///
/// And a paragraph.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Heading {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: HeadingSpec,
}

/// What is wanted of a Heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct HeadingSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

///      four and more spaces would be code
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Indented {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: IndentedSpec,
}

/// What is wanted of a Indented.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct IndentedSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}

#[allow(missing_docs, reason = "the case")]
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scope = "Cluster")]
#[genclient(non_namespaced)]
pub struct Undocumented {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: UndocumentedSpec,
}

/// What is wanted of a Undocumented.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct UndocumentedSpec {
    /// Its size.
    #[serde(default)]
    pub size: i32,
}
