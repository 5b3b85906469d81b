//! Checks constraints against each other and against their type.

use kubesmith_apiextensions::schema::{KEYWORDS, Keyword, Limit, Measure, Number, Rule, Schema, Values};
use proc_macro2::Span;
use serde_json::Value;

use super::validation::Places;
use super::{Constraints, SchemaAttrs, TypeShape, check_simple_path};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::Json;

/// Checks the constraints of a type, field or list item whose type has this shape.
///
/// An unknown shape is accepted.
pub fn check_constraints(constraints: &Constraints, shape: &TypeShape, diagnostics: &mut Diagnostics) {
    Check { schema: &constraints.schema, places: &constraints.places, prefix: "" }.run(shape, diagnostics);
}

/// The constraints of one value, at the places whose names begin with the prefix.
#[derive(Clone, Copy)]
struct Check<'a> {
    schema: &'a Schema,
    places: &'a Places,
    prefix: &'a str,
}

impl Check<'_> {
    fn run(self, shape: &TypeShape, diagnostics: &mut Diagnostics) {
        let shape = effective_shape(self.schema, shape);
        self.fit(&shape, diagnostics);
        self.integral_bounds(&shape, diagnostics);
        self.bounds(diagnostics);
        self.exclusive(diagnostics);
        self.multiple_of(diagnostics);
        self.pattern(diagnostics);
        self.enum_values(&shape, diagnostics);
        for (at, rule) in self.schema.validations.iter().enumerate() {
            self.rule(rule, &format!("x-kubernetes-validations[{at}]"), diagnostics);
        }
        if let Some(items) = &self.schema.items {
            let item_shape = match shape {
                TypeShape::Array(item) => *item,
                _ => TypeShape::Unknown,
            };
            let prefix = format!("{}items.", self.prefix);
            Check { schema: items, prefix: &prefix, ..self }.run(&item_shape, diagnostics);
        }
    }

    /// The place of a keyword or of a part of its value.
    fn at(self, name: &str) -> Option<Span> {
        self.places.get(&format!("{}{name}", self.prefix)).copied()
    }
}

/// The shape in the schema: an explicit `type` takes precedence over the Rust type.
fn effective_shape(schema: &Schema, shape: &TypeShape) -> TypeShape {
    if schema.int_or_string {
        return TypeShape::Unknown;
    }
    match (schema.type_name(), shape) {
        ("array", TypeShape::Array(_)) | ("object", TypeShape::Map(_)) => shape.clone(),
        ("array", _) => TypeShape::Array(Box::new(TypeShape::Unknown)),
        ("object", _) => TypeShape::Object,
        ("string", _) => TypeShape::String,
        ("integer", _) => TypeShape::Integer,
        ("number", _) => TypeShape::Number,
        ("boolean", _) => TypeShape::Boolean,
        _ => shape.clone(),
    }
}

/// Whether a keyword for these values restricts values of this shape.
fn fits(values: Values, shape: &TypeShape) -> bool {
    matches!(
        (values, shape),
        (_, TypeShape::Unknown)
            | (Values::Numbers, TypeShape::Integer | TypeShape::Number)
            | (Values::Strings, TypeShape::String)
            | (Values::Lists, TypeShape::Array(_))
            | (Values::Objects, TypeShape::Map(_) | TypeShape::Object)
    )
}

/// The equivalent key for values of this shape.
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

fn misfit(key: &str, values: Values, shape: &TypeShape, span: Span) -> Diagnostic {
    let message = format!("`{key}` is for {}, but the type is {}", values.describe(), shape.describe());
    let item_fits =
        matches!(shape, TypeShape::Array(item) if fits(values, item) && **item != TypeShape::Unknown);
    let help = if item_fits {
        format!("for the items of the list, write items({key} ...)")
    } else if let Some(other) = counterpart(key, shape) {
        format!("did you mean `{other}`?")
    } else {
        "remove it, or put it where such a value is".to_owned()
    };
    Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, span, message).help(help)
}

/// The key of a keyword in attributes.
fn key(keyword: &Keyword) -> &'static str {
    keyword.attribute.map_or("", |attribute| attribute.name)
}

impl Check<'_> {
    /// Checks that every key can constrain the type.
    fn fit(self, shape: &TypeShape, diagnostics: &mut Diagnostics) {
        for keyword in KEYWORDS.iter().filter(|keyword| keyword.is_set(self.schema)) {
            if let (Some(values), Some(span)) = (keyword.of, self.at(keyword.name))
                && !fits(values, shape)
            {
                diagnostics.push(misfit(key(keyword), values, shape, span));
            }
        }
    }

    /// Checks that bounds of integers are integers.
    fn integral_bounds(self, shape: &TypeShape, diagnostics: &mut Diagnostics) {
        if *shape != TypeShape::Integer {
            return;
        }
        let schema = self.schema;
        for (key, name, bound) in [
            ("minimum", "minimum", &schema.minimum),
            ("maximum", "maximum", &schema.maximum),
            ("multiple_of", "multipleOf", &schema.multiple_of),
        ] {
            if let (Some(bound), Some(span)) = (bound.as_ref().filter(|it| !it.is_whole()), self.at(name)) {
                let message = format!("`{key} = {bound}` is not an integer, but the type is");
                let help = format!("write {key} = {}", bound.float().round());
                diagnostics.push(Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, span, message).help(help));
            }
        }
    }

    /// Checks that lower bounds do not exceed upper ones.
    fn bounds(self, diagnostics: &mut Diagnostics) {
        let schema = self.schema;
        if let (Some(low), Some(high)) = (&schema.minimum, &schema.maximum) {
            let strict = schema.exclusive_minimum || schema.exclusive_maximum;
            if low.float() > high.float() || (strict && low == high) {
                let names = ["minimum", "maximum"];
                self.reversed(names, names, [low.plain().to_string(), high.plain().to_string()], diagnostics);
            }
        }
        for measure in [Measure::Characters, Measure::Items, Measure::Properties] {
            let given = |keyword: &'static Keyword| Some((keyword, keyword.count(schema)?));
            if let [(least, low), (most, high)] =
                Keyword::limits(measure).filter_map(given).collect::<Vec<_>>()[..]
                && low > high
            {
                let shown = [low.to_string(), high.to_string()];
                self.reversed([least.name, most.name], [key(least), key(most)], shown, diagnostics);
            }
        }
    }

    fn reversed(self, names: [&str; 2], keys: [&str; 2], shown: [String; 2], out: &mut Diagnostics) {
        let ([low_key, high_key], [low, high]) = (keys, shown);
        let [Some(span), Some(other)] = names.map(|name| self.at(name)) else { return };
        let message = format!("no value is allowed: `{low_key}` is {low}, `{high_key}` is {high}");
        out.push(
            Diagnostic::error(Code::BOUNDS, span, message)
                .secondary(other, "the upper bound")
                .help(format!("`{low_key}` must not exceed `{high_key}`")),
        );
    }

    /// Checks that exclusive bounds have a bound.
    fn exclusive(self, diagnostics: &mut Diagnostics) {
        for (key, name, bound) in [
            ("exclusive_minimum", "exclusiveMinimum", "minimum"),
            ("exclusive_maximum", "exclusiveMaximum", "maximum"),
        ] {
            if let (Some(span), None) = (self.at(name), self.at(bound)) {
                let message = format!("`{key}` has no effect without `{bound}`");
                let help = format!("add {bound} = ..., which is then itself not allowed");
                diagnostics.push(Diagnostic::error(Code::EXCLUSIVE_WITHOUT_BOUND, span, message).help(help));
            }
        }
    }

    fn multiple_of(self, diagnostics: &mut Diagnostics) {
        let factor = self.schema.multiple_of.as_ref().filter(|factor| factor.float() <= 0.0);
        if let (Some(factor), Some(span)) = (factor, self.at("multipleOf")) {
            let message = format!("`multiple_of = {}` is not positive", factor.plain());
            let help = "write a number above zero";
            diagnostics.push(Diagnostic::error(Code::INVALID_MULTIPLE_OF, span, message).help(help));
        }
    }

    fn pattern(self, diagnostics: &mut Diagnostics) {
        if let (Some(pattern), Some(span)) = (&self.schema.pattern, self.at("pattern"))
            && let Err(error) = kubesmith_goregex::check(pattern.source())
        {
            let message = format!("invalid pattern: {}: `{}`", error.code, error.expression);
            let looks_around = ["(?=", "(?!", "(?<"].iter().any(|start| error.expression.starts_with(start));
            let help = match looks_around {
                true => {
                    "API servers compile patterns with RE2, which has no look-around: write a rule, such as \
                     rule(rule = \"!self.startsWith('x')\")"
                }
                false => "API servers compile patterns with RE2: https://github.com/google/re2/wiki/Syntax",
            };
            diagnostics.push(Diagnostic::error(Code::INVALID_PATTERN, span, message).help(help));
        }
    }

    /// Checks that allowed values differ and have the field's type.
    fn enum_values(self, shape: &TypeShape, diagnostics: &mut Diagnostics) {
        let values = self.schema.allowed_values();
        for (at, value) in values.iter().enumerate() {
            let Some(span) = self.at(&format!("enum[{at}]")) else { continue };
            let first = values[..at].iter().position(|other| other == value);
            if let Some(first) = first.and_then(|first| self.at(&format!("enum[{first}]"))) {
                let message = format!("the value {value} is given twice");
                let diagnostic = Diagnostic::error(Code::INVALID_ENUM, span, message);
                diagnostics.push(diagnostic.secondary(first, "first given here").help("keep one of them"));
            }
            if !value.is_null()
                && let Some((found, shape)) = mismatch(value, shape)
            {
                let message =
                    format!("the value {found} is {}, but the type is {}", describe(found), shape.describe());
                diagnostics
                    .push(Diagnostic::error(Code::INVALID_ENUM, span, message).help(shape_hint(shape)));
            }
        }
    }
}

/// The kind of value in words, with an article.
fn describe(value: &Value) -> &'static str {
    Json::from_value(value).map_or("a number", |json| json.describe())
}

/// The innermost value of a wrong type, with the expected type.
fn mismatch<'a>(value: &'a Value, shape: &'a TypeShape) -> Option<(&'a Value, &'a TypeShape)> {
    match (shape, value) {
        (TypeShape::Unknown, _)
        | (TypeShape::String, Value::String(_))
        | (TypeShape::Number, Value::Number(_))
        | (TypeShape::Boolean, Value::Bool(_))
        | (TypeShape::Object, Value::Object(_)) => None,
        (TypeShape::Integer, Value::Number(n))
            if !n.is_f64() || n.as_f64().is_some_and(|n| n.fract() == 0.0) =>
        {
            None
        }
        (TypeShape::Array(item), Value::Array(values)) => {
            values.iter().find_map(|value| mismatch(value, item))
        }
        (TypeShape::Map(entry), Value::Object(members)) => {
            members.values().find_map(|value| mismatch(value, entry))
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

impl Check<'_> {
    /// Checks an entry of `x-kubernetes-validations` by the rules of the API server, without compiling CEL.
    fn rule(self, rule: &Rule, name: &str, diagnostics: &mut Diagnostics) {
        let mut error = |part: &str, message: String, help: &str| {
            if let Some(span) = self.at(&format!("{name}.{part}")) {
                diagnostics.push(Diagnostic::error(Code::INVALID_RULE, span, message).help(help));
            }
        };
        let cel = rule.rule.trim();
        if cel.is_empty() {
            let help = "write a CEL expression: rule = \"self.min <= self.max\"";
            error("rule", "the rule is blank".into(), help);
        } else if cel.contains(['\n', '\r']) && rule.message.is_none() {
            let message = "a rule of several lines needs a `message`".into();
            let help =
                "API servers repeat one-line rules in their answer, but not these; add message = \"...\"";
            error("rule", message, help);
        }
        if let Some(message) = rule.message.as_deref().map(str::trim) {
            // Surrounding line breaks are ignored.
            if message.contains(['\n', '\r']) {
                error(
                    "message",
                    "the message contains a line break".into(),
                    "API servers accept one line only",
                );
            }
            if message.is_empty() {
                error("message", "the message is blank".into(), "say what is wrong, or leave the key out");
            }
        }
        if let Some(path) = &rule.field_path {
            // The path of a child is written like `.child` or `['child']`, without list indices.
            let plain = path.starts_with("['") && path.ends_with("']");
            if let Err(reason) = check_simple_path(path)
                && !plain
            {
                let message = format!("invalid field path {path:?}: {reason}");
                let help = "paths of rules look like this: \".spec.min\" or \"['min-size']\"";
                error("fieldPath", message, help);
            }
        }
    }
}

/// Checks that a default satisfies the schema from the attributes and the visible type.
pub fn check_default(
    schema: &SchemaAttrs,
    constraints: &Constraints,
    shape: &TypeShape,
    diagnostics: &mut Diagnostics,
) {
    let Some(default) = &schema.default else { return };
    let shape = effective_shape(&constraints.schema, shape);
    let (value, span) = (default.value.to_value(), default.span);
    let mut error = |message: String, help: String| {
        diagnostics.push(Diagnostic::error(Code::INVALID_DEFAULT, span, message).help(help));
    };
    if value.is_null() {
        if !schema.facts.schema.nullable {
            error(
                "the default is null, but the field is not nullable".into(),
                "add `nullable`, or another default".into(),
            );
        }
        return;
    }
    if let Some((found, expected)) = mismatch(&value, &shape) {
        let what = if *found == value { "the default".to_owned() } else { format!("{found} in the default") };
        let message = format!("{what} is {}, but the type is {}", describe(found), expected.describe());
        return error(message, shape_hint(expected).into());
    }
    if let Some(reason) = violation(&value, &constraints.schema) {
        error(
            format!("the default {} is refused by {reason}", default.value),
            "choose a default that is allowed".into(),
        );
    }
}

/// The constraint that a value violates.
fn violation(value: &Value, schema: &Schema) -> Option<String> {
    let allowed = schema.allowed_values();
    if !allowed.is_empty() && !allowed.contains(value) {
        return Some("`enum`".to_owned());
    }
    let broken = |keyword: &Keyword| {
        let (limit, bound) = (keyword.limit?, keyword.count(schema)?);
        let size = i64::try_from(limit.measure().of(value)?).unwrap_or(i64::MAX);
        let is_broken = match limit {
            Limit::Least(_) => size < bound,
            Limit::Most(_) => size > bound,
        };
        is_broken.then(|| format!("`{} = {bound}`", key(keyword)))
    };
    let number = value.as_f64().and_then(|number| number_violation(number, schema));
    number.or_else(|| KEYWORDS.iter().find_map(broken))
}

fn number_violation(value: f64, schema: &Schema) -> Option<String> {
    let is_below = |low: &&Number| value < low.float() || (schema.exclusive_minimum && value <= low.float());
    let is_above =
        |high: &&Number| value > high.float() || (schema.exclusive_maximum && value >= high.float());
    if let Some(low) = schema.minimum.as_ref().filter(is_below) {
        return Some(format!("`minimum = {}`", low.plain()));
    }
    let high = schema.maximum.as_ref().filter(is_above)?;
    Some(format!("`maximum = {}`", high.plain()))
}
