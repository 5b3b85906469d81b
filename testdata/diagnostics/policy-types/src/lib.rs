use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};

/// A boat.
#[derive(Resource)]
#[resource(group = "harbour.example.com", version = "v1", kind = "Boat")]
#[policy(
    name = "field.example.com",
    variable(name = "feet", expression = "object.spec.lenght * 3"),
    validation(
        expression = "object.spec.length < 10 && variables.feet < 30",
        message_expression = "'not ' + object.metadata.nmae"
    ),
    audit_annotation(key = "length", value_expression = "string(object.spec.size)")
)]
#[policy(
    name = "status.example.com",
    resources("boats", "boats/status"),
    validation(expression = "object.spec.lenght != 1 || oldObject.metadata.labels.kept == 'yes'")
)]
#[policy(
    name = "evaluated.example.com",
    match_condition(name = "length", expression = "object.spec.lenght > 1"),
    validation(expression = "authorizer.requestResource.check('x').allowed() && object.spec.built.startsWith('2')"),
    validation(expression = "object.metadata.creationTimestamp.startsWith('2')")
)]
#[policy(
    name = "pods.example.com",
    groups = "",
    versions = "v1",
    resources = "pods",
    validation(expression = "object.spec.nodeName != ''")
)]
#[policy(
    name = "apply.example.com",
    mutation(apply_configuration = "Object{spec: Object.spec{lenght: 3, built: timestamp('2020-01-01T00:00:00Z')}}"),
    mutation(apply_configuration = "Object{metadata: Object.metadata{labels: {'length': object.spec.length}}}"),
    mutation(apply_configuration = "Object{spec: Object.spec{flags: ['x']}}"),
    mutation(apply_configuration = "Object{metadata: Object.metadata{labels: {'length': string(object.spec.length)}}}")
)]
#[policy(
    name = "patch.example.com",
    mutation(json_patch = "[JSONPatch{op: 'add', path: '/spec/lenght', value: 3}]"),
    mutation(json_patch = "[JSONPatch{op: 'add', path: '/spec/length', value: 'x'}]"),
    mutation(json_patch = "[JSONPatch{op: 'add', path: '/spec/flags/-', value: object.metadata.name}]")
)]
#[policy(
    name = "limits.example.com",
    param_kind(api_version = "v1", kind = "ConfigMap"),
    validation(expression = "object.spec.length < int(params.dta.longest) && params.data.kept == 'yes'"),
    binding(param_name = "limits", param_namespace = "default")
)]
#[policy(
    name = "flagship.example.com",
    param_kind(api_version = "harbour.example.com/v1", kind = "Boat"),
    validation(expression = "object.spec.length <= params.spec.lenght"),
    binding(param_name = "flagship", param_namespace = "default")
)]
#[policy(
    name = "valid.example.com",
    param_kind(api_version = "apps/v1", kind = "Deployment"),
    validation(expression = "params.spec.template.metadata.labels['a'] == 'b' && params != object"),
    validation(expression = "object.spec.any.thing == 'x'"),
    binding(param_name = "limits", param_namespace = "default")
)]
#[policy(
    name = "others.example.com",
    param_kind(api_version = "other.example.com/v1", kind = "Limit"),
    validation(expression = "object.spec.length <= params.any"),
    binding(param_name = "limit")
)]
pub struct Boat {
    pub metadata: ObjectMeta,
    pub spec: BoatSpec,
}

/// Its shape.
#[derive(serde::Serialize, serde::Deserialize, Schema)]
pub struct BoatSpec {
    pub length: i32,
    #[validation(format = "date-time")]
    pub built: String,
    pub flags: Vec<String>,
    #[schema(preserve_unknown_fields)]
    pub any: serde_json::Value,
}
