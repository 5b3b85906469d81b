//! One requirement of a label selector.

use std::fmt;

use super::ParseError;
use crate::field::Cause;
use crate::names;

/// A condition on one label: apimachinery's `Requirement`. Values are sorted and distinct.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
    /// The value of `>` and `<`.
    bound: i64,
}

/// The operator of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Operator {
    In,
    Equals,
    NotIn,
    NotEquals,
    Exists,
    DoesNotExist,
    GreaterThan,
    LessThan,
}

impl Operator {
    /// The operator of an entry of `matchExpressions`.
    pub(super) fn of_expression(name: &str) -> Result<Self, ParseError> {
        match name {
            "In" => Ok(Self::In),
            "NotIn" => Ok(Self::NotIn),
            "Exists" => Ok(Self::Exists),
            "DoesNotExist" => Ok(Self::DoesNotExist),
            other => Err(ParseError::Operator { operator: other.to_owned() }),
        }
    }
}

/// Returns the fault of a label key.
pub(super) fn key_error(field: &str, key: &str) -> Option<Cause> {
    let errors = names::qualified_name(key);
    (!errors.is_empty()).then(|| Cause::invalid(field, key, errors.join("; ")))
}

impl Requirement {
    /// Checks a requirement as apimachinery's `NewRequirement` does.
    pub(super) fn new(key: &str, operator: Operator, mut values: Vec<String>) -> Result<Self, ParseError> {
        values.sort();
        values.dedup();
        let mut causes = Vec::from_iter(key_error("key", key));
        let mut wrong_values = |detail| causes.push(Cause::invalid("values", values.clone(), detail));
        match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                wrong_values("for 'in', 'notin' operators, values set can't be empty");
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                wrong_values("values set must be empty for exists and does not exist");
            }
            _ => {}
        }
        let mut bound = 0;
        for (at, value) in values.iter().enumerate() {
            if matches!(operator, Operator::GreaterThan | Operator::LessThan) {
                match value.parse() {
                    Ok(number) => bound = number,
                    Err(_) => causes.push(Cause::invalid(
                        format!("values[{at}]"),
                        value.as_str(),
                        "for 'Gt', 'Lt' operators, the value must be an integer",
                    )),
                }
            }
            let errors = names::label_value(value);
            if !errors.is_empty() {
                causes.push(Cause::invalid(
                    format!("values[{at}][{key}]"),
                    value.as_str(),
                    errors.join("; "),
                ));
            }
        }
        match causes.is_empty() {
            true => Ok(Self { key: key.to_owned(), operator, values, bound }),
            false => Err(ParseError::Requirement { causes }),
        }
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Reports whether the value of the label, if the object has it, meets the requirement.
    pub(super) fn matches(&self, value: Option<&str>) -> bool {
        let is_listed = |value: &str| self.values.iter().any(|one| one == value);
        // A value that is not an integer is neither above nor below.
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self.operator {
            Operator::In | Operator::Equals => value.is_some_and(is_listed),
            Operator::NotIn | Operator::NotEquals => !value.is_some_and(is_listed),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => number().is_some_and(|number| number > self.bound),
            Operator::LessThan => number().is_some_and(|number| number < self.bound),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
        }
    }
}
