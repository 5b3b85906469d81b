//! Keys of `#[schema]`.

use super::{KeySpec, Places, Shape, key};

pub(super) static SCHEMA: &[KeySpec] = &[
    key(
        "default",
        Shape::JsonOrRef,
        &["kubebuilder:default", "default"],
        "Value that the API server fills in; written like JSON, or the constant that has it",
        r#"default = {"size": 3, "tags": ["a"]}"#,
    )
    .on(Places::FIELD),
    key("example", Shape::Json, &["kubebuilder:example"], "An example value", r#"example = "10.0.0.1""#)
        .on(Places::FIELD)
        .also(&["examples"]),
    key(
        "description",
        Shape::String,
        &[],
        "Description, where the doc comment cannot give it",
        r#"description = "The first line.  The second.""#,
    ),
    key("title", Shape::String, &["kubebuilder:title"], "Title", r#"title = "Block size""#),
    key(
        "external_docs",
        Shape::Nested(EXTERNAL_DOCS),
        &["kubebuilder:externalDocs"],
        "Further documentation",
        r#"external_docs(url = "https://example.com/docs", description = "the manual")"#,
    ),
    key("nullable", Shape::Flag, &["nullable"], "null is a value", "nullable").on(Places::FIELD),
    key(
        "list_type",
        Shape::OneOf(&["atomic", "set", "map"]),
        &["listType", "k8s:listType"],
        "How server-side apply merges a list",
        r#"list_type = "map""#,
    ),
    key(
        "list_map_key",
        Shape::Strings,
        &["listMapKey", "k8s:listMapKey"],
        "JSON names of the fields that identify an item of a list of type map",
        r#"list_map_key = "name""#,
    )
    .repeatable()
    .also(&["list_map_keys"]),
    key(
        "map_type",
        Shape::OneOf(&["granular", "atomic"]),
        &["mapType"],
        "How server-side apply merges a map",
        r#"map_type = "atomic""#,
    ),
    key(
        "struct_type",
        Shape::OneOf(&["granular", "atomic"]),
        &["structType"],
        "How server-side apply merges a struct",
        r#"struct_type = "atomic""#,
    ),
    key(
        "preserve_unknown_fields",
        Shape::Flag,
        &["kubebuilder:pruning:PreserveUnknownFields"],
        "Fields that the schema does not name are kept",
        "preserve_unknown_fields",
    ),
    key(
        "embedded_resource",
        Shape::Flag,
        &["kubebuilder:validation:EmbeddedResource"],
        "A complete object with apiVersion, kind and metadata",
        "embedded_resource",
    )
    .on(Places::FIELD),
    key(
        "schemaless",
        Shape::Flag,
        &["kubebuilder:validation:Schemaless"],
        "No schema follows from the Rust type; only what the attributes say",
        "schemaless",
    )
    .on(Places::FIELD),
    key(
        "extra",
        Shape::Json,
        &[],
        "Parts of the schema that no other key says, as a CRD has them; with schemaless all of it",
        r#"extra = {"not": {"required": ["a", "b"]}}"#,
    ),
    key("immutable", Shape::Flag, &["k8s:immutable"], "The value cannot be changed once set", "immutable")
        .on(Places::FIELD),
    key("required", Shape::Flag, &["required", "k8s:required"], "The field must be given", "required")
        .on(Places::FIELD),
    key("optional", Shape::Flag, &["optional", "k8s:optional"], "The field may be left out", "optional")
        .on(Places::FIELD),
];

static EXTERNAL_DOCS: &[KeySpec] = &[
    key("url", Shape::String, &["url"], "Address", r#"url = "https://example.com/docs""#).required(),
    key("description", Shape::String, &["description"], "Description", r#"description = "the manual""#),
];
