//! The webhook server under test: its address, its certificates, and the configurations that point to it.

mod install;
mod serving;

pub(crate) use install::{Configurations, converts_by_service, install, lead_conversion_to, uninstall};
pub use serving::LocalServing;
