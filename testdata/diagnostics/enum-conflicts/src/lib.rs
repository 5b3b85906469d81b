use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub rules: Rules,
    pub lists: Lists,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(untagged)]
pub enum Rules {
    Small(Small),
    Large(Large),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[validation(rule(rule = "self.size < 5"))]
pub struct Small {
    pub size: i32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub struct Large {
    pub size: i32,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(tag = "type")]
pub enum Lists {
    Set {
        #[schema(list_type = "set")]
        items: Vec<String>,
    },
    Atomic {
        #[schema(list_type = "atomic")]
        items: Vec<String>,
    },
}
