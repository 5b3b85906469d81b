//! Numbers of schemas.

use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

/// A number as the schema's author wrote it, so that printing gives the same digits. Numbers compare by value: 1 equals 1.0.
#[derive(Clone, Debug)]
pub struct Number(serde_json::Number);

impl Number {
    /// The nearest float, with which API servers compare bounds.
    #[must_use]
    pub fn float(&self) -> f64 {
        self.0.as_f64().unwrap_or(f64::NAN)
    }

    /// Reports whether there is no fraction.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.0.is_f64() || self.float().fract() == 0.0
    }

    /// The number as an integer where it was written with a fraction of zero: `1.0` becomes `1`.
    #[must_use]
    pub fn plain(&self) -> Self {
        let value = self.float();
        #[expect(clippy::cast_possible_truncation, reason = "the value is within the range of exact floats")]
        match self.0.is_f64() && value.fract() == 0.0 && value.abs() < 1e15 {
            true => Self::from(value as i64),
            false => self.clone(),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || ((self.0.is_f64() || other.0.is_f64()) && self.float() == other.float())
    }
}

impl Deref for Number {
    type Target = serde_json::Number;

    fn deref(&self) -> &serde_json::Number {
        &self.0
    }
}

impl From<serde_json::Number> for Number {
    fn from(number: serde_json::Number) -> Self {
        Self(number)
    }
}

impl From<i64> for Number {
    fn from(number: i64) -> Self {
        Self(number.into())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
