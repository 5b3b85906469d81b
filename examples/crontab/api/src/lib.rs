//! CronTabs of `stable.example.com`, in the version that is stored and in the one before it.

pub mod v1;
pub mod v1beta1;
