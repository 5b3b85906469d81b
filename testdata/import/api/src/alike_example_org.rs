//! Group `alike.example.org`.

pub mod v1;
