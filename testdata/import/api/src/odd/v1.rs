//! Version `v1` of group `odd.example.com`.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "odd.example.com", version = "v1", kind = "postgresql")]
#[resource(standard_fields = {"apiVersion": null, "kind": null, "metadata": null})]
#[genclient]
#[deepcopy]
pub struct Postgresql {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<PostgresqlSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "odd.example.com",
    version = "v1",
    kind = "My-Thing",
    scope = "Cluster"
)]
#[resource(standard_fields = {"apiVersion": null, "kind": null, "metadata": null})]
#[genclient(non_namespaced)]
#[deepcopy]
pub struct MyThing {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<MyThingSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "odd.example.com", version = "v1", kind = "Option")]
#[resource(standard_fields = {"apiVersion": null, "kind": null, "metadata": null})]
#[genclient]
#[deepcopy]
pub struct OptionResource {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<OptionSpec>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct N {
    #[serde(rename = "+", default, skip_serializing_if = "Option::is_none")]
    pub field: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct PostgresqlObjectMeta {
    #[serde(rename = "BTreeMap", default, skip_serializing_if = "Option::is_none")]
    pub b_tree_map: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct PostgresqlOption {
    #[serde(rename = "String", default, skip_serializing_if = "Option::is_none")]
    pub string: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub enum PostgresqlVecSelf {
    /// `Ok`
    Ok,
    /// `Err`
    Err,
    /// `None`
    None,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct PostgresqlVec {
    #[serde(rename = "Self", default, skip_serializing_if = "Option::is_none")]
    pub self_: Option<PostgresqlVecSelf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
#[serde(rename_all = "kebab-case")]
pub enum PostgresqlType {
    /// `self`
    #[serde(rename = "self")]
    SelfValue,
    /// `Self`
    #[serde(rename = "Self")]
    SelfValue2,
    /// `_`
    #[serde(rename = "_")]
    Underscore,
    /// ""
    #[serde(rename = "")]
    Empty,
    /// `1`
    #[serde(rename = "1")]
    N1,
    /// `a-b`
    AB,
    /// `a_b`
    #[serde(rename = "a_b")]
    AB2,
    /// `ü`
    #[serde(rename = "ü")]
    Sign,
    /// `日本`
    #[serde(rename = "日本")]
    SignSign,
    /// `type`
    Type,
    /// `*`
    #[serde(rename = "*")]
    Any,
    /// `>=`
    #[serde(rename = ">=")]
    GreaterEqual,
    /// `a"b`
    #[serde(rename = r#"a"b"#)]
    AB3,
    /// "a'b\n"
    #[serde(rename = "a`b\n")]
    AB4,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct PostgresqlSpec {
    #[serde(rename = "", default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    #[serde(rename = "-", default, skip_serializing_if = "Option::is_none")]
    pub field_2: Option<N>,
    #[serde(rename = "9lives")]
    pub field_9lives: i32,
    #[serde(
        rename = "ObjectMeta",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub object_meta: Option<PostgresqlObjectMeta>,
    #[serde(rename = "Option", default, skip_serializing_if = "Option::is_none")]
    pub option: Option<PostgresqlOption>,
    #[serde(rename = "Self", default, skip_serializing_if = "Option::is_none")]
    pub self_: Option<String>,
    #[serde(rename = "Vec", default, skip_serializing_if = "Option::is_none")]
    pub vec: Option<PostgresqlVec>,
    #[serde(rename = r"\", default, skip_serializing_if = "Option::is_none")]
    pub field_3: Option<String>,
    #[serde(rename = "_", default, skip_serializing_if = "Option::is_none")]
    pub field_4: Option<String>,
    #[serde(rename = "__", default, skip_serializing_if = "Option::is_none")]
    pub field_5: Option<String>,
    #[serde(rename = "a-b", default, skip_serializing_if = "Option::is_none")]
    pub a_b: Option<String>,
    #[serde(rename = "a.b/c", default, skip_serializing_if = "Option::is_none")]
    pub a_b_c: Option<String>,
    #[serde(rename = "aB", default, skip_serializing_if = "Option::is_none")]
    pub a_b_2: Option<String>,
    #[serde(rename = "a_b", default, skip_serializing_if = "Option::is_none")]
    pub a_b_3: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#async: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crate_: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#gen: Option<String>,
    #[serde(
        rename = "line\nbreak",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub line_break: Option<String>,
    #[serde(
        rename = r#"quoted""#,
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub quoted: Option<String>,
    #[serde(rename = "self", default, skip_serializing_if = "Option::is_none")]
    pub self_2: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub super_: Option<String>,
    pub r#type: PostgresqlType,
    #[serde(rename = "ü", default, skip_serializing_if = "Option::is_none")]
    pub field_6: Option<String>,
    #[serde(rename = "日本", default, skip_serializing_if = "Option::is_none")]
    pub field_7: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct MyThingSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<isize>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct OptionSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub some: Option<String>,
}
