use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};

/// A boat.
#[derive(Resource)]
#[resource(group = "harbour.example.com", version = "v1", kind = "Boat")]
#[policy(name = "wrong.example.com", validation(expression = "object.spec.length >"))]
#[policy(name = "type.example.com", validation(expression = "object.spec.length", message = "a\nb"))]
#[policy(name = "unknown.example.com", validation(expression = "boat.spec.length < 10"))]
#[policy(name = "variable.example.com", variable(name = "a b", expression = "1"), validation(expression = "true"))]
#[policy(name = "actions.example.com", validation(expression = "true"), binding(validation_actions("Deny", "Warn")))]
#[policy(name = "param.example.com", validation(expression = "true"), param_kind(api_version = "a/b/c", kind = "Limits"), binding(name = "p", param_name = "a"))]
#[policy(name = "mutate.example.com", verbs("create", "delete"), mutation(json_patch = "Object{}"))]
#[policy(name = "verbs.example.com", verbs = "creat", validation(expression = "true"))]
#[policy(name = "twice.example.com", validation(expression = "true"))]
#[policy(name = "twice.example.com", validation(expression = "true"))]
pub struct Boat {
    pub metadata: ObjectMeta,
    pub spec: BoatSpec,
}

/// Its shape.
#[derive(serde::Serialize, serde::Deserialize, Schema)]
pub struct BoatSpec {
    pub length: i32,
}
