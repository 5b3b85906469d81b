//! Keys of `#[resource]`.

use super::{KeySpec, Shape, key};

pub(super) static RESOURCE: &[KeySpec] = &[
    key(
        "group",
        Shape::String,
        &["groupName"],
        "API group, a DNS subdomain with a dot; default: that of the module",
        r#"group = "hopegi.com""#,
    )
    .also(&["group_name", "api_group"]),
    key(
        "version",
        Shape::String,
        &["versionName"],
        "API version, `v1`, `v1beta2` or any other DNS label; default: that of the module",
        r#"version = "v1alpha1""#,
    )
    .also(&["version_name", "api_version"]),
    key(
        "standard_fields",
        Shape::Json,
        &[],
        "Schemas of apiVersion, kind and metadata in the CRD where they are not the usual ones; null: it has none",
        r#"standard_fields = {"metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 63}}}}"#,
    ),
    key("kind", Shape::String, &[], "Kind; default: the name of the struct", r#"kind = "EcsBinding""#),
    key(
        "plural",
        Shape::String,
        &["kubebuilder:resource:path"],
        "Plural in URLs; default: the lower-case plural of the kind",
        r#"plural = "ecsbindings""#,
    )
    .also(&["path"]),
    key(
        "singular",
        Shape::String,
        &["kubebuilder:resource:singular"],
        "Singular; default: the lower-case kind",
        r#"singular = "ecsbinding""#,
    ),
    key(
        "short_name",
        Shape::Strings,
        &["kubebuilder:resource:shortName"],
        "Short names for kubectl",
        r#"short_name = "ecsb""#,
    )
    .repeatable()
    .also(&["short_names"]),
    key(
        "category",
        Shape::Strings,
        &["kubebuilder:resource:categories"],
        "Groups of resources for kubectl, such as all",
        r#"category("all", "ecs")"#,
    )
    .repeatable()
    .also(&["categories"]),
    key(
        "scope",
        Shape::OneOf(crate::names::Scope::NAMES),
        &["kubebuilder:resource:scope"],
        "Namespaced (default) or Cluster",
        r#"scope = "Cluster""#,
    )
    .also(&["namespaced"]),
    key("status", Shape::Flag, &["kubebuilder:subresource:status"], "The /status subresource", "status")
        .also(&["subresource", "status_subresource"]),
    key(
        "scale",
        Shape::Nested(SCALE),
        &["kubebuilder:subresource:scale"],
        "The /scale subresource",
        r#"scale(spec_path = ".spec.replicas", status_path = ".status.replicas", selector_path = ".status.selector")"#,
    ),
    key(
        "print_column",
        Shape::Nested(PRINT_COLUMN),
        &["kubebuilder:printcolumn"],
        "A column of kubectl get",
        r#"print_column(name = "Age", json_path = ".metadata.creationTimestamp")"#,
    )
    .repeatable()
    .also(&["print_columns", "printer_column"]),
    key(
        "selectable_field",
        Shape::Nested(SELECTABLE_FIELD),
        &["kubebuilder:selectablefield"],
        "A field that field selectors may name",
        r#"selectable_field(json_path = ".spec.nodename")"#,
    )
    .repeatable()
    .also(&["selectable"]),
    key(
        "list_kind",
        Shape::String,
        &[],
        "Kind of lists; default: the kind and List",
        r#"list_kind = "EcsBindingList""#,
    ),
    key(
        "storage_version",
        Shape::Flag,
        &["kubebuilder:storageversion"],
        "The version that is stored, if there are several",
        "storage_version",
    )
    .also(&["storage"]),
    key(
        "unserved_version",
        Shape::Flag,
        &["kubebuilder:unservedversion"],
        "The version is not served",
        "unserved_version",
    )
    .also(&["unserved", "served"]),
    key(
        "skip_version",
        Shape::Flag,
        &["kubebuilder:skipversion"],
        "The version is left out of the CRD",
        "skip_version",
    ),
    key(
        "deprecated_version",
        Shape::FlagOrNested(DEPRECATED),
        &["kubebuilder:deprecatedversion"],
        "The version is deprecated; the API server warns, in its own words or these",
        r#"deprecated_version(warning = "use v2")"#,
    )
    .also(&["deprecated"]),
    key(
        "conversion",
        Shape::Nested(CONVERSION),
        &[],
        "Converts objects between the versions of the kind; set it on one version",
        r#"conversion(strategy = "Webhook", service_namespace = "system", service_name = "webhook-service", path = "/convert")"#,
    )
    .also(&["convert", "conversion_webhook"]),
    key(
        "hub",
        Shape::Flag,
        &[],
        "The version that all others are converted to and from; default: the one that is stored",
        "hub",
    )
    .also(&["conversion_hub"]),
    key(
        "metadata",
        Shape::Nested(METADATA),
        &["kubebuilder:metadata"],
        "Annotations and labels of the CRD",
        r#"metadata(annotations("example.com/team" = "storage"), labels("app" = "ecs"))"#,
    )
    .repeatable(),
    key(
        "api_approved",
        Shape::String,
        &[],
        "Approval of a group under k8s.io or kubernetes.io: a URL, or a text starting with unapproved",
        r#"api_approved = "unapproved, experimental-only""#,
    ),
    key(
        "group_name_in_code",
        Shape::String,
        &["groupGoName"],
        "Name of the group in the clientset; default: the first part of the group",
        r#"group_name_in_code = "Ecs""#,
    )
    .also(&["group_go_name"]),
    key(
        "informer_group_name",
        Shape::String,
        &[],
        "Name of the group in the informer factory; default: that in the clientset",
        r#"informer_group_name = "EcsBind""#,
    ),
];

static SCALE: &[KeySpec] = &[
    key(
        "spec_path",
        Shape::String,
        &["specpath"],
        "Path of the wanted replicas",
        r#"spec_path = ".spec.replicas""#,
    )
    .required()
    .also(&["spec_replicas_path"]),
    key(
        "status_path",
        Shape::String,
        &["statuspath"],
        "Path of the counted replicas",
        r#"status_path = ".status.replicas""#,
    )
    .required()
    .also(&["status_replicas_path"]),
    key(
        "selector_path",
        Shape::String,
        &["selectorpath"],
        "Path of the label selector, a string",
        r#"selector_path = ".status.selector""#,
    )
    .also(&["label_selector_path"]),
];

static PRINT_COLUMN: &[KeySpec] = &[
    key("name", Shape::String, &["name"], "Title", r#"name = "NodeName""#).required(),
    key(
        "type",
        Shape::OneOf(&["integer", "number", "string", "boolean", "date"]),
        &["type"],
        "Type of the value; default: that of the field",
        r#"type = "string""#,
    )
    .also(&["type_"]),
    key("json_path", Shape::String, &["JSONPath"], "Path of the value", r#"json_path = ".spec.nodename""#)
        .required(),
    key("description", Shape::String, &["description"], "Explanation", r#"description = "the node""#),
    key(
        "format",
        Shape::OneOf(&["int32", "int64", "float", "double", "byte", "date", "date-time", "password"]),
        &["format"],
        "Format of the value",
        r#"format = "int32""#,
    ),
    key(
        "priority",
        Shape::Integer,
        &["priority"],
        "Above zero: only shown by kubectl get -o wide",
        "priority = 1",
    ),
];

static SELECTABLE_FIELD: &[KeySpec] = &[key(
    "json_path",
    Shape::String,
    &["JSONPath"],
    "Path of the field, which must be a string, integer or boolean",
    r#"json_path = ".spec.nodename""#,
)
.required()];

static DEPRECATED: &[KeySpec] =
    &[key("warning", Shape::String, &["warning"], "Text of the warning", r#"warning = "use v2""#).required()];

static CONVERSION: &[KeySpec] = &[
    key(
        "strategy",
        Shape::OneOf(&["None", "Webhook"]),
        &[],
        "None: only apiVersion changes; Webhook: the API server asks a webhook",
        r#"strategy = "Webhook""#,
    )
    .required(),
    key(
        "service_namespace",
        Shape::String,
        &[],
        "Namespace of the webhook's service",
        r#"service_namespace = "system""#,
    )
    .also(&["namespace"]),
    key("service_name", Shape::String, &[], "The webhook's service", r#"service_name = "webhook-service""#)
        .also(&["service", "name"]),
    key("path", Shape::String, &[], "Path of the service", r#"path = "/convert""#).also(&["service_path"]),
    key("port", Shape::Unsigned, &[], "Port of the service; default: 443", "port = 9443")
        .also(&["service_port"]),
    key(
        "url",
        Shape::String,
        &[],
        "URL of the webhook, instead of a service",
        r#"url = "https://example.com/convert""#,
    ),
    key(
        "ca_bundle",
        Shape::String,
        &[],
        "Base64 of the PEM certificates that vouch for the webhook",
        r#"ca_bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t""#,
    ),
    key(
        "review_versions",
        Shape::Strings,
        &[],
        "Versions of ConversionReview that the webhook understands; default: v1",
        r#"review_versions = ["v1", "v1beta1"]"#,
    )
    .also(&["conversion_review_versions"]),
];

static METADATA: &[KeySpec] = &[
    key(
        "annotations",
        Shape::StringMap,
        &["annotations"],
        "Annotations",
        r#"annotations("example.com/team" = "storage")"#,
    )
    .also(&["annotation"]),
    key("labels", Shape::StringMap, &["labels"], "Labels", r#"labels("app" = "ecs")"#).also(&["label"]),
];
