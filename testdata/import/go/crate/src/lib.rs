//! API types of bakery.example.com.

pub mod api_common;
pub mod rights;
pub mod v1;
#[cfg(feature = "webhooks")]
pub mod webhooks;
