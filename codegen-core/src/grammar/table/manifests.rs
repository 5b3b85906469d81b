//! Rows of the attributes for roles and webhook configurations.

use super::key;
use crate::grammar::{KeySpec, Places, Shape};

/// Words of `failurePolicy`.
pub(super) const FAILURE_POLICIES: &[&str] = &["Fail", "Ignore"];

/// Words of `matchPolicy`.
pub(super) const MATCH_POLICIES: &[&str] = &["Exact", "Equivalent"];

/// Words of `reinvocationPolicy`.
pub(super) const REINVOCATION_POLICIES: &[&str] = &["Never", "IfNeeded"];

const fn row(
    name: &'static str,
    shape: Shape,
    markers: &'static [&'static str],
    doc: &'static str,
    example: &'static str,
) -> KeySpec {
    key(name, shape, markers, doc, example).on(Places::ITEM)
}

pub(super) static RBAC: &[KeySpec] = &[
    row(
        "groups",
        Shape::List,
        &["kubebuilder:rbac:groups"],
        "API groups; the core group is empty or core",
        r#"groups("", "apps")"#,
    )
    .also(&["group", "api_groups"]),
    row(
        "resources",
        Shape::List,
        &["kubebuilder:rbac:resources"],
        "Resources and subresources; * means all",
        r#"resources("deployments", "deployments/status")"#,
    )
    .also(&["resource"]),
    row(
        "resource_names",
        Shape::List,
        &["kubebuilder:rbac:resourceNames"],
        "The only objects that are meant",
        r#"resource_names = "settings""#,
    ),
    row(
        "verbs",
        Shape::List,
        &["kubebuilder:rbac:verbs"],
        "Verbs; * means all",
        r#"verbs("get", "list", "watch")"#,
    )
    .required()
    .also(&["verb"]),
    row(
        "urls",
        Shape::List,
        &["kubebuilder:rbac:urls"],
        "Paths that are not resources",
        r#"urls = "/metrics""#,
    )
    .also(&["url", "non_resource_urls"]),
    row(
        "namespace",
        Shape::String,
        &["kubebuilder:rbac:namespace"],
        "Makes it a rule of a Role in this namespace; default: a rule of a ClusterRole",
        r#"namespace = "infra""#,
    ),
    row(
        "role_name",
        Shape::String,
        &["kubebuilder:rbac:roleName"],
        "Name of the role; default: role_name of the [rbac] table",
        r#"role_name = "reader""#,
    ),
];

pub(super) static WEBHOOK: &[KeySpec] = &[
    row(
        "mutating",
        Shape::Bool,
        &["kubebuilder:webhook:mutating"],
        "Changes objects, or only validates them",
        "mutating = false",
    )
    .required(),
    row(
        "failure_policy",
        Shape::Word(FAILURE_POLICIES),
        &["kubebuilder:webhook:failurePolicy"],
        "Result of a request when the webhook cannot be reached",
        r#"failure_policy = "Fail""#,
    )
    .required(),
    row(
        "match_policy",
        Shape::Word(MATCH_POLICIES),
        &["kubebuilder:webhook:matchPolicy"],
        "Matching of requests through other groups and versions; the API server's default is Equivalent",
        r#"match_policy = "Exact""#,
    ),
    row(
        "side_effects",
        Shape::String,
        &["kubebuilder:webhook:sideEffects"],
        "None or NoneOnDryRun, in any letter case; must be given, here or in patch",
        r#"side_effects = "None""#,
    ),
    row(
        "timeout_seconds",
        Shape::Integer,
        &["kubebuilder:webhook:timeoutSeconds"],
        "Seconds that the API server waits, 1 to 30; the API server's default is 10",
        "timeout_seconds = 5",
    ),
    row(
        "groups",
        Shape::List,
        &["kubebuilder:webhook:groups"],
        "API groups of the resources; the core group is empty or core",
        r#"groups = "apps""#,
    )
    .required(),
    row(
        "resources",
        Shape::List,
        &["kubebuilder:webhook:resources"],
        "Resources",
        r#"resources = "deployments""#,
    )
    .required(),
    row(
        "verbs",
        Shape::List,
        &["kubebuilder:webhook:verbs"],
        "create, update, delete, connect or *, in any letter case",
        r#"verbs("create", "update")"#,
    )
    .required(),
    row("versions", Shape::List, &["kubebuilder:webhook:versions"], "API versions", r#"versions = "v1""#)
        .required(),
    row(
        "name",
        Shape::String,
        &["kubebuilder:webhook:name"],
        "A name of at least three parts",
        r#"name = "vwidget.example.com""#,
    )
    .required(),
    row(
        "service_name",
        Shape::String,
        &["kubebuilder:webhook:serviceName"],
        "The service; default: webhook-service",
        r#"service_name = "hooks""#,
    ),
    row(
        "service_namespace",
        Shape::String,
        &["kubebuilder:webhook:serviceNamespace"],
        "Namespace of the service; default: system",
        r#"service_namespace = "infra""#,
    ),
    row(
        "service_port",
        Shape::Integer,
        &["kubebuilder:webhook:servicePort"],
        "Port of the service; the API server's default is 443",
        "service_port = 8443",
    ),
    row(
        "path",
        Shape::String,
        &["kubebuilder:webhook:path"],
        "Path at which the service is called; this or url",
        r#"path = "/validate-example-com-v1-widget""#,
    ),
    row(
        "webhook_versions",
        Shape::List,
        &["kubebuilder:webhook:webhookVersions"],
        "Versions of the configuration; v1 is the only one",
        r#"webhook_versions = "v1""#,
    ),
    row(
        "admission_review_versions",
        Shape::List,
        &["kubebuilder:webhook:admissionReviewVersions"],
        "Versions of AdmissionReview that the webhook understands, the preferred first",
        r#"admission_review_versions = "v1""#,
    )
    .required(),
    row(
        "reinvocation_policy",
        Shape::Word(REINVOCATION_POLICIES),
        &["kubebuilder:webhook:reinvocationPolicy"],
        "Calls of a mutating webhook after later changes; the API server's default is Never",
        r#"reinvocation_policy = "IfNeeded""#,
    ),
    row(
        "url",
        Shape::String,
        &["kubebuilder:webhook:url"],
        "URL of the webhook in place of a service; https",
        r#"url = "https://hooks.example.com:9443/check""#,
    ),
    row(
        "patch",
        Shape::Json,
        &["kubebuilder:webhook:patch"],
        "Fields to merge into the webhook, such as selectors and match conditions: an object, or its JSON as text",
        r#"patch = {"namespaceSelector": {"matchLabels": {"hooks": "on"}}}"#,
    ),
];

pub(super) static WEBHOOK_CONFIGURATION: &[KeySpec] = &[
    row(
        "mutating",
        Shape::Bool,
        &["kubebuilder:webhookconfiguration:mutating"],
        "The configuration of the mutating or of the validating webhooks",
        "mutating = true",
    )
    .required(),
    row(
        "name",
        Shape::String,
        &["kubebuilder:webhookconfiguration:name"],
        "Name of the object; default: mutating-webhook-configuration or validating-webhook-configuration",
        r#"name = "fleet-validators""#,
    ),
];
