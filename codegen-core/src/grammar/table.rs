//! The table.

mod manifests;

use super::{Family, FamilySpec, KeySpec, Places, Shape};

/// Client verbs in client-gen's order and spelling.
pub const VERBS: &[&str] = &[
    "create",
    "update",
    "updateStatus",
    "delete",
    "deleteCollection",
    "get",
    "list",
    "watch",
    "patch",
    "apply",
    "applyStatus",
];

/// The types of a structural schema.
pub const SCHEMA_TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object"];

/// Reasons of a validation rule.
pub const RULE_REASONS: &[&str] =
    &["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

const fn key(
    name: &'static str,
    shape: Shape,
    marker: &'static str,
    doc: &'static str,
    example: &'static str,
) -> KeySpec {
    KeySpec {
        name,
        shape,
        repeatable: false,
        required: false,
        places: Places::ALL,
        marker,
        doc,
        example,
        also: &[],
    }
}

impl KeySpec {
    const fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    const fn on(mut self, places: Places) -> Self {
        self.places = places;
        self
    }

    const fn also(mut self, spellings: &'static [&'static str]) -> Self {
        self.also = spellings;
        self
    }
}

/// Every attribute family. Adding a key means adding a row here and a field in
/// [`crate::model`]; a test holds that no row is without effect on the model.
pub static FAMILIES: &[FamilySpec] = &[
    FamilySpec {
        family: Family::Resource,
        places: Places::ROOT,
        bare: false,
        marker: "+groupName, +versionName, +kubebuilder:resource and the other CRD markers",
        doc: "Makes a struct the root type of a resource: its names, scope, subresources and columns.",
        keys: RESOURCE,
    },
    FamilySpec {
        family: Family::Genclient,
        places: Places::ROOT,
        bare: true,
        marker: "+genclient",
        doc: "Asks for a typed client, a lister and an informer.",
        keys: GENCLIENT,
    },
    FamilySpec {
        family: Family::Deepcopy,
        places: Places::ROOT,
        bare: true,
        marker: "+k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object",
        doc: "Implements `kubesmith_runtime::Object`, so that the type can be held and copied without being named.",
        keys: &[],
    },
    FamilySpec {
        family: Family::Validation,
        places: Places::ALL,
        bare: false,
        marker: "+kubebuilder:validation:*",
        doc: "Constrains the values that the API server accepts.",
        keys: &VALIDATION,
    },
    FamilySpec {
        family: Family::Schema,
        places: Places::ALL,
        bare: false,
        marker: "+kubebuilder:default, +listType and the other schema markers",
        doc: "Describes a type or field: defaults, documentation, merging, pruning.",
        keys: SCHEMA,
    },
    FamilySpec {
        family: Family::Rbac,
        places: Places::ITEM,
        bare: false,
        marker: "+kubebuilder:rbac",
        doc: "A rule of the role that a controller needs; may be given several times, on any item of a crate that is read.",
        keys: manifests::RBAC,
    },
    FamilySpec {
        family: Family::Webhook,
        places: Places::ITEM,
        bare: false,
        marker: "+kubebuilder:webhook",
        doc: "An admission webhook; may be given several times, on any item of a crate that is read.",
        keys: manifests::WEBHOOK,
    },
    FamilySpec {
        family: Family::WebhookConfiguration,
        places: Places::ITEM,
        bare: false,
        marker: "+kubebuilder:webhookconfiguration",
        doc: "The name of the object with the mutating or the validating webhooks.",
        keys: manifests::WEBHOOK_CONFIGURATION,
    },
];

static RESOURCE: &[KeySpec] = &[
    key(
        "group",
        Shape::String,
        "+groupName",
        "API group, a DNS subdomain with a dot",
        r#"group = "hopegi.com""#,
    )
    .required()
    .also(&["group_name", "api_group"]),
    key("version", Shape::String, "+versionName", "API version", r#"version = "v1alpha1""#)
        .required()
        .also(&["version_name", "api_version"]),
    key(
        "kind",
        Shape::String,
        "(type name)",
        "Kind; default: the name of the struct",
        r#"kind = "EcsBinding""#,
    ),
    key(
        "plural",
        Shape::String,
        "+kubebuilder:resource:path",
        "Plural in URLs; default: the lower-case plural of the kind",
        r#"plural = "ecsbindings""#,
    )
    .also(&["path"]),
    key(
        "singular",
        Shape::String,
        "+kubebuilder:resource:singular",
        "Singular; default: the lower-case kind",
        r#"singular = "ecsbinding""#,
    ),
    key(
        "short_name",
        Shape::Strings,
        "+kubebuilder:resource:shortName",
        "Short names for kubectl",
        r#"short_name = "ecsb""#,
    )
    .repeatable()
    .also(&["short_names"]),
    key(
        "category",
        Shape::Strings,
        "+kubebuilder:resource:categories",
        "Groups of resources for kubectl, such as all",
        r#"category("all", "ecs")"#,
    )
    .repeatable()
    .also(&["categories"]),
    key(
        "scope",
        Shape::OneOf(crate::names::Scope::NAMES),
        "+kubebuilder:resource:scope",
        "Namespaced (default) or Cluster",
        r#"scope = "Cluster""#,
    )
    .also(&["namespaced"]),
    key("status", Shape::Flag, "+kubebuilder:subresource:status", "The /status subresource", "status")
        .also(&["subresource", "status_subresource"]),
    key(
        "scale",
        Shape::Nested(SCALE),
        "+kubebuilder:subresource:scale",
        "The /scale subresource",
        r#"scale(spec_path = ".spec.replicas", status_path = ".status.replicas", selector_path = ".status.selector")"#,
    ),
    key(
        "print_column",
        Shape::Nested(PRINT_COLUMN),
        "+kubebuilder:printcolumn",
        "A column of kubectl get",
        r#"print_column(name = "Age", type = "date", json_path = ".metadata.creationTimestamp")"#,
    )
    .repeatable()
    .also(&["print_columns", "printer_column"]),
    key(
        "selectable_field",
        Shape::Nested(SELECTABLE_FIELD),
        "+kubebuilder:selectablefield",
        "A field that field selectors may name",
        r#"selectable_field(json_path = ".spec.nodename")"#,
    )
    .repeatable()
    .also(&["selectable"]),
    key(
        "list_kind",
        Shape::String,
        "(none)",
        "Kind of lists; default: the kind and List",
        r#"list_kind = "EcsBindingList""#,
    ),
    key(
        "storage_version",
        Shape::Flag,
        "+kubebuilder:storageversion",
        "The version that is stored, if there are several",
        "storage_version",
    )
    .also(&["storage"]),
    key(
        "unserved_version",
        Shape::Flag,
        "+kubebuilder:unservedversion",
        "The version is not served",
        "unserved_version",
    )
    .also(&["unserved", "served"]),
    key(
        "skip_version",
        Shape::Flag,
        "+kubebuilder:skipversion",
        "The version is left out of the CRD",
        "skip_version",
    ),
    key(
        "deprecated_version",
        Shape::FlagOrNested(DEPRECATED),
        "+kubebuilder:deprecatedversion",
        "The version is deprecated; the API server warns, in its own words or these",
        r#"deprecated_version(warning = "use v2")"#,
    )
    .also(&["deprecated"]),
    key(
        "conversion",
        Shape::Nested(CONVERSION),
        "(none)",
        "Who converts objects between the versions of the kind; said on one of them",
        r#"conversion(strategy = "Webhook", service_namespace = "system", service_name = "webhook-service", path = "/convert")"#,
    )
    .also(&["convert", "conversion_webhook"]),
    key(
        "metadata",
        Shape::Nested(METADATA),
        "+kubebuilder:metadata",
        "Annotations and labels of the CRD",
        r#"metadata(annotations("example.com/team" = "storage"), labels("app" = "ecs"))"#,
    )
    .repeatable(),
    key(
        "api_approved",
        Shape::String,
        "+kubebuilder:metadata:annotations=api-approved.kubernetes.io=",
        "Approval of a group under k8s.io or kubernetes.io: a URL, or a text starting with unapproved",
        r#"api_approved = "unapproved, experimental-only""#,
    ),
    key(
        "group_name_in_code",
        Shape::String,
        "+groupGoName",
        "Name of the group in the clientset; default: the first part of the group",
        r#"group_name_in_code = "Ecs""#,
    )
    .also(&["group_go_name"]),
    key(
        "informer_group_name",
        Shape::String,
        "(none)",
        "Name of the group in the informer factory; default: that in the clientset",
        r#"informer_group_name = "EcsBind""#,
    ),
];

static SCALE: &[KeySpec] = &[
    key(
        "spec_path",
        Shape::String,
        "specpath",
        "Path of the wanted replicas",
        r#"spec_path = ".spec.replicas""#,
    )
    .required()
    .also(&["spec_replicas_path"]),
    key(
        "status_path",
        Shape::String,
        "statuspath",
        "Path of the counted replicas",
        r#"status_path = ".status.replicas""#,
    )
    .required()
    .also(&["status_replicas_path"]),
    key(
        "selector_path",
        Shape::String,
        "selectorpath",
        "Path of the label selector, a string",
        r#"selector_path = ".status.selector""#,
    )
    .also(&["label_selector_path"]),
];

static PRINT_COLUMN: &[KeySpec] = &[
    key("name", Shape::String, "name", "Title", r#"name = "NodeName""#).required(),
    key(
        "type",
        Shape::OneOf(&["integer", "number", "string", "boolean", "date"]),
        "type",
        "Type of the value",
        r#"type = "string""#,
    )
    .required()
    .also(&["type_"]),
    key("json_path", Shape::String, "JSONPath", "Path of the value", r#"json_path = ".spec.nodename""#)
        .required(),
    key("description", Shape::String, "description", "Explanation", r#"description = "the node""#),
    key(
        "format",
        Shape::OneOf(&["int32", "int64", "float", "double", "byte", "date", "date-time", "password"]),
        "format",
        "Format of the value",
        r#"format = "int32""#,
    ),
    key(
        "priority",
        Shape::Integer,
        "priority",
        "Above zero: only shown by kubectl get -o wide",
        "priority = 1",
    ),
];

static SELECTABLE_FIELD: &[KeySpec] = &[key(
    "json_path",
    Shape::String,
    "JSONPath",
    "Path of the field, which must be a string, integer or boolean",
    r#"json_path = ".spec.nodename""#,
)
.required()];

static DEPRECATED: &[KeySpec] =
    &[key("warning", Shape::String, "warning", "Text of the warning", r#"warning = "use v2""#).required()];

static CONVERSION: &[KeySpec] = &[
    key(
        "strategy",
        Shape::OneOf(&["None", "Webhook"]),
        "(none)",
        "None: only apiVersion changes; Webhook: the API server asks a webhook",
        r#"strategy = "Webhook""#,
    )
    .required(),
    key(
        "service_namespace",
        Shape::String,
        "(none)",
        "Namespace of the webhook's service",
        r#"service_namespace = "system""#,
    )
    .also(&["namespace"]),
    key(
        "service_name",
        Shape::String,
        "(none)",
        "The webhook's service",
        r#"service_name = "webhook-service""#,
    )
    .also(&["service", "name"]),
    key("path", Shape::String, "(none)", "Path of the service", r#"path = "/convert""#)
        .also(&["service_path"]),
    key("port", Shape::Unsigned, "(none)", "Port of the service; default: 443", "port = 9443")
        .also(&["service_port"]),
    key(
        "url",
        Shape::String,
        "(none)",
        "URL of the webhook, instead of a service",
        r#"url = "https://example.com/convert""#,
    ),
    key(
        "ca_bundle",
        Shape::String,
        "(none)",
        "Base64 of the PEM certificates that vouch for the webhook",
        r#"ca_bundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t""#,
    ),
    key(
        "review_versions",
        Shape::Strings,
        "(none)",
        "Versions of ConversionReview that the webhook understands; default: v1",
        r#"review_versions = ["v1", "v1beta1"]"#,
    )
    .also(&["conversion_review_versions"]),
];

static METADATA: &[KeySpec] = &[
    key(
        "annotations",
        Shape::StringMap,
        "annotations",
        "Annotations",
        r#"annotations("example.com/team" = "storage")"#,
    )
    .also(&["annotation"]),
    key("labels", Shape::StringMap, "labels", "Labels", r#"labels("app" = "ecs")"#).also(&["label"]),
];

static GENCLIENT: &[KeySpec] = &[
    key(
        "non_namespaced",
        Shape::Flag,
        "+genclient:nonNamespaced",
        "Objects have no namespace; must agree with the scope",
        "non_namespaced",
    ),
    key(
        "no_verbs",
        Shape::Flag,
        "+genclient:noVerbs",
        "A client without methods, and no informer",
        "no_verbs",
    ),
    key(
        "only_verbs",
        Shape::SomeOf(VERBS),
        "+genclient:onlyVerbs",
        "The client's methods",
        r#"only_verbs("get", "list", "watch")"#,
    ),
    key(
        "skip_verbs",
        Shape::SomeOf(VERBS),
        "+genclient:skipVerbs",
        "Methods that the client does not have",
        r#"skip_verbs("deleteCollection")"#,
    ),
    key(
        "no_status",
        Shape::Flag,
        "+genclient:noStatus",
        "No updateStatus and applyStatus although there is a status",
        "no_status",
    ),
    key("readonly", Shape::Flag, "+genclient:readonly", "Only get, list and watch", "readonly")
        .also(&["read_only"]),
];

/// The constraints, shared by fields, types and `items(...)`.
macro_rules! constraints {
    ($($extra:expr),* $(,)?) => {
        [
            key("minimum", Shape::Number, "+kubebuilder:validation:Minimum", "Least number", "minimum = 1")
                .also(&["min"]),
            key("maximum", Shape::Number, "+kubebuilder:validation:Maximum", "Greatest number", "maximum = 99.5")
                .also(&["max"]),
            key(
                "exclusive_minimum",
                Shape::Flag,
                "+kubebuilder:validation:ExclusiveMinimum",
                "The minimum itself is not allowed",
                "exclusive_minimum",
            ),
            key(
                "exclusive_maximum",
                Shape::Flag,
                "+kubebuilder:validation:ExclusiveMaximum",
                "The maximum itself is not allowed",
                "exclusive_maximum",
            ),
            key(
                "multiple_of",
                Shape::Number,
                "+kubebuilder:validation:MultipleOf",
                "Only multiples of this number",
                "multiple_of = 3",
            ),
            key("min_length", Shape::Unsigned, "+kubebuilder:validation:MinLength", "Least characters", "min_length = 1"),
            key("max_length", Shape::Unsigned, "+kubebuilder:validation:MaxLength", "Most characters", "max_length = 63"),
            key(
                "pattern",
                Shape::String,
                "+kubebuilder:validation:Pattern",
                "Regular expression (RE2) that the text must contain a match of",
                r#"pattern = "^[a-z]+$""#,
            )
            .also(&["regex"]),
            key(
                "format",
                Shape::String,
                "+kubebuilder:validation:Format",
                "Format, such as date-time, ipv4 or uuid",
                r#"format = "ipv4""#,
            ),
            key("min_items", Shape::Unsigned, "+kubebuilder:validation:MinItems", "Least items", "min_items = 1"),
            key("max_items", Shape::Unsigned, "+kubebuilder:validation:MaxItems", "Most items", "max_items = 10"),
            key(
                "unique_items",
                Shape::Flag,
                "+kubebuilder:validation:UniqueItems",
                "Items differ (API servers refuse it in CRDs; prefer list_type = \"set\")",
                "unique_items",
            ),
            key(
                "min_properties",
                Shape::Unsigned,
                "+kubebuilder:validation:MinProperties",
                "Least entries of a map or struct",
                "min_properties = 1",
            ),
            key(
                "max_properties",
                Shape::Unsigned,
                "+kubebuilder:validation:MaxProperties",
                "Most entries of a map or struct",
                "max_properties = 8",
            ),
            key(
                "enum",
                Shape::Jsons,
                "+kubebuilder:validation:Enum",
                "The allowed values",
                r#"enum("TCP", "UDP")"#,
            )
            .also(&["one_of", "values"]),
            key(
                "type",
                Shape::OneOf(SCHEMA_TYPES),
                "+kubebuilder:validation:Type",
                "Type in the schema, instead of the one that follows from the Rust type",
                r#"type = "string""#,
            )
            .also(&["type_"]),
            key(
                "rule",
                Shape::Nested(RULE),
                "+kubebuilder:validation:XValidation",
                "A CEL rule",
                r#"rule(rule = "self.min <= self.max", message = "min must not exceed max")"#,
            )
            .repeatable()
            .also(&["x_validation", "cel", "rules"]),
            key(
                "x_int_or_string",
                Shape::Flag,
                "+kubebuilder:validation:XIntOrString",
                "An integer or a string",
                "x_int_or_string",
            )
            .also(&["int_or_string"]),
            key(
                "x_embedded_resource",
                Shape::Flag,
                "+kubebuilder:validation:XEmbeddedResource",
                "A complete object with apiVersion, kind and metadata",
                "x_embedded_resource",
            ),
            key(
                "x_preserve_unknown_fields",
                Shape::Flag,
                "+kubebuilder:validation:XPreserveUnknownFields",
                "Fields that the schema does not name are kept",
                "x_preserve_unknown_fields",
            ),
            key(
                "items",
                Shape::Nested(&ITEMS),
                "+kubebuilder:validation:items:*",
                "Constraints of the items of a list; nests for lists of lists",
                "items(min_length = 1)",
            ),
            $($extra,)*
        ]
    };
}

static ITEMS: [KeySpec; 21] = constraints![];

static VALIDATION: [KeySpec; 23] = constraints![
    key("required", Shape::Flag, "+kubebuilder:validation:Required", "The field must be given", "required")
        .on(Places::FIELD),
    key("optional", Shape::Flag, "+kubebuilder:validation:Optional", "The field may be left out", "optional")
        .on(Places::FIELD),
];

static RULE: &[KeySpec] = &[
    key(
        "rule",
        Shape::String,
        "rule",
        "The CEL expression; true means valid",
        r#"rule = "self.min <= self.max""#,
    )
    .required(),
    key(
        "message",
        Shape::String,
        "message",
        "What is said when the rule fails",
        r#"message = "min exceeds max""#,
    ),
    key(
        "message_expression",
        Shape::String,
        "messageExpression",
        "CEL expression that makes the message",
        r#"message_expression = "'min is ' + string(self.min)""#,
    ),
    key(
        "reason",
        Shape::OneOf(RULE_REASONS),
        "reason",
        "Reason in the API server's answer",
        r#"reason = "FieldValueForbidden""#,
    ),
    key(
        "field_path",
        Shape::String,
        "fieldPath",
        "Field that the message points at",
        r#"field_path = ".min""#,
    ),
    key(
        "optional_old_self",
        Shape::Flag,
        "optionalOldSelf",
        "The rule also runs on creation, with oldSelf as an optional",
        "optional_old_self",
    ),
];

static SCHEMA: &[KeySpec] = &[
    key(
        "default",
        Shape::Json,
        "+kubebuilder:default",
        "Value that the API server fills in; written like JSON",
        r#"default = {"size": 3, "tags": ["a"]}"#,
    )
    .on(Places::FIELD),
    key("example", Shape::Json, "+kubebuilder:example", "An example value", r#"example = "10.0.0.1""#)
        .on(Places::FIELD)
        .also(&["examples"]),
    key("title", Shape::String, "+kubebuilder:title", "Title", r#"title = "Block size""#),
    key(
        "external_docs",
        Shape::Nested(EXTERNAL_DOCS),
        "+kubebuilder:externalDocs",
        "Further documentation",
        r#"external_docs(url = "https://example.com/docs", description = "the manual")"#,
    ),
    key("nullable", Shape::Flag, "+nullable", "null is a value", "nullable").on(Places::FIELD),
    key(
        "list_type",
        Shape::OneOf(&["atomic", "set", "map"]),
        "+listType",
        "How server-side apply merges a list",
        r#"list_type = "map""#,
    ),
    key(
        "list_map_key",
        Shape::Strings,
        "+listMapKey",
        "JSON names of the fields that identify an item of a list of type map",
        r#"list_map_key = "name""#,
    )
    .repeatable()
    .also(&["list_map_keys"]),
    key(
        "map_type",
        Shape::OneOf(&["granular", "atomic"]),
        "+mapType",
        "How server-side apply merges a map",
        r#"map_type = "atomic""#,
    ),
    key(
        "struct_type",
        Shape::OneOf(&["granular", "atomic"]),
        "+structType",
        "How server-side apply merges a struct",
        r#"struct_type = "atomic""#,
    ),
    key(
        "preserve_unknown_fields",
        Shape::Flag,
        "+kubebuilder:pruning:PreserveUnknownFields",
        "Fields that the schema does not name are kept",
        "preserve_unknown_fields",
    ),
    key(
        "embedded_resource",
        Shape::Flag,
        "+kubebuilder:validation:EmbeddedResource",
        "A complete object with apiVersion, kind and metadata",
        "embedded_resource",
    )
    .on(Places::FIELD),
    key(
        "schemaless",
        Shape::Flag,
        "+kubebuilder:validation:Schemaless",
        "No schema follows from the Rust type; only what the attributes say",
        "schemaless",
    )
    .on(Places::FIELD),
    key("immutable", Shape::Flag, "+k8s:immutable", "The value cannot be changed once set", "immutable")
        .on(Places::FIELD),
    key("required", Shape::Flag, "+required, +k8s:required", "The field must be given", "required")
        .on(Places::FIELD),
    key("optional", Shape::Flag, "+optional, +k8s:optional", "The field may be left out", "optional")
        .on(Places::FIELD),
];

static EXTERNAL_DOCS: &[KeySpec] = &[
    key("url", Shape::String, "url", "Where it is", r#"url = "https://example.com/docs""#).required(),
    key("description", Shape::String, "description", "What it is", r#"description = "the manual""#),
];
