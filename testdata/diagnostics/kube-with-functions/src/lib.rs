use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Widget")]
pub struct WidgetSpec {
    #[serde(with = "text")]
    pub size: i32,
    #[serde(with = "text")]
    #[schemars(with = "String")]
    pub said: i32,
}

mod text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &i32, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
        String::deserialize(from)?.parse().map_err(Error::custom)
    }
}
