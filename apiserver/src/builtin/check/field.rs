//! Fields of an object under validation, and the errors found in them.
//!
//! A rule reads like its Go original: `errors.required(&pod.child("name"), "")`. Messages and their order follow
//! apimachinery's `util/validation/field`.

use serde_json::Value;

use kubesmith_apimachinery::names;

use crate::names::{NameRule, quoted};
use crate::status::Cause;

static NULL: Value = Value::Null;

/// A value and its path in the object.
#[derive(Clone, Debug)]
pub(super) struct Field<'v> {
    pub(super) path: String,
    pub(super) value: &'v Value,
}

impl<'v> Field<'v> {
    /// The object itself.
    pub(super) fn root(object: &'v Value) -> Self {
        Self { path: String::new(), value: object }
    }

    /// The member with this name; null if it is absent.
    pub(super) fn child(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { path, value: self.value.get(name).unwrap_or(&NULL) }
    }

    /// The entry of a map with this key.
    pub(super) fn key(&self, key: &str) -> Self {
        Self { path: format!("{}[{key}]", self.path), value: self.value.get(key).unwrap_or(&NULL) }
    }

    /// Returns the same value at another path: some of Go's rules report a path that differs from the value's.
    pub(super) fn at(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), value: self.value }
    }

    /// Returns the same path with another value.
    pub(super) fn holding<'w>(&self, value: &'w Value) -> Field<'w> {
        Field { path: self.path.clone(), value }
    }

    /// The elements of a list.
    pub(super) fn items(&self) -> impl Iterator<Item = Field<'v>> + use<'v> {
        let path = self.path.clone();
        let list: &'v [Value] = self.value.as_array().map_or(&[], Vec::as_slice);
        list.iter().enumerate().map(move |(i, value)| Field { path: format!("{path}[{i}]"), value })
    }

    /// The entries of a map, in the order of their keys.
    pub(super) fn entries(&self) -> Vec<(&'v str, Field<'v>)> {
        let mut entries: Vec<_> = self
            .value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), Field { path: format!("{}[{key}]", self.path), value }))
            .collect();
        entries.sort_by_key(|(key, _)| *key);
        entries
    }

    /// The text; empty if there is none.
    pub(super) fn text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    /// The texts of a list.
    pub(super) fn texts(&self) -> Vec<&'v str> {
        self.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Returns the whole number, if it is one.
    pub(super) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    /// Returns the whole number; zero if it is absent, as in a Go struct.
    pub(super) fn number_or_zero(&self) -> i64 {
        self.number().unwrap_or_default()
    }

    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    pub(super) fn is_true(&self) -> bool {
        *self.value == Value::Bool(true)
    }

    /// Reports whether the value is absent, or an empty text, list or map.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            value => value.is_null(),
        }
    }
}

/// Formats a Go struct as `encoding/json` does: kube-apiserver shows its internal types, whose fields have no JSON
/// names. A null struct is printed as `null`.
pub(super) fn go_struct(value: &Value, fields: &[(&str, &str)]) -> String {
    if value.is_null() {
        return "null".to_owned();
    }
    let member = |(go, json): &(&str, &str)| format!("{}:{}", quoted(go), value.get(*json).unwrap_or(&NULL));
    format!("{{{}}}", fields.iter().map(member).collect::<Vec<_>>().join(","))
}

/// `IsDomainPrefixedPath` for a text outside of objects.
pub(crate) fn domain_prefixed_path(path: &str, text: &str) -> Vec<Cause> {
    let value = Value::from(text);
    Errors::of(|errors| errors.domain_prefixed_path(&Field { path: path.to_owned(), value: &value }))
}

/// Field errors, in the order in which the rules found them: apimachinery's `field.ErrorList`.
#[derive(Debug, Default)]
pub(super) struct Errors {
    causes: Vec<Cause>,
}

impl Errors {
    /// Runs rules and returns their errors.
    pub(super) fn of(rules: impl FnOnce(&mut Self)) -> Vec<Cause> {
        let mut errors = Self::default();
        rules(&mut errors);
        errors.causes
    }

    pub(super) fn len(&self) -> usize {
        self.causes.len()
    }

    pub(super) fn push(&mut self, cause: Cause) {
        self.causes.push(cause);
    }

    pub(super) fn required(&mut self, field: &Field<'_>, detail: &str) {
        self.push(Cause::required(&field.path, detail));
    }

    pub(super) fn invalid(&mut self, field: &Field<'_>, detail: &str) {
        self.push(Cause::invalid(&field.path, field.value, detail));
    }

    /// Reports an invalid number, shown as zero if it is absent.
    pub(super) fn invalid_number(&mut self, field: &Field<'_>, detail: &str) {
        self.push(Cause::invalid(&field.path, field.number_or_zero(), detail));
    }

    pub(super) fn forbidden(&mut self, field: &Field<'_>, detail: &str) {
        self.push(Cause::forbidden(&field.path, detail));
    }

    /// Reports an invalid value, shown as this text.
    pub(super) fn invalid_as(&mut self, field: &Field<'_>, shown: &str, detail: &str) {
        self.push(Cause::invalid(&field.path, shown, detail));
    }

    /// Reports an invalid value without showing it: Go's `OmitValueType`.
    pub(super) fn invalid_whole(&mut self, field: &Field<'_>, detail: &str) {
        self.push(Cause::new("FieldValueInvalid", &field.path, format!("Invalid value: {detail}")));
    }

    /// Reports `TooMany` if the list has more items; returns whether it has not.
    pub(super) fn at_most(&mut self, list: &Field<'_>, most: usize) -> bool {
        let count = list.value.as_array().map_or(0, Vec::len);
        if count > most {
            let text = format!("Too many: {count}: must have at most {most} items");
            self.push(Cause::new("FieldValueTooMany", &list.path, text));
        }
        count <= most
    }

    pub(super) fn duplicate(&mut self, field: &Field<'_>) {
        self.duplicate_as(field, &field.value.to_string());
    }

    /// Reports a repeated value, shown as this text.
    pub(super) fn duplicate_as(&mut self, field: &Field<'_>, shown: &str) {
        self.push(Cause::new("FieldValueDuplicate", &field.path, format!("Duplicate value: {shown}")));
    }

    pub(super) fn not_found(&mut self, field: &Field<'_>) {
        self.push(Cause::new("FieldValueNotFound", &field.path, format!("Not found: {}", field.value)));
    }

    /// Reports a value that is not found, with the reason.
    pub(super) fn not_found_because(&mut self, field: &Field<'_>, detail: &str) {
        let text = format!("Not found: {}: {detail}", field.value);
        self.push(Cause::new("FieldValueNotFound", &field.path, text));
    }

    pub(super) fn not_supported(&mut self, field: &Field<'_>, supported: &[&str]) {
        self.not_supported_as(field, &field.value.to_string(), supported);
    }

    /// Reports a value outside a closed set, shown as this text.
    pub(super) fn not_supported_as(&mut self, field: &Field<'_>, shown: &str, supported: &[&str]) {
        self.push(Cause::not_supported(&field.path, shown, supported));
    }

    pub(super) fn too_long(&mut self, path: &str, limit: usize) {
        let text = format!("Too long: may not be more than {limit} bytes");
        self.push(Cause::new("FieldValueTooLong", path, text));
    }

    /// Reports an error for each message about the field's value.
    pub(super) fn all_invalid(&mut self, field: &Field<'_>, messages: Vec<String>) {
        for message in messages {
            self.invalid(field, &message);
        }
    }

    /// `ValidateNonnegativeField`.
    pub(super) fn not_negative(&mut self, field: &Field<'_>) {
        if field.number().is_some_and(|number| number < 0) {
            self.invalid(field, NEGATIVE);
        }
    }

    /// `ValidateNonnegativeField` for several members.
    pub(super) fn none_negative(&mut self, holder: &Field<'_>, names: &[&str]) {
        for name in names {
            self.not_negative(&holder.child(name));
        }
    }

    /// Checks a required enumeration; where it has a default, only an explicit empty text is missing.
    pub(super) fn one_of(&mut self, field: &Field<'_>, supported: &[&str]) {
        match field.text() {
            "" => self.required(field, ""),
            value if supported.contains(&value) => {}
            _ => self.not_supported(field, supported),
        }
    }

    /// Checks an enumeration in which the empty text, that of an absent field, is no value either.
    pub(super) fn text_of(&mut self, field: &Field<'_>, supported: &[&str]) {
        if !supported.contains(&field.text()) {
            let text = Value::from(field.text());
            self.not_supported(&field.holding(&text), supported);
        }
    }

    /// Checks an enumeration that may be absent.
    pub(super) fn optional_one_of(&mut self, field: &Field<'_>, supported: &[&str]) {
        if field.is_set() && !supported.contains(&field.text()) {
            self.not_supported(field, supported);
        }
    }

    /// Checks a name by a rule; an absent one is skipped.
    pub(super) fn optional_name(&mut self, field: &Field<'_>, rule: NameRule) {
        if !field.is_empty() {
            self.all_invalid(field, rule.check(field.text()));
        }
    }

    /// Checks a name by a rule; an absent one is an error.
    pub(super) fn required_name(&mut self, field: &Field<'_>, rule: NameRule) {
        if field.is_empty() {
            self.required(field, "");
        } else {
            self.all_invalid(field, rule.check(field.text()));
        }
    }

    /// `ValidateLabelName`: a qualified name.
    pub(super) fn qualified_name(&mut self, field: &Field<'_>) {
        let text = Value::from(field.text());
        self.all_invalid(&field.holding(&text), names::qualified_name(field.text()));
    }

    /// `IsDNS1123SubdomainWithUnderscore`.
    pub(super) fn subdomain_with_underscores(&mut self, field: &Field<'_>) {
        const LONGEST: usize = 253;
        let text = field.text();
        if text.len() > LONGEST {
            self.invalid(field, &format!("must be no more than {LONGEST} characters"));
        }
        let alphanumeric = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let is_label = |label: &str| {
            let label = label.strip_prefix('_').unwrap_or(label).as_bytes();
            let ends = label.first().is_some_and(|b| alphanumeric(*b))
                && label.last().is_some_and(|b| alphanumeric(*b));
            ends && label.iter().all(|b| alphanumeric(*b) || b"-_".contains(b))
        };
        if !text.split('.').all(is_label) {
            let detail = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
            self.invalid(field, detail);
        }
    }

    /// `IsDomainPrefixedPath`.
    pub(super) fn domain_prefixed_path(&mut self, field: &Field<'_>) {
        let is_path = |path: &str| {
            path.bytes().all(|b| b.is_ascii_alphanumeric() || br"/-._~%!$&'()*+,;=:".contains(&b))
        };
        match field.text().split_once('/') {
            None if field.is_empty() => self.required(field, ""),
            Some((domain, path)) if !domain.is_empty() && !path.is_empty() => {
                let (domain, path) = (Value::from(domain), Value::from(path));
                let faults = NameRule::Subdomain.check(domain.as_str().unwrap_or_default());
                self.all_invalid(&field.holding(&domain), faults);
                if !is_path(path.as_str().unwrap_or_default()) {
                    let detail =
                        r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";
                    self.invalid(&field.holding(&path), detail);
                }
            }
            _ => self.invalid(field, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
        }
    }

    /// `ValidateLabels`.
    pub(super) fn labels(&mut self, field: &Field<'_>) {
        let causes =
            kubesmith_apiextensions::structural::object_meta::validate_labels(field.value, &field.path);
        self.causes.extend(causes.into_iter().map(Cause::from));
    }

    /// `ValidateAnnotations`.
    pub(super) fn annotations(&mut self, field: &Field<'_>) {
        let causes =
            kubesmith_apiextensions::structural::object_meta::validate_annotations(field.value, &field.path);
        self.causes.extend(causes.into_iter().map(Cause::from));
    }

    /// `ValidateLabelSelector`.
    pub(super) fn label_selector(&mut self, selector: &Field<'_>) {
        if !selector.is_set() {
            return;
        }
        self.labels(&selector.child("matchLabels"));
        for term in selector.child("matchExpressions").items() {
            let values = term.child("values");
            match term.child("operator").text() {
                "In" | "NotIn" if values.is_empty() => {
                    self.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
                }
                "In" | "NotIn" => {}
                "Exists" | "DoesNotExist" if !values.is_empty() => {
                    self.forbidden(
                        &values,
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                    );
                }
                "Exists" | "DoesNotExist" => {}
                _ => self.invalid(&term.child("operator"), NOT_AN_OPERATOR),
            }
            self.qualified_name(&term.child("key"));
            for value in values.items() {
                self.all_invalid(&value, names::label_value(value.text()));
            }
        }
    }

    /// `ValidateImmutableField`.
    pub(super) fn immutable(&mut self, field: &Field<'_>, old: &Field<'_>) {
        if field.value != old.value {
            self.invalid(field, "field is immutable");
        }
    }

    /// `ValidatePortNumOrName`.
    pub(super) fn port(&mut self, field: &Field<'_>) {
        match field.value {
            Value::String(name) => self.all_invalid(field, names::port_name(name)),
            _ => self.port_number(field),
        }
    }

    /// `IsValidPortNum`.
    pub(super) fn port_number(&mut self, field: &Field<'_>) {
        let number = field.number_or_zero();
        if !(1..=65_535).contains(&number) {
            self.push(Cause::invalid(&field.path, number, "must be between 1 and 65535, inclusive"));
        }
    }

    /// `ValidatePositiveIntOrPercent`.
    pub(super) fn number_or_percentage(&mut self, field: &Field<'_>) {
        match field.value {
            Value::String(text) if percentage(text).is_none() => self.invalid(field, NOT_A_PERCENTAGE),
            _ => self.not_negative(field),
        }
    }

    /// `IsNotMoreThan100Percent`.
    pub(super) fn at_most_100_percent(&mut self, field: &Field<'_>) {
        if percentage(field.text()).is_some_and(|value| value > 100) {
            self.invalid(field, "must not be greater than 100%");
        }
    }
}

pub(super) const NEGATIVE: &str = "must be greater than or equal to 0";
pub(super) const NOT_AN_OPERATOR: &str = "not a valid selector operator";

const NOT_A_PERCENTAGE: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  \
                                or '93%', regex used for validation is '[0-9]+%')";

/// Returns the number of a text such as `25%`.
fn percentage(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('%').filter(|digits| !digits.is_empty())?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().unwrap_or(u64::MAX))
}

/// `getIntOrPercentValue`: a number, also from a percentage or a text of digits.
pub(super) fn amount(field: &Field<'_>) -> i64 {
    match field.value {
        Value::String(text) => match percentage(text) {
            Some(value) => i64::try_from(value).unwrap_or(i64::MAX),
            None => text.parse().unwrap_or_default(),
        },
        _ => field.number_or_zero(),
    }
}
