//! Group `old.example.com`.

pub mod v1alpha1;
