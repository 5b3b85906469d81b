use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1")]
pub struct NoKindSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Misspelt", shortnam = "m")]
pub struct MisspeltSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Same")]
pub struct Same {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube", version = "V1", kind = "na_mes")]
pub struct NamesSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Columns", namespaced = 5)]
#[kube(printcolumn = r#"{"name": "Json"}"#)]
#[kube(printcolumn(name = "Path", type = "string", jsonpath = ".spec"))]
#[kube(label("key"), scale = "none", schema = "none", status = 5, validation("self"))]
pub struct ColumnsSpec {}

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com" version = "v1", kind = "Comma")]
pub struct CommaSpec {}
