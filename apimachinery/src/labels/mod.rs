//! Label selectors: the syntax, matching and printing of apimachinery's `labels` package.
//!
//! Requirements are joined by commas: `key=value`, `key==value`, `key!=value`, `key in (a,b)`, `key notin (a,b)`, `key` (exists),
//! `!key`, `key>1`, `key<1`.
//!
//! ```
//! use kubesmith_apimachinery::labels::{ParseError, Selector};
//!
//! let app = Selector::from_labels(&[("app".to_owned(), "web".to_owned())].into())?;
//! assert_eq!(app.to_query().as_deref(), Some("app=web"));
//! assert!(Selector::everything().is_everything() && Selector::nothing().is_nothing());
//! # Ok::<(), ParseError>(())
//! ```

mod error;
mod parse;
mod requirement;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

#[cfg(feature = "k8s-openapi")]
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use serde_json::Value;

pub use error::ParseError;
use requirement::{Operator, Requirement};

/// A conjunction of requirements on labels.
///
/// ```
/// use kubesmith_apimachinery::labels::Selector;
///
/// let selector: Selector = "tier in (gold, silver), !legacy".parse()?;
/// let labels = [("tier".to_owned(), "gold".to_owned())].into();
/// assert!(selector.matches(&labels));
/// assert_eq!(selector.to_string(), "!legacy,tier in (gold,silver)");
/// # Ok::<(), kubesmith_apimachinery::labels::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector(Terms);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Terms {
    /// Sorted by key; without requirements, every object matches.
    All(Vec<Requirement>),
    Nothing,
}

impl Selector {
    /// Returns a selector that matches every object.
    #[must_use]
    pub fn everything() -> Self {
        Self(Terms::All(Vec::new()))
    }

    /// Returns a selector that matches no object.
    #[must_use]
    pub fn nothing() -> Self {
        Self(Terms::Nothing)
    }

    /// Reports whether every object matches, whatever its labels.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        matches!(&self.0, Terms::All(terms) if terms.is_empty())
    }

    /// Reports whether no object matches because the selector is [`Selector::nothing`].
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self.0, Terms::Nothing)
    }

    /// Returns a selector for objects with all of `labels` (apimachinery's `ValidatedSelectorFromSet`).
    ///
    /// # Errors
    /// A key or value is not a valid label.
    pub fn from_labels(labels: &BTreeMap<String, String>) -> Result<Self, ParseError> {
        let terms =
            labels.iter().map(|(key, value)| Requirement::new(key, Operator::Equals, vec![value.clone()]));
        Self::of(terms)
    }

    /// Returns the selector of a `LabelSelector` in an object: `matchLabels` and `matchExpressions` together
    /// (apimachinery's `LabelSelectorAsSelector`). An empty `LabelSelector` matches everything, null nothing.
    ///
    /// # Errors
    /// A requirement is invalid.
    pub fn from_json(selector: &Value) -> Result<Self, ParseError> {
        if selector.is_null() {
            return Ok(Self::nothing());
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let equal = labels.map(|(key, value)| Requirement::new(key, Operator::Equals, vec![text(value)]));
        let expressions = selector["matchExpressions"].as_array().into_iter().flatten().map(|expression| {
            let operator = Operator::of_expression(expression["operator"].as_str().unwrap_or_default())?;
            let values = expression["values"].as_array().into_iter().flatten().map(text).collect();
            Requirement::new(expression["key"].as_str().unwrap_or_default(), operator, values)
        });
        Self::of(equal.chain(expressions))
    }

    fn of(terms: impl Iterator<Item = Result<Requirement, ParseError>>) -> Result<Self, ParseError> {
        let mut terms: Vec<Requirement> = terms.collect::<Result<_, _>>()?;
        terms.sort();
        terms.dedup();
        Ok(Self(Terms::All(terms)))
    }

    /// Returns the text for a query, or `None` if every object matches.
    #[must_use]
    pub fn to_query(&self) -> Option<String> {
        (!self.is_everything()).then(|| self.to_string())
    }

    /// Reports whether an object with `labels` matches.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.matches_by(|key| labels.get(key).map(String::as_str))
    }

    /// Reports whether an object matches; `label` returns the value of a label.
    #[must_use]
    pub fn matches_by<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        match &self.0 {
            Terms::Nothing => false,
            Terms::All(terms) => terms.iter().all(|term| term.matches(label(term.key()))),
        }
    }

    /// Reports whether an object with these labels matches. No labels are the same as empty ones.
    #[must_use]
    pub fn matches_optional(&self, labels: Option<&BTreeMap<String, String>>) -> bool {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.matches(labels.unwrap_or(&NONE))
    }

    /// Reports whether an object with these labels, a map in JSON or null, matches.
    #[must_use]
    pub fn matches_json(&self, labels: &Value) -> bool {
        self.matches_by(|key| labels.get(key).and_then(Value::as_str))
    }
}

#[cfg(feature = "k8s-openapi")]
impl TryFrom<&LabelSelector> for Selector {
    type Error = ParseError;

    /// Converts `matchLabels` and `matchExpressions` together. An empty `LabelSelector` matches everything.
    fn try_from(selector: &LabelSelector) -> Result<Self, ParseError> {
        let labels = selector.match_labels.iter().flatten();
        let equal = labels.map(|(key, value)| Requirement::new(key, Operator::Equals, vec![value.clone()]));
        let expressions = selector.match_expressions.iter().flatten().map(|expression| {
            let operator = Operator::of_expression(&expression.operator)?;
            Requirement::new(&expression.key, operator, expression.values.clone().unwrap_or_default())
        });
        Self::of(equal.chain(expressions))
    }
}

impl Default for Selector {
    /// Returns [`Selector::everything`].
    fn default() -> Self {
        Self::everything()
    }
}

impl FromStr for Selector {
    type Err = ParseError;

    /// Parses Kubernetes' syntax. The empty string matches everything.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::of(parse::requirements(text)?.into_iter().map(Ok))
    }
}

impl fmt::Display for Selector {
    /// Writes the syntax that [`Selector::from_str`] reads. [`Selector::nothing`] has none and prints as a contradiction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Terms::Nothing => f.write_str("!a,a"),
            Terms::All(terms) => {
                for (index, term) in terms.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    term.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}
