//! Attributes on types that do not derive what reads them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: Spec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    #[validation(minimum = 1)]
    pub size: i32,
    pub mode: Mode,
    pub documented: Documented,
    pub moved: Moved,
    pub checked: Checked,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[schema(title = "Mode")]
pub enum Mode {
    #[default]
    Fast,
}

/// utoipa reads this attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(title = "Documented")]
pub struct Documented {
    pub text: String,
}

/// Moved from schemars' derive to ours, but for its attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Moved {
    #[schemars(range(min = 1))]
    pub size: i32,
}

/// The derive of validator reads its attribute.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema, Validate)]
pub struct Checked {
    #[validate(range(min = 1))]
    pub size: i32,
}
