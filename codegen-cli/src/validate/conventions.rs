//! Warns of violations of Kubernetes' API conventions, and of pitfalls for clients in Rust. [`crate::lints`]
//! has the levels.
//!
//! Source: <https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md>, and the checks of
//! crd-schema-checker and kube-api-linter that follow from it.

use heck::{ToLowerCamelCase, ToUpperCamelCase};
use kubesmith_apiextensions::structural;
use kubesmith_core::diag::Code;
use kubesmith_core::names::Kind;

use super::Input;
use super::numbers::range;
use crate::definition::path::values;
use crate::diag::Diagnostic;
use crate::ir::{Enum, Field, Ir, Resource, Shape, Span, Tagging, TypeDef, TypeRef};
use crate::schema::{Number, Schema, Schemas};
use crate::source::SourceMap;

/// The greatest integer up to which all JSON clients represent every integer exactly.
const SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// Warns about everything that breaks a convention.
pub fn conventions(ir: &Ir, schemas: &Schemas, sources: &SourceMap) -> Vec<Diagnostic> {
    let input = Input { ir, schemas, sources };
    let mut out = Vec::new();
    for (index, definition) in ir.types.iter().enumerate() {
        camel_case(&input, definition, &mut out);
        let Some(schema) = schemas.of_type(index) else { continue };
        for field in definition.shape.fields().filter(|field| !field.flatten) {
            if let Some(property) = schema.properties.get(&field.name) {
                check(&input, field, property, &mut out);
            }
        }
    }
    let versions = ir.groups.iter().flat_map(|group| &group.versions);
    for resource in versions.flat_map(|version| &version.resources).filter(|resource| !resource.crd.skipped) {
        kind(&input, resource, &mut out);
        status(&input, resource, &mut out);
    }
    out
}

/// Warns of kinds that are not upper camel case, which API servers accept.
fn kind(input: &Input<'_>, resource: &Resource, out: &mut Vec<Diagnostic>) {
    let Err(error) = Kind::of_type(&resource.kind) else { return };
    let loc = input.loc(resource.places.get("names.kind").unwrap_or(&resource.span));
    let message = format!("the kind `{}` is not in upper camel case: {}", resource.kind, error.reason);
    let better = error.suggestion.unwrap_or_else(|| resource.kind.to_upper_camel_case());
    let help = format!(
        "call it `{better}`, unless there are objects of it: the kind of a definition cannot be changed"
    );
    out.push(Diagnostic::warning(Code::NOT_CAMEL_CASE, loc, message).help(help));
}

/// Warns of names in JSON that are not lower camel case with letters and digits.
fn camel_case(input: &Input<'_>, definition: &TypeDef, out: &mut Vec<Diagnostic>) {
    let is_camel = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let wrong: Vec<(&str, &Span)> =
        field_names(&definition.shape).into_iter().filter(|(name, _)| !is_camel(name)).collect();
    let Some((first, span)) = wrong.first() else { return };
    let names: Vec<String> = wrong.iter().take(3).map(|(name, _)| format!("`{name}`")).collect();
    let more = if wrong.len() > 3 { format!(" and {} more", wrong.len() - 3) } else { String::new() };
    let (noun, verb) = if wrong.len() == 1 { ("name", "is") } else { ("names", "are") };
    let message = format!("the field {noun} {}{more} {verb} not camelCase in JSON", names.join(", "));
    // serde's rules apply to all fields; a name with other characters is intended.
    let plain = wrong.iter().all(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let help = if plain {
        "add `#[serde(rename_all = \"camelCase\")]` to the type; objects that are stored already keep the old names".to_string()
    } else {
        format!("add `#[serde(rename = \"{}\")]` to the field", first.to_lower_camel_case())
    };
    out.push(Diagnostic::warning(Code::NOT_CAMEL_CASE, input.loc(span), message).help(help));
}

/// The names in JSON of a definition's fields, with their locations.
fn field_names(shape: &Shape) -> Vec<(&str, &Span)> {
    match shape {
        Shape::Enum(Enum { tagging: Tagging::External, variants }) => {
            let fields = variants.iter().filter(|variant| variant.content.is_some() && !variant.untagged);
            fields.map(|variant| (variant.name.as_str(), &variant.span)).collect()
        }
        _ => {
            let fields = shape.fields().filter(|field| !field.flatten);
            fields.map(|field| (field.name.as_str(), &field.span)).collect()
        }
    }
}

/// A finding about a field: the code, the message and the advice.
type Finding = (Code, String, String);

/// A rule about a field and its schema.
type FieldRule = fn(&Ir, &Field, &Schema) -> Option<Finding>;

/// Every rule about fields.
const RULES: [FieldRule; 9] = [
    conditions,
    narrow_integer,
    std_duration,
    boolean,
    float,
    large_integer,
    map_of_objects,
    nullable,
    unbounded,
];

fn check(input: &Input<'_>, field: &Field, schema: &Schema, out: &mut Vec<Diagnostic>) {
    for (code, message, help) in RULES.iter().filter_map(|rule| rule(input.ir, field, schema)) {
        out.push(Diagnostic::warning(code, input.loc(&field.span), message).help(help));
    }
    keyword_out_of_range(input, field, schema, out);
}

/// Warns of bounds with which an API server refuses every number, in the field or its items.
fn keyword_out_of_range(input: &Input<'_>, field: &Field, schema: &Schema, out: &mut Vec<Diagnostic>) {
    let mut prefix = String::new();
    let mut next = Some(schema);
    while let Some(schema) = next {
        if let Some((keyword, bound)) = structural::keyword_out_of_range(schema) {
            let place = field.places.get(&format!("{prefix}{keyword}")).unwrap_or(&field.span);
            let message =
                format!("an API server refuses every number for `{}`: `{keyword}` is {bound}", field.name);
            let help = format!("remove `{keyword}`, or write a number that the type has");
            out.push(
                Diagnostic::warning(Code::KEYWORD_OUT_OF_RANGE, input.loc(place), message)
                    .note("it reads the bound as a float, whose digits are out of the range of the type")
                    .help(help),
            );
        }
        prefix.push_str("items.");
        next = schema.items.as_deref();
    }
}

fn has_type(schema: &Schema, name: &str) -> bool {
    schema.type_.as_deref() == Some(name)
}

/// Requires that lists of items with a type and a status are merged by type.
fn conditions(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    let items = schema.items.as_deref().filter(|_| field.name == "conditions")?;
    let is_condition = ["type", "status"].iter().all(|name| items.properties.contains_key(*name));
    let is_keyed = schema.list_type.as_deref() == Some("map") && schema.list_map_keys == ["type"];
    (is_condition && !is_keyed).then(|| {
        let message = "`conditions` is not a list map with the key `type`, so that writers of different conditions overwrite each other";
        let help = "add `#[schema(list_type = \"map\", list_map_key = \"type\")]`";
        (Code::UNKEYED_CONDITIONS, message.to_string(), help.to_string())
    })
}

/// Requires that Rust can read every integer that a server accepts.
fn narrow_integer(ir: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    let (ty, bounds) = narrow(ir, &field.ty, schema)?;
    let message = format!("an API server accepts numbers for `{}` that {ty} does not hold", field.name);
    let help = format!("add {bounds}; a client cannot read an object with such a number, nor a list with it");
    Some((Code::NARROW_INTEGER, message, help))
}

/// Recommends the text that durations are in Kubernetes' APIs.
fn std_duration(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    let is_std = field.ty == TypeRef::Known("std::time::Duration".to_owned());
    (is_std && schema.properties.contains_key("nanos")).then(|| {
        let message =
            format!("`{}` is an object with `secs` and `nanos`, not a text such as `1h30m`", field.name);
        let help =
            "use `kube::core::Duration`, which `kubesmith_runtime::kube` has too: its JSON is such a text";
        (Code::STD_DURATION, message, help.to_string())
    })
}

fn boolean(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    has_type(schema, "boolean").then(|| {
        let message = format!("`{}` is a boolean, which can never have a third value", field.name);
        (Code::BOOLEAN, message, "use an enum of strings, whose names say what they mean".to_string())
    })
}

fn float(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    has_type(schema, "number").then(|| {
        let message =
            format!("`{}` is a floating point number, whose text differs between clients", field.name);
        (Code::FLOAT, message, "use an integer of a smaller unit, a string or a Quantity".to_string())
    })
}

/// Requires a bound on 64-bit integers in the range of JavaScript's numbers.
fn large_integer(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    let wide = ["i64", "u64", "isize", "usize"].map(|name| TypeRef::Known(name.to_string()));
    let maximum = schema.maximum.as_ref().and_then(|maximum| maximum.as_i64());
    (wide.contains(&field.ty) && maximum.is_none_or(|maximum| maximum > SAFE_INTEGER)).then(|| {
        let message = format!(
            "`{}` may be larger than 2^53, where JSON numbers of some clients lose digits",
            field.name
        );
        (
            Code::LARGE_INTEGER,
            message,
            format!("add `maximum = {SAFE_INTEGER}`, or use a string or a Quantity"),
        )
    })
}

fn map_of_objects(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    values(schema).filter(|values| has_type(values, "object")).map(|_| {
        let help =
            "use a list with a key: `Vec<...>` with `list_type = \"map\"` and `list_map_key = \"name\"`";
        (Code::MAP_OF_OBJECTS, format!("`{}` is a map of objects", field.name), help.to_string())
    })
}

fn nullable(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    schema.nullable.then(|| {
        let message = format!("`{}` may be null, which clients confuse with its absence", field.name);
        (
            Code::NULLABLE,
            message,
            "leave the field out instead: an optional field that is not nullable".to_string(),
        )
    })
}

/// Requires bounds on texts, lists and maps.
fn unbounded(_: &Ir, field: &Field, schema: &Schema) -> Option<Finding> {
    let key = match schema.type_.as_deref()? {
        "string" if schema.max_length.is_none() && schema.enum_.is_none() && schema.format.is_none() => {
            "max_length"
        }
        "array" if schema.max_items.is_none() => "max_items",
        "object" if values(schema).is_some() && schema.max_properties.is_none() => "max_properties",
        _ => return None,
    };
    let message = format!(
        "`{}` has no `{key}`, so that rules about it are estimated with the largest value of a request",
        field.name
    );
    Some((Code::UNBOUNDED, message, format!("add `{key}`")))
}

/// A Rust integer with a smaller range than the schema's, and the attribute that fixes it.
fn narrow<'a>(ir: &'a Ir, ty: &'a TypeRef, schema: &Schema) -> Option<(&'a str, String)> {
    match ty {
        TypeRef::Known(path) => {
            let name = path.rsplit("::").next().unwrap_or(path);
            let (least, greatest) = range(name)?;
            let missing = missing_bounds(schema, least, greatest);
            (!missing.is_empty()).then(|| (name, format!("`#[validation({})]`", missing.join(", "))))
        }
        TypeRef::List(item) | TypeRef::Array(item, _) => {
            let (name, bounds) = narrow(ir, item, schema.items.as_deref()?)?;
            Some((name, bounds.replace("validation(", "validation(items(").replace(")]", "))]")))
        }
        TypeRef::Named(id) => match &ir.types.get(id.0 as usize)?.shape {
            Shape::Newtype(inner) => narrow(ir, &inner.ty, schema),
            _ => None,
        },
        TypeRef::Nullable(inner) => narrow(ir, inner, schema),
        TypeRef::Map(_) | TypeRef::Tuple(_) | TypeRef::Unit | TypeRef::Opaque => None,
    }
}

/// The bounds that a schema needs to restrict values to a range.
fn missing_bounds(schema: &Schema, least: i128, greatest: i128) -> Vec<String> {
    let (format_least, format_greatest) = match schema.format.as_deref() {
        Some("int32") => (i32::MIN.into(), i32::MAX.into()),
        // An API server's integers have 64 bits.
        _ => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    if schema.type_.as_deref() != Some("integer") || schema.enum_.is_some() {
        return Vec::new();
    }
    let branches = || std::iter::once(schema).chain(&schema.all_of);
    let number = |number: &Number| number.as_i64().map(i128::from);
    let minimum =
        branches().filter_map(|s| s.minimum.as_ref().and_then(number)).max().unwrap_or(format_least);
    let maximum =
        branches().filter_map(|s| s.maximum.as_ref().and_then(number)).min().unwrap_or(format_greatest);
    let mut missing = Vec::new();
    if minimum.max(format_least) < least {
        missing.push(format!("minimum = {least}"));
    }
    if maximum.min(format_greatest) > greatest {
        missing.push(format!("maximum = {greatest}"));
    }
    missing
}

/// Requires that status is an optional field behind a subresource, as controllers write it after creation.
fn status(input: &Input<'_>, resource: &Resource, out: &mut Vec<Diagnostic>) {
    if !resource.has_status_field {
        return;
    }
    let root = input.ir.types.get(resource.root.0 as usize);
    let field = root.and_then(|root| root.shape.fields().find(|field| field.name == "status"));
    let loc = input.loc(field.map_or(&resource.span, |field| &field.span));
    if !resource.crd.status_subresource {
        let message = format!(
            "the status of {} is not a subresource, so a writer of the spec can also write the status",
            resource.kind
        );
        out.push(
            Diagnostic::warning(Code::STATUS_NOT_SUBRESOURCE, loc, message)
                .help("add `status` to #[resource]"),
        );
        return;
    }
    let required = input.schemas.of(resource).is_some_and(|schema| {
        schema.required.contains("status")
            && schema.properties.get("status").is_some_and(|status| status.default.is_none())
    });
    if required {
        let message = format!(
            "no {} can be created: its status is required, and an API server drops it from new objects",
            resource.kind
        );
        out.push(
            Diagnostic::warning(Code::STATUS_REQUIRED, loc, message)
                .help("make it optional: `Option<...>` or `#[serde(default)]`"),
        );
    }
}
