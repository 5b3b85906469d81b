//! Match conditions: expressions that a request has to meet before a webhook hears of it.

use serde_json::Value;

use super::attributes::{Attributes, Versioned};

/// The conditions of one webhook.
#[derive(Debug, Default)]
pub(super) struct Conditions;

impl Conditions {
    pub(super) fn of(_: &Value) -> Self {
        Self
    }

    pub(super) fn hold(&self, _: &Attributes<'_>, _: &Versioned) -> Result<bool, String> {
        Ok(true)
    }
}

pub(crate) fn fault(_: &str) -> Option<String> {
    None
}
