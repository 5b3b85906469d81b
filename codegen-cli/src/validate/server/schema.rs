//! Reports schemas that are not structural, or contradict themselves.

use kubesmith_apiextensions::structural::{BadValue, Cause, Step};
use kubesmith_core::diag::Code;
use kubesmith_core::names::closest;
use serde_json::Value;

use super::site::Site;
use crate::diag::Diagnostic;

/// The wording of a cause: the keyword, a part of the server's message, the code, our message (`{}` is the
/// place) and the help.
type Wording = (&'static str, &'static str, Code, &'static str, &'static str);

const WORDINGS: &[Wording] = &[
    (
        "type",
        "must not be empty",
        Code::NOT_STRUCTURAL,
        "{} has no type in its schema",
        "say what it is with `#[validation(type = \"...\")]`, or let anything pass with `#[schema(preserve_unknown_fields)]`",
    ),
    (
        "type",
        "x-kubernetes-embedded-resource",
        Code::NOT_STRUCTURAL,
        "{} is an embedded resource but no object",
        "add `#[validation(type = \"object\")]`",
    ),
    (
        "items",
        "must be specified",
        Code::NOT_STRUCTURAL,
        "the list {} says nothing of its items",
        "say what they are with `#[validation(items(type = \"...\"))]`",
    ),
    (
        "uniqueItems",
        "",
        Code::NOT_STRUCTURAL,
        "{} has `unique_items`, which API servers refuse because comparing all items takes too long",
        "use `#[schema(list_type = \"set\")]`, which is checked as well",
    ),
    (
        "properties",
        "x-kubernetes-embedded-resource",
        Code::NOT_STRUCTURAL,
        "the embedded resource {} has no fields",
        "add `#[schema(preserve_unknown_fields)]`",
    ),
    (
        "nullable",
        "at the root",
        Code::NOT_STRUCTURAL,
        "the root of {} is nullable",
        "remove `nullable`; an object is never null",
    ),
    (
        "nullable",
        "x-kubernetes-list",
        Code::LIST_MAP_KEYS,
        "{} identifies an item of a list and is nullable",
        "remove `nullable`",
    ),
    (
        "x-kubernetes-map-type",
        "must be atomic as item",
        Code::NOT_STRUCTURAL,
        "{} would have to be compared as a whole to be an item of a set",
        "add `#[schema(struct_type = \"atomic\")]` to its type, or use `list_type = \"map\"` with a key",
    ),
    (
        "pattern",
        "must be a valid regular expression",
        Code::INVALID_PATTERN,
        "the pattern of {} does not compile",
        "API servers compile patterns with RE2: https://github.com/google/re2/wiki/Syntax",
    ),
];

/// A fault of the schema itself.
pub(super) fn refusal(site: &Site<'_>, cause: &Cause) -> Option<Diagnostic> {
    if let Some(diagnostic) = list_map(site, cause).or_else(|| at_root(site, cause)) {
        return Some(diagnostic);
    }
    let keyword = site.keyword();
    let known = |wording: &&Wording| wording.0 == keyword && cause.detail.contains(wording.1);
    let (_, _, code, message, help) = WORDINGS.iter().find(known)?;
    let diagnostic = Diagnostic::error(*code, site.loc(), message.replace("{}", &site.name())).help(*help);
    match cause.detail.strip_prefix("must be a valid regular expression, but isn't: ") {
        Some(reason) => Some(diagnostic.note(reason)),
        None => Some(diagnostic),
    }
}

/// A keyword that the root may not have with a status subresource. The server's message only lists the
/// allowed ones.
fn at_root(site: &Site<'_>, cause: &Cause) -> Option<Diagnostic> {
    let (allowed, _) = cause.detail.strip_prefix("only [")?.split_once("] fields are allowed at the root")?;
    let BadValue::Json(Value::Object(schema)) = &cause.value else { return None };
    let allowed: Vec<&str> = allowed.split(' ').collect();
    let keyword = schema.keys().find(|keyword| !allowed.contains(&go_name(keyword).as_str()))?;
    let loc = site.key_loc(&format!(".{keyword}")).or_else(|| site.definition());
    let kind = &site.resource.kind;
    let message = format!("`{keyword}` may not stand on {kind} itself, which has the status subresource");
    Some(
        Diagnostic::error(Code::NOT_STRUCTURAL, loc, message)
            .note("beside the fields of the root, API servers then accept only rules and documentation")
            .help("put it on the type of `spec`, or say it in a rule"),
    )
}

/// The name of a keyword in Go: `XMapType` for `x-kubernetes-map-type`.
fn go_name(keyword: &str) -> String {
    let (prefix, rest) = match keyword.strip_prefix("x-kubernetes-") {
        Some(rest) => ("X", rest),
        None => ("", keyword),
    };
    let words = rest.split('-').map(|word| {
        let mut chars = word.chars();
        chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<String>()
    });
    format!("{prefix}{}", words.collect::<String>())
}

/// Faults of the keys of a list of type map.
fn list_map(site: &Site<'_>, cause: &Cause) -> Option<Diagnostic> {
    if !cause.detail.contains("x-kubernetes-list-map-keys")
        && !cause.detail.contains("x-kubernetes-list-type is map")
        && !cause.detail.starts_with("entries must all be names")
    {
        return None;
    }
    let depth = site.steps.iter().rposition(|step| *step == Step::Items).unwrap_or(site.steps.len());
    let list = &site.steps[..depth];
    let node = site.root.at(list)?;
    let says = |key: &str, message: String| {
        Diagnostic::error(Code::LIST_MAP_KEYS, site.list_key(depth, key), message)
    };
    let fields = node.items.as_deref().filter(|items| !items.properties.is_empty());
    let Some(items) = fields else {
        let message =
            format!("{} is a list of type map, which needs items with named fields", site.name_of(list));
        return Some(
            says("", message)
                .help("use `list_type = \"set\"` for a list of scalars, or `list_type = \"atomic\"`"),
        );
    };
    if let Some(Step::Property(key)) = site.steps.get(depth + 1) {
        let problem = match site.keyword() {
            "default" => "is neither required nor has a default",
            "type" => "is not a scalar",
            _ => "is nullable",
        };
        let message = format!("the key `{key}` of the list {} {problem}", site.name_of(list));
        return Some(
            says(key, message)
                .secondary(site.definition(), "this field")
                .note("keys identify the items, so each item has them"),
        );
    }
    let missing = node.list_map_keys.iter().find(|key| !items.properties.contains_key(*key))?;
    let near = closest(missing, items.properties.keys().map(String::as_str));
    let message =
        format!("the items of {} have no field `{missing}`, which is a list map key", site.name_of(list));
    Some(
        says(missing, message)
            .note("keys are names in JSON, after serde's renaming")
            .help_opt(near.map(|near| format!("did you mean `{near}`?"))),
    )
}
