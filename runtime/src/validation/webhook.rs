//! Validating webhooks that check schemas.

use serde::Serialize;

use super::SchemaValidator;
use crate::field::FieldErrors;
use crate::webhook::{AdmissionContext, AdmissionError, Validator, Warnings};

/// A schema with rules in Rust; the errors of both are returned together. Made by [`SchemaValidator::and`].
#[derive(Clone, Debug)]
pub struct WithSchema<V> {
    schema: &'static SchemaValidator,
    rules: V,
}

impl SchemaValidator {
    /// Adds rules in Rust to the schema's, for a validating webhook. Both are always checked.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubesmith_runtime::field::{FieldError, FieldPath};
    /// use kubesmith_runtime::validation::{SchemaValidator, WithSchema};
    /// use kubesmith_runtime::webhook::{
    ///     AdmissionContext, AdmissionError, Server, ServerBuilder, Validating, Validator, Warnings,
    /// };
    ///
    /// static SCHEMA: SchemaValidator = SchemaValidator::new(r#"{"schema": {"openAPIV3Schema": {"type": "object"}}}"#);
    ///
    /// struct Rules;
    ///
    /// impl Validator<ConfigMap> for Rules {
    ///     async fn validate_create(&self, _: &AdmissionContext, map: &ConfigMap) -> Result<Warnings, AdmissionError> {
    ///         match &map.data {
    ///             Some(_) => Ok(vec![]),
    ///             None => Err(FieldError::required(FieldPath::new("data"), "").into()),
    ///         }
    ///     }
    ///
    ///     async fn validate_update(
    ///         &self,
    ///         ctx: &AdmissionContext,
    ///         _: &ConfigMap,
    ///         new: &ConfigMap,
    ///     ) -> Result<Warnings, AdmissionError> {
    ///         self.validate_create(ctx, new).await
    ///     }
    /// }
    ///
    /// fn server() -> ServerBuilder {
    ///     let both: WithSchema<Rules> = SCHEMA.and(Rules);
    ///     Server::builder().admission("/validate-maps", Validating::<ConfigMap, _>::new(both))
    /// }
    /// ```
    #[must_use]
    pub fn and<V>(&'static self, rules: V) -> WithSchema<V> {
        WithSchema { schema: self, rules }
    }

    /// The errors of the schema. The server that calls the webhook evaluates its policies itself.
    fn errors<K: Serialize>(&self, ctx: &AdmissionContext, object: &K, old: Option<&K>) -> FieldErrors {
        let written = self.written(object, old, ctx.sub_resource().unwrap_or_default());
        written.causes.into_iter().map(Into::into).collect()
    }
}

/// The schema alone: a webhook with the errors of a server that has the kind's CRD.
impl<K: Serialize + Sync> Validator<K> for &'static SchemaValidator {
    async fn validate_create(&self, ctx: &AdmissionContext, object: &K) -> Result<Warnings, AdmissionError> {
        joined(self.errors(ctx, object, None), Ok(Warnings::new()))
    }

    async fn validate_update(
        &self,
        ctx: &AdmissionContext,
        old: &K,
        new: &K,
    ) -> Result<Warnings, AdmissionError> {
        joined(self.errors(ctx, new, Some(old)), Ok(Warnings::new()))
    }
}

impl<K: Serialize + Sync, V: Validator<K>> Validator<K> for WithSchema<V> {
    async fn validate_create(&self, ctx: &AdmissionContext, object: &K) -> Result<Warnings, AdmissionError> {
        joined(self.schema.errors(ctx, object, None), self.rules.validate_create(ctx, object).await)
    }

    async fn validate_update(
        &self,
        ctx: &AdmissionContext,
        old: &K,
        new: &K,
    ) -> Result<Warnings, AdmissionError> {
        joined(self.schema.errors(ctx, new, Some(old)), self.rules.validate_update(ctx, old, new).await)
    }

    async fn validate_delete(&self, ctx: &AdmissionContext, object: &K) -> Result<Warnings, AdmissionError> {
        self.rules.validate_delete(ctx, object).await
    }
}

/// Merges the errors of the schema and the rules.
fn joined(errors: FieldErrors, answer: Result<Warnings, AdmissionError>) -> Result<Warnings, AdmissionError> {
    match answer {
        answer if errors.is_empty() => answer,
        Ok(warnings) => Err(AdmissionError::from(errors).with_warnings(warnings)),
        Err(error) => Err(error.after(errors)),
    }
}
