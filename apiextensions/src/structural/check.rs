//! All checks of a custom resource, in the server's order.

use serde_json::Value;

use super::cause::Cause;
use super::lists::validate_lists;
use super::meta::validate_embedded;
use super::validate::{blocks_rules, validate, validate_at, validate_update};
use crate::cel::{Faults, Validator};
use crate::schema::{Schema, SchemaError};

/// The checks of one version of a custom resource. Compile it once per definition; it is immutable afterwards.
#[derive(Debug)]
pub struct Checker {
    schema: Schema,
    rules: Option<Validator>,
}

impl Checker {
    /// Reads a schema and compiles its rules.
    ///
    /// # Errors
    /// Returns an error if the schema is malformed.
    pub fn new(open_api_v3_schema: &Value) -> Result<Self, SchemaError> {
        Ok(Self::from_schema(Schema::enforced(open_api_v3_schema)?))
    }

    /// Creates the checks of a parsed schema.
    #[must_use]
    pub fn from_schema(schema: Schema) -> Self {
        let rules = Validator::new(&schema, true);
        Self { schema, rules }
    }

    /// The schema, for defaulting and pruning.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the faults of a new object.
    #[must_use]
    pub fn create(&self, object: &Value) -> Vec<Cause> {
        let mut causes = self.values(object);
        causes.extend(validate_embedded(&self.schema, object));
        self.rest(causes, object, None).causes
    }

    /// Returns the faults of an object that replaces another, except those of unchanged parts.
    #[must_use]
    pub fn update(&self, object: &Value, old: &Value) -> Vec<Cause> {
        let mut causes = self.updated_values(object, old);
        causes.extend(validate_embedded(&self.schema, object));
        self.rest(causes, object, Some(old)).causes
    }

    /// Returns the faults of an object of which only the status was written.
    #[must_use]
    pub fn update_status(&self, object: &Value, old: &Value) -> Vec<Cause> {
        self.rest(self.status_values(object, old), object, Some(old)).causes
    }

    pub(super) fn values(&self, object: &Value) -> Vec<Cause> {
        validate(&self.schema, object)
    }

    pub(super) fn updated_values(&self, object: &Value, old: &Value) -> Vec<Cause> {
        validate_update(&self.schema, object, old)
    }

    pub(super) fn status_values(&self, object: &Value, old: &Value) -> Vec<Cause> {
        match (self.schema.properties.get("status"), object.get("status")) {
            (Some(schema), Some(status)) => validate_at("status", schema, status, old.get("status")),
            _ => Vec::new(),
        }
    }

    /// Adds the faults of lists and rules to those found before; some of these keep rules from running.
    pub(super) fn rest(&self, mut causes: Vec<Cause>, object: &Value, old: Option<&Value>) -> Faults {
        if old.is_none_or(|old| validate_lists(&self.schema, old).is_empty()) {
            causes.extend(validate_lists(&self.schema, object));
        }
        let mut warnings = Vec::new();
        let Some(rules) = &self.rules else { return Faults { causes, warnings } };
        if blocks_rules(&causes) {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
            causes.push(Cause::invalid("", Value::Null, detail));
        } else {
            let found = rules.validate(object, old);
            causes.extend(found.causes);
            warnings = found.warnings;
        }
        Faults { causes, warnings }
    }
}
