//! Stubs for the webhooks of the Go types. They refuse every object: write them, and add them to the manager's webhooks.

use kubesmith_runtime::webhook::{
    AdmissionContext, AdmissionError, ConversionError, Convertible, Defaulter, Hub, Validator,
    Warnings,
};

/// The answer of the stubs.
const UNWRITTEN: &str = "this webhook is not written yet";

/// Admission of Order of shop.example.com/v1.
#[derive(Clone, Copy, Debug)]
pub struct OrderWebhook;

impl Validator<crate::shop::v1::Order> for OrderWebhook {
    /// `OrderCustomValidator.ValidateCreate`, api/shop/v1/order_webhook.go:13.
    async fn validate_create(
        &self,
        _: &AdmissionContext,
        _: &crate::shop::v1::Order,
    ) -> Result<Warnings, AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }

    /// `OrderCustomValidator.ValidateUpdate`, api/shop/v1/order_webhook.go:18.
    async fn validate_update(
        &self,
        _: &AdmissionContext,
        _: &crate::shop::v1::Order,
        _: &crate::shop::v1::Order,
    ) -> Result<Warnings, AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }

    /// `OrderCustomValidator.ValidateDelete`, api/shop/v1/order_webhook.go:23.
    async fn validate_delete(
        &self,
        _: &AdmissionContext,
        _: &crate::shop::v1::Order,
    ) -> Result<Warnings, AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }
}

impl Hub for crate::shop::v1::Order {}

/// Admission of Order of shop.example.com/v1beta1.
#[derive(Clone, Copy, Debug)]
pub struct OrderV1beta1Webhook;

/// `Order.Default`, api/shop/v1beta1/order_webhook.go:8.
impl Defaulter<crate::shop::v1beta1::Order> for OrderV1beta1Webhook {
    async fn default(
        &self,
        _: &AdmissionContext,
        _: &mut crate::shop::v1beta1::Order,
    ) -> Result<(), AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }
}

/// `Order.ConvertTo`, api/shop/v1beta1/order_webhook.go:11.
impl Convertible<crate::shop::v1::Order> for crate::shop::v1beta1::Order {
    fn convert_to(self) -> Result<crate::shop::v1::Order, ConversionError> {
        Err(ConversionError::new(UNWRITTEN))
    }

    fn convert_from(_: crate::shop::v1::Order) -> Result<Self, ConversionError> {
        Err(ConversionError::new(UNWRITTEN))
    }
}

/// Admission of Order of bakery.example.com/v1.
#[derive(Clone, Copy, Debug)]
pub struct OrderV1Webhook;

/// `Order.Default`, api/v1/order_webhook.go:15.
impl Defaulter<crate::bakery::v1::Order> for OrderV1Webhook {
    async fn default(
        &self,
        _: &AdmissionContext,
        _: &mut crate::bakery::v1::Order,
    ) -> Result<(), AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }
}

impl Validator<crate::bakery::v1::Order> for OrderV1Webhook {
    /// `Order.ValidateCreate`, api/v1/order_webhook.go:18.
    async fn validate_create(
        &self,
        _: &AdmissionContext,
        _: &crate::bakery::v1::Order,
    ) -> Result<Warnings, AdmissionError> {
        Err(AdmissionError::denied(UNWRITTEN))
    }

    async fn validate_update(
        &self,
        _: &AdmissionContext,
        _: &crate::bakery::v1::Order,
        _: &crate::bakery::v1::Order,
    ) -> Result<Warnings, AdmissionError> {
        Ok(Warnings::new())
    }
}
