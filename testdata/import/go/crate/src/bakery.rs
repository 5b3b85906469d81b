//! Group `bakery.example.com`.

pub mod v1;
