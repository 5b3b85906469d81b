//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Novel has a first sentence. And a second one that is far too long to be kept here.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "docs.conformance.dev", version = "v1")]
pub struct Novel {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub spec: NovelSpec,
}

/// NovelSpec is short.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct NovelSpec {
    /// One sentence here. Another sentence there. A third that goes past the limit.
    #[serde(default)]
    pub two: String,
    /// A single sentence that runs on and on with no stop until it is cut
    #[serde(default)]
    pub word: String,
    /// Averylongwordwithoutanyspaceswhichgoesonandonandonandonandonandonandon
    #[serde(default)]
    pub solid: String,
    /// Exactly sixty characters are in this line of text, count it.
    #[serde(default)]
    pub exact: String,
    /// Version 1.2 is used, e.g. here and the text then continues without stop
    #[serde(default)]
    pub dots: String,
    /// First line is here
    /// second line is there and it goes past the limit of sixty
    #[serde(default)]
    pub lines: String,
    /// Is it so? Yes it is! This is the remaining part of the text that is cut
    #[serde(default)]
    pub marks: String,
    /// Ünïcödé téxt ïs cöüntéd ïn bytés, nöt ïn chäräctérs, whïch mättérs
    #[serde(default)]
    pub bytes: String,
}
