//! Keys of `#[validation]`.

use super::{KeySpec, Places, RULE_REASONS, SCHEMA_TYPES, Shape, key};

/// The constraints, shared by fields, types and `items(...)`.
macro_rules! constraints {
    ($($extra:expr),* $(,)?) => {
        [
            key("minimum", Shape::Number, &["kubebuilder:validation:Minimum"], "Least number", "minimum = 1")
                .also(&["min"]),
            key("maximum", Shape::Number, &["kubebuilder:validation:Maximum"], "Greatest number", "maximum = 99.5")
                .also(&["max"]),
            key(
                "exclusive_minimum",
                Shape::Flag,
                &["kubebuilder:validation:ExclusiveMinimum"],
                "The minimum itself is not allowed",
                "exclusive_minimum",
            ),
            key(
                "exclusive_maximum",
                Shape::Flag,
                &["kubebuilder:validation:ExclusiveMaximum"],
                "The maximum itself is not allowed",
                "exclusive_maximum",
            ),
            key(
                "multiple_of",
                Shape::Number,
                &["kubebuilder:validation:MultipleOf"],
                "Only multiples of this number",
                "multiple_of = 3",
            ),
            key("min_length", Shape::Unsigned, &["kubebuilder:validation:MinLength"], "Least characters", "min_length = 1"),
            key("max_length", Shape::Unsigned, &["kubebuilder:validation:MaxLength"], "Most characters", "max_length = 63"),
            key(
                "pattern",
                Shape::String,
                &["kubebuilder:validation:Pattern"],
                "Regular expression (RE2) that the text must contain a match of",
                r#"pattern = "^[a-z]+$""#,
            )
            .also(&["regex"]),
            key(
                "format",
                Shape::String,
                &["kubebuilder:validation:Format"],
                "Format, such as date-time, ipv4 or uuid",
                r#"format = "ipv4""#,
            ),
            key("min_items", Shape::Unsigned, &["kubebuilder:validation:MinItems"], "Least items", "min_items = 1"),
            key("max_items", Shape::Unsigned, &["kubebuilder:validation:MaxItems"], "Most items", "max_items = 10"),
            key(
                "unique_items",
                Shape::Flag,
                &["kubebuilder:validation:UniqueItems"],
                "Items differ (API servers refuse it in CRDs; prefer list_type = \"set\")",
                "unique_items",
            ),
            key(
                "min_properties",
                Shape::Unsigned,
                &["kubebuilder:validation:MinProperties"],
                "Least entries of a map or struct",
                "min_properties = 1",
            ),
            key(
                "max_properties",
                Shape::Unsigned,
                &["kubebuilder:validation:MaxProperties"],
                "Most entries of a map or struct",
                "max_properties = 8",
            ),
            key(
                "enum",
                Shape::Jsons,
                &["kubebuilder:validation:Enum"],
                "The allowed values",
                r#"enum("TCP", "UDP")"#,
            )
            .also(&["one_of", "values"]),
            key(
                "type",
                Shape::OneOf(SCHEMA_TYPES),
                &["kubebuilder:validation:Type"],
                "Type in the schema, instead of the one that follows from the Rust type",
                r#"type = "string""#,
            )
            .also(&["type_"]),
            key(
                "rule",
                Shape::Nested(RULE),
                &["kubebuilder:validation:XValidation"],
                "A CEL rule",
                r#"rule(rule = "self.min <= self.max", message = "min must not exceed max")"#,
            )
            .repeatable()
            .also(&["x_validation", "cel", "rules"]),
            key(
                "x_int_or_string",
                Shape::Flag,
                &["kubebuilder:validation:XIntOrString"],
                "An integer or a string",
                "x_int_or_string",
            )
            .also(&["int_or_string"]),
            key(
                "x_embedded_resource",
                Shape::Flag,
                &["kubebuilder:validation:XEmbeddedResource"],
                "A complete object with apiVersion, kind and metadata",
                "x_embedded_resource",
            ),
            key(
                "x_preserve_unknown_fields",
                Shape::Flag,
                &["kubebuilder:validation:XPreserveUnknownFields"],
                "Fields that the schema does not name are kept",
                "x_preserve_unknown_fields",
            ),
            key(
                "items",
                Shape::Nested(&ITEMS),
                &[],
                "Constraints of the items of a list; nests for lists of lists",
                "items(min_length = 1)",
            ),
            $($extra,)*
        ]
    };
}

static ITEMS: [KeySpec; 21] = constraints![];

pub(super) static VALIDATION: [KeySpec; 26] = constraints![
    key(
        "exactly_one_of",
        Shape::Strings,
        &["kubebuilder:validation:ExactlyOneOf"],
        "Exactly one of these fields, by their names in JSON, is set; becomes a CEL rule",
        r#"exactly_one_of("service", "url")"#,
    )
    .repeatable()
    .on(Places::TYPE),
    key(
        "at_most_one_of",
        Shape::Strings,
        &["kubebuilder:validation:AtMostOneOf"],
        "At most one of these fields is set; becomes a CEL rule",
        r#"at_most_one_of("header", "query")"#,
    )
    .repeatable()
    .on(Places::TYPE),
    key(
        "at_least_one_of",
        Shape::Strings,
        &["kubebuilder:validation:AtLeastOneOf"],
        "At least one of these fields is set; becomes a CEL rule",
        r#"at_least_one_of("host", "path")"#,
    )
    .repeatable()
    .on(Places::TYPE),
    key(
        "required",
        Shape::Flag,
        &["kubebuilder:validation:Required"],
        "The field must be given",
        "required",
    )
    .on(Places::FIELD),
    key(
        "optional",
        Shape::Flag,
        &["kubebuilder:validation:Optional"],
        "The field may be left out",
        "optional",
    )
    .on(Places::FIELD),
];

static RULE: &[KeySpec] = &[
    key(
        "rule",
        Shape::String,
        &["rule"],
        "The CEL expression; true means valid",
        r#"rule = "self.min <= self.max""#,
    )
    .required(),
    key(
        "message",
        Shape::String,
        &["message"],
        "What is said when the rule fails",
        r#"message = "min exceeds max""#,
    ),
    key(
        "message_expression",
        Shape::String,
        &["messageExpression"],
        "CEL expression that makes the message",
        r#"message_expression = "'min is ' + string(self.min)""#,
    ),
    key(
        "reason",
        Shape::OneOf(RULE_REASONS),
        &["reason"],
        "Reason in the API server's answer",
        r#"reason = "FieldValueForbidden""#,
    ),
    key(
        "field_path",
        Shape::String,
        &["fieldPath"],
        "Field that the message points at",
        r#"field_path = ".min""#,
    ),
    key(
        "optional_old_self",
        Shape::Bool,
        &["optionalOldSelf"],
        "The rule also runs on creation, with oldSelf as an optional",
        "optional_old_self",
    ),
];
