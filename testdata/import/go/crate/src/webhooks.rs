//! What the Go types did in webhooks. The stubs refuse what they get: write them, and add them to the manager's webhooks.

use kubesmith_runtime::webhook::{
    AdmissionContext, AdmissionError, Defaulter, Validator, Warnings,
};

/// What the stubs say.
const UNWRITTEN: &str = "this webhook is not written yet";

/// Admission of Order of v1.
#[derive(Clone, Copy, Debug)]
pub struct OrderWebhook;

/// `Order.Default`, api/v1/order_webhook.go:15.
impl Defaulter<crate::v1::Order> for OrderWebhook {
    async fn default(
        &self,
        _: &AdmissionContext,
        _: &mut crate::v1::Order,
    ) -> Result<(), AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }
}

impl Validator<crate::v1::Order> for OrderWebhook {
    /// `Order.ValidateCreate`, api/v1/order_webhook.go:18.
    async fn validate_create(
        &self,
        _: &AdmissionContext,
        _: &crate::v1::Order,
    ) -> Result<Warnings, AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }

    async fn validate_update(
        &self,
        _: &AdmissionContext,
        _: &crate::v1::Order,
        _: &crate::v1::Order,
    ) -> Result<Warnings, AdmissionError> {
        Ok(Warnings::new())
    }
}
