//! Keys without which nothing can be said.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(version = "v1", print_column(name = "A"), scale(spec_path = ".spec.size"))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct WidgetSpec {
    #[validation(rule(message = "no"))]
    pub a: i32,
    #[schema(external_docs(description = "where?"))]
    pub size: i32,
}
