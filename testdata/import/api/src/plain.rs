//! Group `plain.example.com`.

pub mod foo_10;
pub mod mod_;
pub mod v0;
