//! Rules between constraints, and between constraints and the type they stand on.

use proc_macro2::Span;

use super::{Constraints, Rule, SchemaAttrs, SchemaType, TypeShape, check_simple_path};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Json, Number, Spanned};

/// Checks the constraints of a type, field or list item whose type has this shape.
///
/// A shape that the syntax does not show is taken to fit.
pub fn check_constraints(constraints: &Constraints, shape: &TypeShape, diagnostics: &mut Diagnostics) {
    let shape = effective_shape(constraints, shape);
    fit(constraints, &shape, diagnostics);
    integral_bounds(constraints, &shape, diagnostics);
    bounds(constraints, diagnostics);
    exclusive(constraints, diagnostics);
    multiple_of(constraints, diagnostics);
    pattern(constraints, diagnostics);
    enum_values(constraints, &shape, diagnostics);
    for rule in &constraints.rules {
        check_rule(rule, diagnostics);
    }
    if let Some(items) = &constraints.items {
        let item_shape = match shape {
            TypeShape::Array(item) => *item,
            _ => TypeShape::Unknown,
        };
        check_constraints(&items.value, &item_shape, diagnostics);
    }
}

/// The shape in the schema: an explicit `type` wins over the Rust type.
fn effective_shape(constraints: &Constraints, shape: &TypeShape) -> TypeShape {
    if constraints.x_int_or_string.is_some() {
        return TypeShape::Unknown;
    }
    let Some(explicit) = &constraints.schema_type else { return shape.clone() };
    match (explicit.value, shape) {
        (SchemaType::Array, TypeShape::Array(_)) | (SchemaType::Object, TypeShape::Map(_)) => shape.clone(),
        (SchemaType::Array, _) => TypeShape::Array(Box::new(TypeShape::Unknown)),
        (SchemaType::Object, _) => TypeShape::Object,
        (SchemaType::String, _) => TypeShape::String,
        (SchemaType::Integer, _) => TypeShape::Integer,
        (SchemaType::Number, _) => TypeShape::Number,
        (SchemaType::Boolean, _) => TypeShape::Boolean,
    }
}

/// The values that a group of keys constrains.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Numbers,
    Strings,
    Lists,
    Maps,
}

impl Target {
    fn fits(self, shape: &TypeShape) -> bool {
        matches!(
            (self, shape),
            (_, TypeShape::Unknown)
                | (Self::Numbers, TypeShape::Integer | TypeShape::Number)
                | (Self::Strings, TypeShape::String)
                | (Self::Lists, TypeShape::Array(_))
                | (Self::Maps, TypeShape::Map(_) | TypeShape::Object)
        )
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Numbers => "numbers",
            Self::Strings => "strings",
            Self::Lists => "lists",
            Self::Maps => "maps and structs",
        }
    }
}

/// The key of the same meaning for values of that shape.
fn counterpart(key: &str, shape: &TypeShape) -> Option<String> {
    let bound = if key.starts_with("min") { "min" } else { "max" };
    let name = match shape {
        TypeShape::Integer | TypeShape::Number => format!("{bound}imum"),
        TypeShape::String => format!("{bound}_length"),
        TypeShape::Array(_) => format!("{bound}_items"),
        TypeShape::Map(_) | TypeShape::Object => format!("{bound}_properties"),
        TypeShape::Boolean | TypeShape::Unknown => return None,
    };
    let is_bound = key.starts_with("min") || key.starts_with("max");
    (is_bound && name != key).then_some(name)
}

fn misfit(key: &str, target: Target, shape: &TypeShape, span: Span) -> Diagnostic {
    let message = format!("`{key}` is for {}, but the type is {}", target.describe(), shape.describe());
    let item_fits =
        matches!(shape, TypeShape::Array(item) if target.fits(item) && **item != TypeShape::Unknown);
    let help = if item_fits {
        format!("for the items of the list, write items({key} ...)")
    } else if let Some(other) = counterpart(key, shape) {
        format!("did you mean `{other}`?")
    } else {
        "remove it, or put it where such a value is".to_owned()
    };
    Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, span, message).help(help)
}

/// Every key stands on a type that it can constrain.
fn fit(c: &Constraints, shape: &TypeShape, diagnostics: &mut Diagnostics) {
    fn at<T>(value: &Option<Spanned<T>>) -> Option<Span> {
        value.as_ref().map(|value| value.span)
    }
    let keys = [
        ("minimum", Target::Numbers, at(&c.minimum)),
        ("maximum", Target::Numbers, at(&c.maximum)),
        ("exclusive_minimum", Target::Numbers, c.exclusive_minimum),
        ("exclusive_maximum", Target::Numbers, c.exclusive_maximum),
        ("multiple_of", Target::Numbers, at(&c.multiple_of)),
        ("min_length", Target::Strings, at(&c.min_length)),
        ("max_length", Target::Strings, at(&c.max_length)),
        ("pattern", Target::Strings, at(&c.pattern)),
        ("min_items", Target::Lists, at(&c.min_items)),
        ("max_items", Target::Lists, at(&c.max_items)),
        ("unique_items", Target::Lists, c.unique_items),
        ("items", Target::Lists, at(&c.items)),
        ("min_properties", Target::Maps, at(&c.min_properties)),
        ("max_properties", Target::Maps, at(&c.max_properties)),
        ("x_embedded_resource", Target::Maps, c.x_embedded_resource),
        ("x_preserve_unknown_fields", Target::Maps, c.x_preserve_unknown_fields),
    ];
    for (key, target, span) in keys {
        if let Some(span) = span.filter(|_| !target.fits(shape)) {
            diagnostics.push(misfit(key, target, shape, span));
        }
    }
}

/// Bounds of integers are integers.
fn integral_bounds(c: &Constraints, shape: &TypeShape, diagnostics: &mut Diagnostics) {
    if *shape != TypeShape::Integer {
        return;
    }
    for (key, bound) in [("minimum", &c.minimum), ("maximum", &c.maximum), ("multiple_of", &c.multiple_of)] {
        if let Some(bound) = bound.as_ref().filter(|bound| !bound.value.is_integral()) {
            let message = format!("`{key} = {}` is not an integer, but the type is", bound.value);
            let help = format!("write {key} = {}", bound.value.as_f64().round());
            diagnostics.push(Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, bound.span, message).help(help));
        }
    }
}

/// Lower bounds do not exceed upper ones.
fn bounds(c: &Constraints, diagnostics: &mut Diagnostics) {
    let numbers = (c.minimum.as_ref(), c.maximum.as_ref());
    if let (Some(low), Some(high)) = numbers {
        let (a, b) = (low.value.as_f64(), high.value.as_f64());
        let strict = c.exclusive_minimum.is_some() || c.exclusive_maximum.is_some();
        #[allow(clippy::float_cmp, reason = "both come from literals")]
        if a > b || (strict && a == b) {
            reversed("minimum", &low.map_text(), "maximum", &high.map_text(), diagnostics);
        }
    }
    for (low_key, low, high_key, high) in [
        ("min_length", &c.min_length, "max_length", &c.max_length),
        ("min_items", &c.min_items, "max_items", &c.max_items),
        ("min_properties", &c.min_properties, "max_properties", &c.max_properties),
    ] {
        if let (Some(low), Some(high)) = (low, high)
            && low.value > high.value
        {
            reversed(low_key, &low.map_text(), high_key, &high.map_text(), diagnostics);
        }
    }
}

trait MapText {
    fn map_text(&self) -> Spanned<String>;
}

impl<T: ToString> MapText for Spanned<T> {
    fn map_text(&self) -> Spanned<String> {
        Spanned::new(self.value.to_string(), self.span)
    }
}

fn reversed(
    low_key: &str,
    low: &Spanned<String>,
    high_key: &str,
    high: &Spanned<String>,
    out: &mut Diagnostics,
) {
    let message =
        format!("no value is allowed: `{low_key}` is {}, `{high_key}` is {}", low.value, high.value);
    out.push(
        Diagnostic::error(Code::BOUNDS, low.span, message)
            .secondary(high.span, "the upper bound")
            .help(format!("`{low_key}` must not exceed `{high_key}`")),
    );
}

/// Exclusive bounds have a bound.
fn exclusive(c: &Constraints, diagnostics: &mut Diagnostics) {
    for (key, given, bound, present) in [
        ("exclusive_minimum", c.exclusive_minimum, "minimum", c.minimum.is_some()),
        ("exclusive_maximum", c.exclusive_maximum, "maximum", c.maximum.is_some()),
    ] {
        if let Some(span) = given.filter(|_| !present) {
            let message = format!("`{key}` has no effect without `{bound}`");
            let help = format!("add {bound} = ..., which is then itself not allowed");
            diagnostics.push(Diagnostic::error(Code::EXCLUSIVE_WITHOUT_BOUND, span, message).help(help));
        }
    }
}

fn multiple_of(c: &Constraints, diagnostics: &mut Diagnostics) {
    if let Some(factor) = c.multiple_of.as_ref().filter(|factor| factor.value.as_f64() <= 0.0) {
        let message = format!("`multiple_of = {}` is not positive", factor.value);
        let help = "write a number above zero";
        diagnostics.push(Diagnostic::error(Code::INVALID_MULTIPLE_OF, factor.span, message).help(help));
    }
}

fn pattern(c: &Constraints, diagnostics: &mut Diagnostics) {
    if let Some(pattern) = &c.pattern
        && let Err(error) = kubesmith_goregex::check(&pattern.value)
    {
        let message = format!("invalid pattern: {}: `{}`", error.code, error.expression);
        let help = "API servers compile patterns with RE2: https://github.com/google/re2/wiki/Syntax";
        diagnostics.push(Diagnostic::error(Code::INVALID_PATTERN, pattern.span, message).help(help));
    }
}

/// Allowed values differ and are of the field's type.
fn enum_values(c: &Constraints, shape: &TypeShape, diagnostics: &mut Diagnostics) {
    for (at, value) in c.enum_values.iter().enumerate() {
        if let Some(first) = c.enum_values[..at].iter().find(|other| *other == value) {
            let message = format!("the value {} is given twice", value.value);
            let diagnostic = Diagnostic::error(Code::INVALID_ENUM, value.span, message);
            diagnostics.push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
        }
        if value.value != Json::Null
            && let Some((found, shape)) = mismatch(&value.value, shape)
        {
            let message =
                format!("the value {found} is {}, but the type is {}", found.describe(), shape.describe());
            let help = shape_hint(shape);
            diagnostics.push(Diagnostic::error(Code::INVALID_ENUM, value.span, message).help(help));
        }
    }
}

/// The innermost value that is not of its type, with that type.
fn mismatch<'a>(value: &'a Json, shape: &'a TypeShape) -> Option<(&'a Json, &'a TypeShape)> {
    match (shape, value) {
        (TypeShape::Unknown, _)
        | (TypeShape::String, Json::String(_))
        | (TypeShape::Number, Json::Number(_))
        | (TypeShape::Boolean, Json::Bool(_))
        | (TypeShape::Object, Json::Object(_)) => None,
        (TypeShape::Integer, Json::Number(n)) if n.is_integral() => None,
        (TypeShape::Array(item), Json::Array(values)) => {
            values.iter().find_map(|value| mismatch(value, item))
        }
        (TypeShape::Map(entry), Json::Object(members)) => {
            members.iter().find_map(|(_, value)| mismatch(value, entry))
        }
        _ => Some((value, shape)),
    }
}

fn shape_hint(shape: &TypeShape) -> &'static str {
    match shape {
        TypeShape::String => "write it as a string, in quotes",
        TypeShape::Integer => "write an integer, without quotes and fraction",
        TypeShape::Number => "write a number, without quotes",
        TypeShape::Boolean => "write true or false",
        TypeShape::Array(_) => "write a list: [...]",
        TypeShape::Map(_) | TypeShape::Object => "write an object: {...}",
        TypeShape::Unknown => "write a value of the type",
    }
}

/// The rules of the API server for an entry of `x-kubernetes-validations`, without compiling CEL.
fn check_rule(rule: &Rule, diagnostics: &mut Diagnostics) {
    let mut error = |span, message: String, help: &str| {
        diagnostics.push(Diagnostic::error(Code::INVALID_RULE, span, message).help(help));
    };
    if let Some(cel) = &rule.rule {
        if cel.value.trim().is_empty() {
            error(
                cel.span,
                "the rule is blank".into(),
                "write a CEL expression: rule = \"self.min <= self.max\"",
            );
        } else if cel.value.trim().contains(['\n', '\r']) && rule.message.is_none() {
            let message = "a rule of several lines needs a `message`".into();
            error(
                cel.span,
                message,
                "API servers repeat one-line rules in their answer, but not these; add message = \"...\"",
            );
        }
    }
    // Breaks around the words do not count.
    if let Some(message) = rule.message.as_ref().filter(|m| m.value.trim().contains(['\n', '\r'])) {
        error(message.span, "the message contains a line break".into(), "API servers accept one line only");
    }
    if let Some(message) = rule.message.as_ref().filter(|m| m.value.trim().is_empty()) {
        error(message.span, "the message is blank".into(), "say what is wrong, or leave the key out");
    }
    if let Some(path) = &rule.field_path {
        // The path of a child is written like `.child` or `['child']`, without list indices.
        let plain = path.value.starts_with("['") && path.value.ends_with("']");
        if let Err(reason) = check_simple_path(&path.value)
            && !plain
        {
            let message = format!("invalid field path {:?}: {reason}", path.value);
            error(path.span, message, "paths of rules look like this: \".spec.min\" or \"['min-size']\"");
        }
    }
}

/// Checks that a default satisfies the schema that the attributes and the visible type give.
pub fn check_default(
    schema: &SchemaAttrs,
    constraints: &Constraints,
    shape: &TypeShape,
    diagnostics: &mut Diagnostics,
) {
    let Some(default) = &schema.default else { return };
    let shape = effective_shape(constraints, shape);
    let span = default.span;
    let mut error = |message: String, help: String| {
        diagnostics.push(Diagnostic::error(Code::INVALID_DEFAULT, span, message).help(help));
    };
    if default.value == Json::Null {
        if schema.nullable.is_none() {
            error(
                "the default is null, but the field is not nullable".into(),
                "add `nullable`, or another default".into(),
            );
        }
        return;
    }
    if let Some((found, expected)) = mismatch(&default.value, &shape) {
        let what = if *found == default.value {
            "the default".to_owned()
        } else {
            format!("{found} in the default")
        };
        let message = format!("{what} is {}, but the type is {}", found.describe(), expected.describe());
        return error(message, shape_hint(expected).into());
    }
    if let Some(reason) = violation(&default.value, constraints) {
        error(
            format!("the default {} is refused by {reason}", default.value),
            "choose a default that is allowed".into(),
        );
    }
}

/// The constraint that a value breaks.
fn violation(value: &Json, c: &Constraints) -> Option<String> {
    if !c.enum_values.is_empty() && !c.enum_values.iter().any(|allowed| allowed.value == *value) {
        return Some("`enum`".to_owned());
    }
    match value {
        Json::Number(number) => number_violation(*number, c),
        Json::String(text) => {
            let length = text.chars().count() as u64;
            outside(length, c.min_length.as_ref(), c.max_length.as_ref(), "length")
        }
        Json::Array(items) => {
            outside(items.len() as u64, c.min_items.as_ref(), c.max_items.as_ref(), "items")
        }
        Json::Object(members) => {
            outside(members.len() as u64, c.min_properties.as_ref(), c.max_properties.as_ref(), "properties")
        }
        Json::Null | Json::Bool(_) | Json::Empty => None,
    }
}

fn number_violation(number: Number, c: &Constraints) -> Option<String> {
    let value = number.as_f64();
    let low = c.minimum.as_ref().map(|bound| bound.value);
    let high = c.maximum.as_ref().map(|bound| bound.value);
    if let Some(low) =
        low.filter(|low| value < low.as_f64() || (c.exclusive_minimum.is_some() && value <= low.as_f64()))
    {
        return Some(format!("`minimum = {low}`"));
    }
    if let Some(high) =
        high.filter(|high| value > high.as_f64() || (c.exclusive_maximum.is_some() && value >= high.as_f64()))
    {
        return Some(format!("`maximum = {high}`"));
    }
    None
}

fn outside(size: u64, low: Option<&Spanned<u64>>, high: Option<&Spanned<u64>>, what: &str) -> Option<String> {
    if let Some(low) = low.filter(|low| size < low.value) {
        return Some(format!("`min_{what} = {}`", low.value));
    }
    high.filter(|high| size > high.value).map(|high| format!("`max_{what} = {}`", high.value))
}
