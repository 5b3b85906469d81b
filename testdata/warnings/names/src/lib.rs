use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Resource)]
#[resource(group = "example.com", version = "v1",
    print_column(name = "Node", type = "string", json_path = ".spec.nodeName"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

/// serde takes the names over.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation(enum("a"))]
    pub node_name: String,
    #[validation(enum("b"))]
    pub inner_ip: String,
    pub source: Source,
    pub chosen: Chosen,
}

/// Variants with data are fields.
#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
pub enum Source {
    Inline { size: i32 },
    Other { size: i32 },
}

/// A name that was chosen.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Chosen {
    #[serde(rename = "disk-size")]
    pub disk_size: i32,
}
