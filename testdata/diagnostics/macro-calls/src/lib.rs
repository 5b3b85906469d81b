use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

macro_rules! part {
    ($name:ident { $($field:ident: $ty:ty),* $(,)? }) => {
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
        #[validation(max_length = "five")]
        pub struct $name {
            $(pub $field: $ty,)*
        }
    };
}

part! { Part { label: String } }
part! { Other [label: String] }

macro_rules! again {
    ($($token:tt)*) => { again! { $($token)* } };
}

again! { x }

macro_rules! broken {
    () => { struct };
}

broken!();

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: Part,
}
