//! Group `alike.example.com`.

pub mod v1;
