//! Validation of an object against a schema: the OpenAPI part, without CEL rules, list keys and embedded metadata.
//!
//! Order and texts are kube-apiserver's, which runs, per node: type, junctors, string, format, number, list, enum,
//! object. Fields of an object are visited by name. On update, faults of parts that equal the old object are let pass
//! (ratcheting), as far as old and new parts can be told to belong together.

use serde_json::{Map, Number, Value};

use super::cause::{Cause, CauseKind, NO_FIELD};
use super::{formats, golang, lists};
use crate::schema::{Additional, Keyword, Limit, ListType, Measure, Schema};

/// Validates an object that has no predecessor.
#[must_use]
pub fn validate(schema: &Schema, object: &Value) -> Vec<Cause> {
    validate_at("", schema, object, None)
}

/// Validates an object against its predecessor: what did not change is not held against it.
#[must_use]
pub fn validate_update(schema: &Schema, object: &Value, old: &Value) -> Vec<Cause> {
    validate_at("", schema, object, Some(old))
}

/// Validates a part of an object. Causes name fields below `path`, while their texts, as the server's, do not repeat it.
#[must_use]
pub fn validate_at(path: &str, schema: &Schema, value: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut causes = check(schema, "", value, old).causes;
    for cause in &mut causes {
        if let Some(rest) = cause.field.strip_prefix('.') {
            cause.field = rest.to_owned();
        }
        if !path.is_empty() {
            cause.field = match cause.field.as_str() {
                NO_FIELD => path.to_owned(),
                field => format!("{path}.{field}"),
            };
        }
    }
    causes
}

/// The faults of one node, and how many checks were fine: among alternatives that all fail, the server reports the one
/// with the most.
#[derive(Default)]
struct Outcome {
    causes: Vec<Cause>,
    fine: usize,
}

impl Outcome {
    fn fault(cause: Cause) -> Self {
        Self { causes: vec![cause], fine: 0 }
    }

    fn fine() -> Self {
        Self { causes: Vec::new(), fine: 1 }
    }

    fn add(&mut self, cause: Cause) {
        if !self.causes.contains(&cause) {
            self.causes.push(cause);
        }
    }

    fn merge(&mut self, other: Outcome) {
        self.fine += other.fine;
        for cause in other.causes {
            self.add(cause);
        }
    }

    fn step(&mut self, other: Outcome) {
        self.merge(other);
        self.fine += 1;
    }
}

fn check(schema: &Schema, path: &str, value: &Value, old: Option<&Value>) -> Outcome {
    let outcome = check_new(schema, path, value, old);
    match old {
        Some(old) if !outcome.causes.is_empty() && old == value => Outcome::default(),
        _ => outcome,
    }
}

fn check_new(schema: &Schema, path: &str, value: &Value, old: Option<&Value>) -> Outcome {
    let mut outcome = Outcome::default();
    if value.is_null() {
        outcome.merge(check_null(schema, path));
        outcome.merge(check_enum(schema, path, value));
        return outcome;
    }
    if !allowed_types(schema).is_empty() || schema.format.is_some() {
        outcome.step(check_type(schema, path, value));
    }
    outcome.step(check_junctors(schema, path, value));
    match value {
        Value::String(text) => {
            outcome.step(check_string(schema, path, text));
            if schema.format.is_some() && formats::is_known(schema.format_name()) {
                outcome.step(check_format(schema, path, text));
            }
        }
        Value::Number(number) => outcome.step(check_number(schema, path, number)),
        Value::Array(items) => outcome.step(check_array(schema, path, items, old)),
        _ => {}
    }
    outcome.step(check_enum(schema, path, value));
    if let Value::Object(map) = value {
        outcome.step(check_object(schema, path, map, old));
    }
    outcome.fine += 1;
    outcome
}

fn allowed_types(schema: &Schema) -> Vec<&str> {
    match schema.type_name() {
        _ if schema.int_or_string => vec!["integer", "string"],
        "" => Vec::new(),
        one => vec![one],
    }
}

/// The JSON type and format of a value as Go sees it once decoded.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(n) if n.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

fn type_fault(path: &str, wanted: &str, found: &str) -> Outcome {
    let detail = format!("{path} in body must be of type {wanted}: {}", golang::quote(found));
    Outcome::fault(Cause::type_invalid(path, found, detail))
}

fn check_null(schema: &Schema, path: &str) -> Outcome {
    let types = allowed_types(schema);
    match types.is_empty() || types.contains(&"null") || schema.nullable {
        true => Outcome::fine(),
        false => type_fault(path, &types.join(","), "null"),
    }
}

fn check_type(schema: &Schema, path: &str, value: &Value) -> Outcome {
    let types = allowed_types(schema);
    let (type_, format) = type_of(value);
    let is_text = matches!(value, Value::String(_) | Value::Array(_));
    let whole = value.as_f64().is_some_and(is_json_integer);
    let fits = types.contains(&type_)
        || (type_ == "number" && whole && types.contains(&"integer"))
        || (type_ == "integer" && types.contains(&"number"));
    if !is_text && schema.format.is_some() && !fits && format != schema.format_name() {
        return type_fault(path, schema.format_name(), format);
    }
    let numeric = types.contains(&"number") || types.contains(&"integer");
    if !numeric && schema.format.is_some() && is_text {
        return Outcome::fine();
    }
    if fits { Outcome::fine() } else { type_fault(path, &types.join(","), type_) }
}

fn check_string(schema: &Schema, path: &str, text: &str) -> Outcome {
    let sizes = check_size(Measure::Characters, schema, path, || text.chars().count(), text);
    // The greatest length is checked first, and one fault is enough.
    if let Some(cause) = sizes.into_iter().next_back() {
        return Outcome::fault(cause);
    }
    if let Some(pattern) = &schema.pattern {
        let source = pattern.source();
        let wanted = match pattern.is_match(text) {
            Ok(true) => return Outcome::default(),
            Ok(false) => source.to_owned(),
            Err(error) => format!("{source}, but pattern is invalid: {error}"),
        };
        let detail = format!("{path} in body should match '{wanted}'");
        return Outcome::fault(Cause::invalid(path, text, detail));
    }
    Outcome::default()
}

/// The faults of a size, in the order of the table; `value` is what the server shows of a value that is too small.
fn check_size(
    measure: Measure,
    schema: &Schema,
    path: &str,
    size: impl Fn() -> usize,
    value: impl Into<Value> + Clone,
) -> Vec<Cause> {
    let check = |keyword: &Keyword| {
        let bound = keyword.count(schema)?;
        let size = i64::try_from(size()).unwrap_or(i64::MAX);
        match (keyword.limit?, measure) {
            (Limit::Least(_), _) if size >= bound => None,
            (Limit::Most(_), _) if size <= bound => None,
            (Limit::Most(_), Measure::Characters) => Some(Cause::too_long(path, bound)),
            (Limit::Most(_), _) => Some(Cause::too_many(path, size, bound)),
            (Limit::Least(_), Measure::Characters) => {
                let detail = format!("{path} in body should be at least {bound} chars long");
                Some(Cause::invalid(path, value.clone(), detail))
            }
            (Limit::Least(_), measure) => {
                let noun = if measure == Measure::Items { "items" } else { "properties" };
                let detail = format!("{path} in body should have at least {bound} {noun}");
                Some(Cause::invalid(path, value.clone(), detail))
            }
        }
    };
    Keyword::limits(measure).filter_map(check).collect()
}

fn check_format(schema: &Schema, path: &str, text: &str) -> Outcome {
    match formats::validates(schema.format_name(), text) {
        true => Outcome::default(),
        false => type_fault(path, schema.format_name(), text),
    }
}

/// A number as the server holds it: an int64 or a float64.
#[derive(Clone, Copy)]
enum Num {
    Int(i64),
    Float(f64),
}

impl Num {
    fn of(number: &Number) -> Self {
        match number.as_i64() {
            Some(i) => Self::Int(i),
            None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// A bound, seen as the kind of number that it is compared with (Go converts by truncation).
    #[expect(clippy::cast_possible_truncation, reason = "the server truncates bounds of integers as well")]
    fn like(self, bound: f64) -> Self {
        match self {
            Self::Int(_) => Self::Int(bound as i64),
            Self::Float(_) => Self::Float(bound),
        }
    }

    fn less(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a < b,
            (a, b) => a.float() < b.float(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "only mixed kinds are compared as floats")]
    fn float(self) -> f64 {
        match self {
            Self::Int(i) => i as f64,
            Self::Float(f) => f,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Int(i) => i.to_string(),
            Self::Float(f) => golang::float(f),
        }
    }
}

fn check_number(schema: &Schema, path: &str, number: &Number) -> Outcome {
    let mut outcome = Outcome::default();
    let value = Num::of(number);
    let fault = |detail: String| Cause::invalid(path, Value::Number(number.clone()), detail);
    if let Some(detail) = out_of_range(schema, path, value) {
        outcome.add(Cause::invalid("", "", detail));
    }
    if let Some(factor) = &schema.multiple_of {
        let factor = value.like(factor.float());
        if !factor.float().is_nan() && factor.float() <= 0.0 {
            let detail = format!("factor MultipleOf declared for {path} must be positive: {}", factor.text());
            outcome.add(Cause::invalid(path, factor.float(), detail));
        } else if !is_multiple(value, factor) {
            outcome.add(fault(format!("{path} in body should be a multiple of {}", factor.text())));
        }
    }
    if let Some(min) = &schema.minimum {
        let bound = value.like(min.float());
        if value.less(bound) || (schema.exclusive_minimum && !bound.less(value)) {
            let what = if schema.exclusive_minimum { "greater than" } else { "greater than or equal to" };
            outcome.add(fault(format!("{path} in body should be {what} {}", bound.text())));
        }
    }
    if let Some(max) = &schema.maximum {
        let bound = value.like(max.float());
        if bound.less(value) || (schema.exclusive_maximum && !value.less(bound)) {
            let what = if schema.exclusive_maximum { "less than" } else { "less than or equal to" };
            outcome.add(fault(format!("{path} in body should be {what} {}", bound.text())));
        }
    }
    outcome.fine += 1;
    outcome
}

fn is_multiple(value: Num, factor: Num) -> bool {
    match (value, factor) {
        (Num::Int(v), Num::Int(f)) => f != 0 && v.checked_rem(f).unwrap_or(0) == 0,
        (v, f) => {
            let (v, f) = (v.float(), f.float());
            let quotient = if f < 1.0 { 1.0 / f * v } else { v / f };
            is_json_integer(quotient)
        }
    }
}

/// Whether a float stands for an integer within the exact range of floats, give or take rounding. Source:
/// `IsFloat64AJSONInteger` of go-openapi/swag.
fn is_json_integer(value: f64) -> bool {
    const MAX_EXACT: f64 = 9_007_199_254_740_991.0;
    if !value.is_finite() || value.abs() > MAX_EXACT {
        return false;
    }
    let near = value.round();
    value == near || (value - near).abs() / (value.abs() + near.abs()).max(f64::MIN_POSITIVE) < 1e-9
}

/// The range check of `int32`, `int64` and `float`; only where the type is one alone.
#[expect(clippy::cast_possible_truncation, reason = "the cast is what is checked")]
fn out_of_range(schema: &Schema, path: &str, value: Num) -> Option<String> {
    if schema.int_or_string {
        return None;
    }
    let fits = match (schema.type_name(), schema.format_name(), value) {
        ("integer", "int32", Num::Int(i)) => i32::try_from(i).is_ok(),
        ("integer", _, Num::Int(_)) => true,
        ("integer", format, Num::Float(f)) => {
            let limit = if format == "int32" { 2_147_483_648.0 } else { 9_223_372_036_854_775_808.0 };
            f.fract() == 0.0 && f >= -limit && f < limit && !golang::float(f).contains('e')
        }
        ("number", "float", value) => (value.float() as f32).is_finite(),
        _ => true,
    };
    let type_ = schema.type_name();
    match (fits, schema.format_name()) {
        (true, _) => None,
        (false, "") => Some(format!("Checked value must be of type {type_} (default format) in {path}")),
        (false, format) => {
            Some(format!("Checked value must be of type {type_} with format {format} in {path}"))
        }
    }
}

fn check_array(schema: &Schema, path: &str, items: &[Value], old: Option<&Value>) -> Outcome {
    let mut outcome = Outcome::default();
    if let Some(item_schema) = &schema.items {
        let old_items = old.and_then(Value::as_array);
        for (i, item) in items.iter().enumerate() {
            let old_item = old_items.and_then(|old| correlated_item(schema, item, old));
            outcome.merge(check(item_schema, &format!("{path}[{i}]"), item, old_item));
        }
    }
    check_size(Measure::Items, schema, path, || items.len(), items.len())
        .into_iter()
        .for_each(|cause| outcome.add(cause));
    if schema.unique_items && lists::repeated(items.iter()).next().is_some() {
        outcome.add(Cause::invalid(path, "", format!("{path} in body shouldn't contain duplicates")));
    }
    outcome.fine += 1;
    outcome
}

/// The old item with the same key; items of other lists than maps cannot be told to belong together.
fn correlated_item<'v>(schema: &Schema, item: &Value, old: &'v [Value]) -> Option<&'v Value> {
    if schema.effective_list_type() != ListType::Map {
        return None;
    }
    let key = lists::map_key(schema, item)?;
    old.iter().find(|candidate| lists::map_key(schema, candidate).as_ref() == Some(&key))
}

fn check_enum(schema: &Schema, path: &str, value: &Value) -> Outcome {
    let allowed = schema.allowed_values();
    if allowed.is_empty() || allowed.iter().any(|allowed| same(allowed, value)) {
        return Outcome::default();
    }
    let shown = |value: &Value| value.as_str().map_or_else(|| golang::json(value), str::to_owned);
    let supported: Vec<String> = allowed.iter().map(shown).collect();
    Outcome::fault(Cause::not_supported(path, value.clone(), &supported))
}

/// Equality of JSON values in which 1 and 1.0 are the same number.
#[must_use]
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

fn check_object(schema: &Schema, path: &str, map: &Map<String, Value>, old: Option<&Value>) -> Outcome {
    let mut outcome = Outcome::default();
    check_size(Measure::Properties, schema, path, || map.len(), map.len())
        .into_iter()
        .for_each(|cause| outcome.add(cause));
    let old_map = old.and_then(Value::as_object);
    let old_field = |name: &str| {
        let versioned = path.is_empty() && matches!(name, "apiVersion" | "kind");
        old_map.filter(|_| !versioned).and_then(|old| old.get(name))
    };
    for (name, value) in map.iter().filter(|(name, _)| !schema.properties.contains_key(*name)) {
        match &schema.additional_properties {
            Some(Additional::Allowed(false)) => {
                let detail = format!("{path}.{name} in body is a forbidden property");
                outcome.add(Cause::invalid(path, name.as_str(), detail));
            }
            Some(Additional::Schema(all)) => {
                outcome.merge(check(all, &format!("{path}.{name}"), value, old_field(name)));
            }
            _ => {}
        }
    }
    for (name, property) in &schema.properties {
        if let Some(value) = map.get(name) {
            let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            outcome.merge(check(property, &below, value, old_field(name)));
        }
    }
    for name in schema.required.iter().filter(|name| !map.contains_key(*name)) {
        outcome.add(Cause::required(format!("{path}.{name}"), ""));
    }
    outcome
}

fn check_junctors(schema: &Schema, path: &str, value: &Value) -> Outcome {
    let mut outcome = Outcome::default();
    let plain = |detail: String| Cause::invalid("", "", detail);
    check_any_of(schema, path, value, &mut outcome);
    check_one_of(schema, path, value, &mut outcome);
    let mut failed = 0;
    for branch in &schema.all_of {
        let result = check(branch, path, value, None);
        failed += usize::from(!result.causes.is_empty());
        outcome.merge(result);
    }
    if failed > 0 {
        let none = if failed == schema.all_of.len() { ". None validated" } else { "" };
        let path = golang::quote(path);
        outcome.add(plain(format!("{path} must validate all the schemas (allOf){none}")));
    }
    if let Some(not) = &schema.not
        && check(not, path, value, None).causes.is_empty()
    {
        outcome.add(plain(format!("{} must not validate the schema (not)", golang::quote(path))));
    }
    outcome.fine += 1;
    outcome
}

fn check_any_of(schema: &Schema, path: &str, value: &Value, outcome: &mut Outcome) {
    let mut best: Option<Outcome> = None;
    for branch in &schema.any_of {
        let result = check(branch, path, value, None);
        if result.causes.is_empty() {
            outcome.merge(result);
            return;
        }
        if best.as_ref().is_none_or(|best| result.fine > best.fine) {
            best = Some(result);
        }
    }
    if let Some(best) = best {
        let detail = format!("{} must validate at least one schema (anyOf)", golang::quote(path));
        outcome.add(Cause::invalid("", "", detail));
        outcome.merge(best);
    }
}

fn check_one_of(schema: &Schema, path: &str, value: &Value, outcome: &mut Outcome) {
    let (mut valid, mut first, mut best) = (0, None, None::<Outcome>);
    for branch in &schema.one_of {
        let result = check(branch, path, value, None);
        if result.causes.is_empty() {
            valid += 1;
            best = None;
            first = first.or(Some(result));
        } else if valid == 0 && best.as_ref().is_none_or(|best| result.fine > best.fine) {
            best = Some(result);
        }
    }
    if schema.one_of.is_empty() {
        return;
    }
    if let (1, Some(first)) = (valid, first) {
        outcome.merge(first);
        return;
    }
    let found = match valid {
        0 => "Found none valid".to_owned(),
        n => format!("Found {n} valid alternatives"),
    };
    let path = golang::quote(path);
    outcome.add(Cause::invalid(
        "",
        "",
        format!("{path} must validate one and only one schema (oneOf). {found}"),
    ));
    if let Some(best) = best {
        outcome.merge(best);
    }
}

/// Whether CEL rules are not run because of these faults: types or sizes are not what the rules were costed for.
#[must_use]
pub fn blocks_rules(causes: &[Cause]) -> bool {
    use CauseKind::{NotSupported, Required, TooLong, TooMany, TypeInvalid};
    causes.iter().any(|c| matches!(c.kind, NotSupported | Required | TooLong | TooMany | TypeInvalid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn causes(schema: Value, object: Value) -> Vec<String> {
        validate(&Schema::enforced(&schema).unwrap(), &object).iter().map(Cause::to_string).collect()
    }

    #[test]
    fn int_or_string_is_explained_as_by_the_server() {
        let schema = json!({"type": "object", "properties": {"ios": {"x-kubernetes-int-or-string": true,
            "anyOf": [{"type": "integer"}, {"type": "string"}]}}});
        assert_eq!(causes(schema.clone(), json!({"ios": "80%"})), Vec::<String>::new());
        assert_eq!(
            causes(schema, json!({"ios": 1.5})),
            [
                "ios: Invalid value: \"number\": ios in body must be of type integer,string: \"number\"",
                "<nil>: Invalid value: \"\": \"ios\" must validate at least one schema (anyOf)",
                "ios: Invalid value: \"number\": ios in body must be of type integer: \"number\"",
                "<nil>: Invalid value: \"\": Checked value must be of type integer (default format) in ios",
            ]
        );
    }

    #[test]
    fn bounds_formats_and_nulls() {
        for (schema, value, wanted) in [
            (
                json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}),
                json!(0.0),
                vec!["a: Invalid value: 0: a in body should be greater than 0"],
            ),
            (
                json!({"type": "integer", "format": "int32"}),
                json!(3_000_000_000_i64),
                vec![
                    "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in a",
                ],
            ),
            (json!({"type": "integer"}), json!(2.0), vec![]),
            (
                json!({"type": "integer", "format": "int64"}),
                json!(9_223_372_036_854_775_808_u64),
                vec![
                    "a: Invalid value: \"float64\": a in body must be of type int64: \"float64\"",
                    "<nil>: Invalid value: \"\": Checked value must be of type integer with format int64 in a",
                ],
            ),
            (
                json!({"type": "string"}),
                json!(null),
                vec!["a: Invalid value: \"null\": a in body must be of type string: \"null\""],
            ),
            (json!({"type": "string", "nullable": true}), json!(null), vec![]),
            (
                json!({"type": "string", "format": "date"}),
                json!("x"),
                vec!["a: Invalid value: \"x\": a in body must be of type date: \"x\""],
            ),
            (
                json!({"type": "string", "format": "date"}),
                json!(1),
                vec!["a: Invalid value: \"int64\": a in body must be of type date: \"int64\""],
            ),
            (
                json!({"type": "string", "maxLength": 2}),
                json!("äöü"),
                vec!["a: Too long: may not be more than 2 bytes"],
            ),
            (
                json!({"type": "integer", "enum": [1, 2]}),
                json!(3),
                vec!["a: Unsupported value: 3: supported values: \"1\", \"2\""],
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                json!({"k": "v"}),
                vec!["a.k: Invalid value: \"string\": a.k in body must be of type integer: \"string\""],
            ),
            (
                json!({"type": "string", "not": {"pattern": "^a"}}),
                json!("ab"),
                vec!["<nil>: Invalid value: \"\": \"a\" must not validate the schema (not)"],
            ),
            (
                json!({"type": "string", "oneOf": [{"pattern": "a"}, {"pattern": "b"}]}),
                json!("ab"),
                vec![
                    "<nil>: Invalid value: \"\": \"a\" must validate one and only one schema (oneOf). Found 2 valid alternatives",
                ],
            ),
        ] {
            let object = json!({"a": value});
            assert_eq!(causes(json!({"type": "object", "properties": {"a": schema}}), object), wanted);
        }
    }

    #[test]
    fn what_did_not_change_is_not_held_against_an_update() {
        let schema = Schema::enforced(&json!({"type": "object", "properties": {
            "a": {"type": "string", "maxLength": 1}, "b": {"type": "integer"},
            "l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                  "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "string", "maxLength": 1}}}}}}))
        .unwrap();
        let old = json!({"a": "long", "b": 1, "l": [{"k": "x", "v": "long"}]});
        let ok = json!({"a": "long", "b": 2, "l": [{"k": "y"}, {"k": "x", "v": "long"}]});
        assert_eq!(validate_update(&schema, &ok, &old), []);
        let bad = json!({"a": "longer", "b": 2});
        assert_eq!(validate_update(&schema, &bad, &old).len(), 1);
    }
}
