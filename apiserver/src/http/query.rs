//! Query strings and the options in them.

use std::num::{IntErrorKind, ParseIntError};

use kubesmith_apimachinery::golang;

use super::path::decode;
use crate::status::{ApiError, ApiResult, Cause};

/// A decoded query string.
#[derive(Clone, Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query; parts that are not UTF-8 are left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let decode = |s: &str| decode(&s.replace('+', " "));
        let pairs = text.split('&').filter(|part| !part.is_empty()).filter_map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            Some((decode(key)?, decode(value)?))
        });
        Self(pairs.collect())
    }

    /// Returns the keys and values in their order.
    #[must_use]
    pub fn into_pairs(self) -> Vec<(String, String)> {
        self.0
    }

    /// Returns the first value of `key`, empty when absent.
    pub(crate) fn get(&self, key: &str) -> &str {
        self.0.iter().find(|(k, _)| k == key).map_or("", |(_, v)| v)
    }

    pub(crate) fn all(&self, key: &str) -> Vec<&str> {
        self.0.iter().filter(|(k, _)| k == key).map(|(_, v)| v.as_str()).collect()
    }

    /// Returns a boolean as Go's conversion of query parameters does: present and not `0` or `false`.
    #[must_use]
    pub fn flag(&self, key: &str) -> bool {
        self.0
            .iter()
            .find(|(k, _)| k == key)
            .is_some_and(|(_, v)| !matches!(v.to_lowercase().as_str(), "0" | "false"))
    }

    /// Reports whether `key` has a value, even an empty one.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(k, _)| k == key)
    }

    /// Returns a whole number; `None` if `key` is absent. An empty value is malformed.
    ///
    /// # Errors
    /// `BadRequest` in the words of Go's `strconv.ParseInt`.
    pub(crate) fn number(&self, key: &str) -> ApiResult<Option<i64>> {
        if !self.has(key) {
            return Ok(None);
        }
        let text = self.get(key);
        text.parse().map(Some).map_err(|error: ParseIntError| {
            let why = match error.kind() {
                IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            ApiError::bad_request(format!("strconv.ParseInt: parsing {}: {why}", golang::quote(text)))
        })
    }
}

/// The treatment of unknown and repeated fields in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// Options that all writes share.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) dry_run: bool,
    pub(crate) field_validation: FieldValidation,
    pub(crate) field_manager: String,
    pub(crate) force: bool,
    /// Whether the write is a server-side apply, which decides the ownership of fields itself.
    pub(crate) applying: bool,
}

impl WriteOptions {
    /// Reads the options of a `CreateOptions`, `UpdateOptions` or `PatchOptions`.
    ///
    /// # Errors
    /// `Invalid` of that kind.
    pub(crate) fn parse(query: &Query, kind: &str) -> ApiResult<Self> {
        let mut causes = Vec::new();
        let dry_run = dry_run(query, &mut causes);
        let field_validation = match query.get("fieldValidation") {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let supported = ["", "Ignore", "Strict", "Warn"];
                causes.push(Cause::not_supported("fieldValidation", &golang::quote(other), &supported));
                FieldValidation::Warn
            }
        };
        let field_manager = query.get("fieldManager").to_owned();
        if field_manager.chars().count() > 128 {
            let message = "Too long: may not be more than 128 bytes".to_owned();
            causes.push(Cause::new("FieldValueTooLong", "fieldManager", message));
        }
        // `ValidateFieldManager` of apimachinery/pkg/apis/meta/v1/validation; `%#U` also shows printable characters.
        for (at, c) in field_manager.char_indices().filter(|(_, c)| !golang::is_print(*c)) {
            let text = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
            causes.push(Cause::invalid("fieldManager", golang::quote(&field_manager), &text));
        }
        if !causes.is_empty() {
            return Err(ApiError::invalid_options(kind, causes));
        }
        Ok(Self { dry_run, field_validation, field_manager, force: query.flag("force"), applying: false })
    }
}

/// Reports whether the request is a dry run.
pub(crate) fn dry_run(query: &Query, causes: &mut Vec<Cause>) -> bool {
    let asked = query.all("dryRun");
    if asked.iter().any(|v| *v != "All") {
        let list = serde_json::to_string(&asked).unwrap_or_default();
        causes.push(Cause::not_supported("dryRun", &list, &["All"]));
    }
    !asked.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_decoded() {
        let query = Query::parse("a=1%202&b=x+y&watch&c=false&=&d=%ff");
        assert_eq!((query.get("a"), query.get("b")), ("1 2", "x y"));
        assert!(query.flag("watch"));
        assert!(!query.flag("c"));
        assert!(!query.flag("d"));
    }

    #[test]
    fn refusals_quote_values_as_go_does() {
        let error = Query::parse("limit=%07").number("limit").unwrap_err();
        assert_eq!(error.message(), r#"strconv.ParseInt: parsing "\a": invalid syntax"#);
        let error = WriteOptions::parse(&Query::parse("fieldValidation=%07"), "CreateOptions").unwrap_err();
        assert!(error.message().contains(r#"Unsupported value: "\a""#), "{}", error.message());
    }

    #[test]
    fn dry_run_other_than_all_is_refused() {
        assert!(WriteOptions::parse(&Query::parse("dryRun=All"), "CreateOptions").unwrap().dry_run);
        assert!(WriteOptions::parse(&Query::parse("dryRun=Maybe"), "CreateOptions").is_err());
    }
}
