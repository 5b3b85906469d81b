use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Widget is a kind.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    pub read: Read,
    pub written: Written,
    pub number: Number,
    pub said: Said,
    #[schema(schemaless)]
    #[validation(type = "string")]
    pub on_field: Written,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Read {
    pub host: String,
}

impl<'de> serde::Deserialize<'de> for Read {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|host| Self { host })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written(pub u8);

impl Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self(0))
    }
}

#[derive(Clone, Debug, Default, PartialEq, serde_repr::Serialize_repr, serde_repr::Deserialize_repr)]
#[repr(u8)]
pub enum Number {
    #[default]
    One = 1,
}

/// Its form is said.
#[derive(Clone, Debug, Default, PartialEq, Schema)]
#[validation(type = "string", max_length = 10)]
pub struct Said(pub u8);

impl Serialize for Said {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
