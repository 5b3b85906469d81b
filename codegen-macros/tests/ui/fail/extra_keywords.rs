use kubesmith_runtime::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use kubesmith_runtime::serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Resource)]
#[resource(group = "example.com", version = "v1")]
#[resource(standard_fields = {"metadata": {"$ref": "a"}, "spec": null})]
struct Widget {
    metadata: ObjectMeta,
    spec: WidgetSpec,
}

#[derive(Clone, Debug, Resource)]
#[resource(group = "example.com", version = "v1")]
#[resource(standard_fields = ["metadata"])]
struct Gadget {
    metadata: ObjectMeta,
    spec: WidgetSpec,
}

#[derive(Clone, Debug, Serialize, Deserialize, Schema)]
#[serde(crate = "kubesmith_runtime::serde")]
#[schema(extra = {"oneOf": [{"$ref": "a"}]})]
struct WidgetSpec {
    #[validation(max_length = 3)]
    #[schema(extra = {"maxLength": 4})]
    twice: String,
    #[schema(extra = {})]
    nothing: String,
    #[schema(extra = ["a"])]
    list: String,
    #[schema(description = 3)]
    number: String,
    #[schema(description = "a", description = "b")]
    described: String,
}

fn main() {}
