//! Label selectors: Kubernetes' syntax, matching and printing.
//!
//! The grammar is apimachinery's `labels.Parse`: `key=value`, `key==value`, `key!=value`, `key in (a,b)`,
//! `key notin (a,b)`, `key` (exists), `!key`, `key>1`, `key<1`, joined by commas.
//!
//! ```
//! use kubesmith_runtime::labels::{ParseError, Selector};
//!
//! let app = Selector::from_labels(&[("app".to_owned(), "web".to_owned())].into())?;
//! assert_eq!(app.to_query().as_deref(), Some("app=web"));
//! assert!(Selector::everything().is_everything() && Selector::nothing().is_nothing());
//! # Ok::<(), ParseError>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

mod parse;

pub use parse::ParseError;

/// A conjunction of requirements on labels.
///
/// ```
/// use kubesmith_runtime::labels::Selector;
///
/// let selector: Selector = "tier in (gold, silver), !legacy".parse()?;
/// let labels = [("tier".to_owned(), "gold".to_owned())].into();
/// assert!(selector.matches(&labels));
/// assert_eq!(selector.to_string(), "!legacy,tier in (gold,silver)");
/// # Ok::<(), kubesmith_runtime::labels::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector(Terms);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Terms {
    /// Sorted by key, as apimachinery prints them; empty matches everything.
    All(Vec<Requirement>),
    Nothing,
}

/// One condition on one label.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Requirement {
    key: String,
    condition: Condition,
}

/// What is asked of a label's value. Values of sets are sorted and distinct.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Condition {
    In(Vec<String>),
    Equals(String),
    NotIn(Vec<String>),
    NotEquals(String),
    Exists,
    DoesNotExist,
    GreaterThan(i64),
    LessThan(i64),
}

impl Selector {
    /// Matches every object.
    #[must_use]
    pub fn everything() -> Self {
        Self(Terms::All(Vec::new()))
    }

    /// Matches no object.
    #[must_use]
    pub fn nothing() -> Self {
        Self(Terms::Nothing)
    }

    /// Whether every object matches, whatever its labels.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        matches!(&self.0, Terms::All(terms) if terms.is_empty())
    }

    /// Whether no object can match because the selector is [`Selector::nothing`].
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        matches!(self.0, Terms::Nothing)
    }

    /// Matches objects that carry all of `labels` (apimachinery's `SelectorFromSet`).
    ///
    /// # Errors
    /// A key or value that is no valid label.
    pub fn from_labels(labels: &BTreeMap<String, String>) -> Result<Self, ParseError> {
        let terms = labels
            .iter()
            .map(|(key, value)| Requirement::checked(key.clone(), Condition::Equals(value.clone())));
        Ok(Self(Terms::All(terms.collect::<Result<_, _>>()?)))
    }

    /// The conditions as they are sent to the server, or `None` when there are none.
    #[must_use]
    pub fn to_query(&self) -> Option<String> {
        (!self.is_everything()).then(|| self.to_string())
    }

    /// Whether an object with `labels` is selected.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.matches_by(|key| labels.get(key).map(String::as_str))
    }

    /// [`Self::matches`] for labels that are kept otherwise: `label` answers the value of a key.
    #[must_use]
    pub fn matches_by<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        match &self.0 {
            Terms::Nothing => false,
            Terms::All(terms) => terms.iter().all(|term| term.matches(label(&term.key))),
        }
    }

    /// [`Self::matches`] for metadata, where no labels are the same as empty ones.
    #[must_use]
    pub fn matches_optional(&self, labels: Option<&BTreeMap<String, String>>) -> bool {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        self.matches(labels.unwrap_or(&NONE))
    }
}

impl Default for Selector {
    /// Everything.
    fn default() -> Self {
        Self::everything()
    }
}

impl Requirement {
    fn checked(key: String, condition: Condition) -> Result<Self, ParseError> {
        parse::check_key(&key)?;
        match &condition {
            Condition::In(values) | Condition::NotIn(values) => {
                values.iter().try_for_each(|value| parse::check_value(&key, value))?;
            }
            Condition::Equals(value) | Condition::NotEquals(value) => parse::check_value(&key, value)?,
            _ => {}
        }
        Ok(Self { key, condition })
    }

    fn matches(&self, value: Option<&str>) -> bool {
        let among = |values: &[String], value| values.binary_search_by(|one| one.as_str().cmp(value)).is_ok();
        match (&self.condition, value) {
            (Condition::Exists, value) => value.is_some(),
            (Condition::DoesNotExist, value) => value.is_none(),
            (Condition::In(_) | Condition::Equals(_), None) => false,
            // A label that is absent differs from every value.
            (Condition::NotIn(_) | Condition::NotEquals(_), None) => true,
            (Condition::GreaterThan(_) | Condition::LessThan(_), None) => false,
            (Condition::In(values), Some(value)) => among(values, value),
            (Condition::NotIn(values), Some(value)) => !among(values, value),
            (Condition::Equals(wanted), Some(value)) => wanted == value,
            (Condition::NotEquals(wanted), Some(value)) => wanted != value,
            // A value that is no integer is neither above nor below.
            (Condition::GreaterThan(bound), Some(value)) => {
                value.parse::<i64>().is_ok_and(|value| value > *bound)
            }
            (Condition::LessThan(bound), Some(value)) => {
                value.parse::<i64>().is_ok_and(|value| value < *bound)
            }
        }
    }
}

impl FromStr for Selector {
    type Err = ParseError;

    /// Parses Kubernetes' selector syntax; the empty string selects everything.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut terms = parse::requirements(text)?;
        terms.sort();
        terms.dedup();
        Ok(Self(Terms::All(terms)))
    }
}

impl TryFrom<&LabelSelector> for Selector {
    type Error = ParseError;

    /// `matchLabels` and `matchExpressions` together. An empty `LabelSelector` selects everything, as in
    /// apimachinery's `LabelSelectorAsSelector`.
    fn try_from(selector: &LabelSelector) -> Result<Self, ParseError> {
        let mut terms = Vec::new();
        for (key, value) in selector.match_labels.iter().flatten() {
            terms.push(Requirement::checked(key.clone(), Condition::In(vec![value.clone()]))?);
        }
        for expression in selector.match_expressions.iter().flatten() {
            let values = expression.values.clone().unwrap_or_default();
            let condition = parse::condition_of(&expression.key, &expression.operator, values)?;
            terms.push(Requirement::checked(expression.key.clone(), condition)?);
        }
        terms.sort();
        terms.dedup();
        Ok(Self(Terms::All(terms)))
    }
}

impl fmt::Display for Selector {
    /// The syntax that [`Selector::from_str`] reads; [`Selector::nothing`] has none and prints as a
    /// contradiction.
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

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.condition {
            Condition::In(values) => write!(f, "{key} in ({})", values.join(",")),
            Condition::NotIn(values) => write!(f, "{key} notin ({})", values.join(",")),
            Condition::Equals(value) => write!(f, "{key}={value}"),
            Condition::NotEquals(value) => write!(f, "{key}!={value}"),
            Condition::Exists => write!(f, "{key}"),
            Condition::DoesNotExist => write!(f, "!{key}"),
            Condition::GreaterThan(bound) => write!(f, "{key}>{bound}"),
            Condition::LessThan(bound) => write!(f, "{key}<{bound}"),
        }
    }
}

#[cfg(test)]
mod tests;
