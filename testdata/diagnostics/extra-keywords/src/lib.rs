use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Widget has schemas that are none.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "example.com", version = "v1")]
#[resource(standard_fields = {"metadata": {"$ref": "a"}, "spec": null})]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
}

/// WidgetSpec says things twice, or in no words of a schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[schema(extra = {"oneOf": [{"$ref": "a"}]})]
pub struct WidgetSpec {
    /// Twice.
    #[validation(max_length = 3)]
    #[schema(extra = {"maxLength": 4})]
    pub twice: String,
    /// Nothing.
    #[schema(extra = {})]
    pub nothing: String,
    /// No schema.
    #[schema(extra = ["a"])]
    pub list: String,
}
