use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};

/// A boat.
#[derive(Resource)]
#[resource(group = "harbour.example.com", version = "v1", kind = "Boat")]
#[policy(name = "patch.example.com", validation(expression = "true"), patch = {"matchConstraint": {}})]
#[policy(name = "type.example.com", validation(expression = "true"), patch = {"matchConstraints": 1})]
#[policy(name = "delete.example.com", validation(expression = "true"), patch = {"validations": [{"$patch": "delete"}]})]
#[policy(
    name = "binding.example.com",
    validation(expression = "true"),
    binding(name = "b.example.com", match_resources = {"namespaces": ["a"]})
)]
#[policy(name = "nothing.example.com")]
pub struct Boat {
    pub metadata: ObjectMeta,
    pub spec: BoatSpec,
}

/// Its shape.
#[derive(serde::Serialize, serde::Deserialize, Schema)]
pub struct BoatSpec {
    pub length: i32,
}
