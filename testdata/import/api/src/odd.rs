//! Group `odd.example.com`.

pub mod v1;
