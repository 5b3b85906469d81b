//! API types of bakery.example.com, shop.example.com.

pub mod api_common;
pub mod bakery;
pub mod rights;
pub mod shop;
#[cfg(feature = "webhooks")]
pub mod webhooks;
