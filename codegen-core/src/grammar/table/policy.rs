//! Rows of the attribute for an admission policy with its bindings.

use super::key;
use super::manifests::{FAILURE_POLICIES, MATCH_POLICIES, REINVOCATION_POLICIES};
use crate::grammar::{KeySpec, Places, Shape};

const fn row(name: &'static str, shape: Shape, doc: &'static str, example: &'static str) -> KeySpec {
    key(name, shape, &[], doc, example).on(Places::ROOT)
}

pub(super) static POLICY: &[KeySpec] = &[
    row("name", Shape::String, "Name of the policy, and of its binding", r#"name = "widgets.example.com""#)
        .required(),
    row(
        "verbs",
        Shape::List,
        "Requests that it applies to: create, update, delete, connect; default: create and update",
        r#"verbs("create", "update")"#,
    )
    .also(&["operations", "verb"]),
    row("groups", Shape::List, "API groups, instead of the kind's", r#"groups = "apps""#).also(&["group"]),
    row("versions", Shape::List, "API versions, instead of the kind's", r#"versions = "v1""#)
        .also(&["version"]),
    row(
        "resources",
        Shape::List,
        "Resources and subresources, instead of the kind's",
        r#"resources("widgets", "widgets/status")"#,
    )
    .also(&["resource"]),
    row(
        "failure_policy",
        Shape::Word(FAILURE_POLICIES),
        "Result of a request when an expression fails or parameters are missing; the API server's default is Fail",
        r#"failure_policy = "Ignore""#,
    ),
    row(
        "match_policy",
        Shape::Word(MATCH_POLICIES),
        "Matching of requests through other groups and versions; the API server's default is Equivalent",
        r#"match_policy = "Exact""#,
    ),
    row(
        "param_kind",
        Shape::Nested(PARAM_KIND),
        "Kind of the objects that expressions read as `params`",
        r#"param_kind(api_version = "v1", kind = "ConfigMap")"#,
    )
    .also(&["params"]),
    row(
        "variable",
        Shape::Nested(VARIABLE),
        "A value that later expressions use as `variables.NAME`",
        r#"variable(name = "size", expression = "object.spec.size")"#,
    )
    .repeatable()
    .also(&["variables"]),
    row(
        "match_condition",
        Shape::Nested(MATCH_CONDITION),
        "A condition on requests: where it is false, the policy does not apply",
        r#"match_condition(name = "no-nodes", expression = "!('system:nodes' in request.userInfo.groups)")"#,
    )
    .repeatable()
    .also(&["match_conditions"]),
    row(
        "validation",
        Shape::Nested(VALIDATION),
        "A rule that is true of each admitted object",
        r#"validation(expression = "object.spec.size > 0", message = "size is above zero")"#,
    )
    .repeatable()
    .also(&["validations", "rule"]),
    row(
        "audit_annotation",
        Shape::Nested(AUDIT_ANNOTATION),
        "An annotation of the request in the audit log",
        r#"audit_annotation(key = "size", value_expression = "string(object.spec.size)")"#,
    )
    .repeatable()
    .also(&["audit_annotations"]),
    row(
        "mutation",
        Shape::Nested(MUTATION),
        "A change of each object",
        r#"mutation(apply_configuration = "Object{spec: Object.spec{size: 1}}")"#,
    )
    .repeatable()
    .also(&["mutations"]),
    row(
        "reinvocation_policy",
        Shape::Word(REINVOCATION_POLICIES),
        "Whether mutations run again after later changes; default: Never",
        r#"reinvocation_policy = "IfNeeded""#,
    ),
    row(
        "binding",
        Shape::Nested(BINDING),
        "Puts the policy in force; default: one binding that denies, without parameters",
        r#"binding(name = "everywhere", validation_actions = "Deny")"#,
    )
    .repeatable()
    .also(&["bindings"]),
    row("unbound", Shape::Flag, "No binding is written", "unbound"),
    row(
        "patch",
        Shape::Json,
        "Fields to merge into the spec of the policy, such as selectors: an object, or its JSON as text",
        r#"patch = {"matchConstraints": {"objectSelector": {"matchLabels": {"checked": "yes"}}}}"#,
    ),
];

static PARAM_KIND: &[KeySpec] = &[
    row("api_version", Shape::String, "Group and version", r#"api_version = "v1""#).required(),
    row("kind", Shape::String, "Kind", r#"kind = "ConfigMap""#).required(),
];

static VARIABLE: &[KeySpec] = &[
    row("name", Shape::String, "An identifier of CEL", r#"name = "size""#).required(),
    row("expression", Shape::String, "An expression of any type", r#"expression = "object.spec.size""#)
        .required(),
];

static MATCH_CONDITION: &[KeySpec] = &[
    row("name", Shape::String, "A qualified name", r#"name = "no-nodes""#).required(),
    row("expression", Shape::String, "A condition", r#"expression = "request.operation != 'DELETE'""#)
        .required(),
];

static VALIDATION: &[KeySpec] = &[
    row("expression", Shape::String, "The rule", r#"expression = "object.spec.size > 0""#).required(),
    row("message", Shape::String, "Message to users", r#"message = "size is above zero""#),
    row(
        "message_expression",
        Shape::String,
        "An expression of the message, which takes the place of `message`",
        r#"message_expression = "'not ' + string(object.spec.size)""#,
    ),
    row(
        "reason",
        Shape::Word(&["Forbidden", "Invalid", "RequestEntityTooLarge"]),
        "Reason of the refusal; the API server's default is Invalid",
        r#"reason = "Forbidden""#,
    ),
];

static AUDIT_ANNOTATION: &[KeySpec] = &[
    row("key", Shape::String, "Key behind the policy's name", r#"key = "size""#).required(),
    row(
        "value_expression",
        Shape::String,
        "A text, or null",
        r#"value_expression = "string(object.spec.size)""#,
    )
    .required(),
];

static MUTATION: &[KeySpec] = &[
    row(
        "apply_configuration",
        Shape::String,
        "An expression of the fields to apply",
        r#"apply_configuration = "Object{}""#,
    ),
    row(
        "json_patch",
        Shape::String,
        "An expression of a list of JSON patch operations",
        r#"json_patch = "[JSONPatch{op: 'remove', path: '/spec/size'}]""#,
    ),
];

static BINDING: &[KeySpec] = &[
    row("name", Shape::String, "Name of the binding; default: that of the policy", r#"name = "everywhere""#),
    row(
        "validation_actions",
        Shape::SomeOf(&["Deny", "Warn", "Audit"]),
        "Actions for requests that break a rule; default: Deny",
        r#"validation_actions("Warn", "Audit")"#,
    )
    .also(&["actions"]),
    row("param_name", Shape::String, "Name of the parameters' object", r#"param_name = "limits""#),
    row(
        "param_namespace",
        Shape::String,
        "Namespace of the parameters; default: that of the request",
        r#"param_namespace = "infra""#,
    ),
    row(
        "param_selector",
        Shape::Json,
        "Label selector of the parameters' objects",
        r#"param_selector = {"matchLabels": {"limits": "yes"}}"#,
    ),
    row(
        "parameter_not_found_action",
        Shape::Word(&["Allow", "Deny"]),
        "Result of a request without parameters; default: Deny",
        r#"parameter_not_found_action = "Allow""#,
    ),
    row(
        "match_resources",
        Shape::Json,
        "Narrows the requests of the policy: `matchResources` of the API",
        r#"match_resources = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}"#,
    ),
];
