//! Keys of `#[validation]`. The table of keywords defines those of constraints.

use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Kind, RULE_REASONS};

use super::{KeySpec, Places, Shape, key};

/// The number of keywords with a key.
const CONSTRAINTS: usize = {
    let (mut count, mut at) = (0, 0);
    while at < KEYWORDS.len() {
        count += KEYWORDS[at].attribute.is_some() as usize;
        at += 1;
    }
    count
};

/// The keys of constraints, which fields, types and `items(...)` share.
static ITEMS: [KeySpec; CONSTRAINTS] = with_constraints(&[]);

pub(super) static VALIDATION: [KeySpec; CONSTRAINTS + PRESENCE.len()] = with_constraints(&PRESENCE);

/// The keys of constraints, followed by others.
const fn with_constraints<const N: usize>(others: &[KeySpec]) -> [KeySpec; N] {
    let mut out = [key("", Shape::Flag, &[], "", ""); N];
    let (mut next, mut at) = (0, 0);
    while at < KEYWORDS.len() {
        if let Some(spec) = constraint(&KEYWORDS[at]) {
            out[next] = spec;
            next += 1;
        }
        at += 1;
    }
    at = 0;
    while at < others.len() {
        out[next + at] = others[at];
        at += 1;
    }
    out
}

/// The key for a keyword.
const fn constraint(keyword: &Keyword) -> Option<KeySpec> {
    let Some(attribute) = keyword.attribute else { return None };
    let shape = match keyword.kind {
        Kind::Flag => Shape::Flag,
        Kind::Count => Shape::Unsigned,
        Kind::Number => Shape::Number,
        Kind::Values => Shape::Jsons,
        Kind::Schema => Shape::Nested(&ITEMS),
        Kind::Rules => Shape::Nested(RULE),
        _ if keyword.allowed.is_empty() => Shape::String,
        _ => Shape::OneOf(keyword.allowed),
    };
    let spec = key(attribute.name, shape, attribute.markers, attribute.doc, attribute.example);
    let spec = spec.also(attribute.also);
    Some(if matches!(keyword.kind, Kind::Rules) { spec.repeatable() } else { spec })
}

/// Keys for rules and for the presence of a field.
const PRESENCE: [KeySpec; 5] = [
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
    key("required", Shape::Flag, &["kubebuilder:validation:Required"], "The field must be given", "required")
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

const RULE: &[KeySpec] = &[
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
        "Message when the rule fails",
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
