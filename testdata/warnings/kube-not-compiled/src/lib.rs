use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod texts;

#[derive(CustomResource, Clone, Debug, Serialize, JsonSchema)]
#[kube(group = "kube.example.com", version = "v1", kind = "Cake", status = "CakeStatus")]
pub struct CakeSpec {
    /// +kubebuilder:validaton:Minimum=1
    #[serde(skip_serializing_if = "is_zero")]
    pub layers: u32,
    pub slices: Vec<Slice>,
    #[serde(with = "text")]
    #[schemars(with = "String")]
    pub label: u32,
    #[serde(serialize_with = "texts::write", deserialize_with = "texts::reed")]
    #[schemars(with = "String")]
    pub weight: u32,
    #[serde(serialize_with = "str::from", deserialize_with = "serde::de::text")]
    #[schemars(with = "String")]
    pub elsewhere: u32,
    /// Another derive may implement serde's traits.
    pub icing: Icing,
    pub candles: Candles,
}

#[derive(Clone, Debug, JsonSchema)]
pub struct CakeStatus {
    pub eaten: bool,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Slice {
    pub grams: u32,
}

#[derive(Clone, Debug, JsonSchema, other::Serde)]
pub struct Icing {
    pub color: String,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Candles {
    pub count: u32,
}

impl Serialize for Candles {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(self.count)
    }
}
