//! Emitters: turn the intermediate representation into file texts, without decisions and I/O.

pub mod crd;
pub mod deploy;
pub mod docs;
pub mod embedded;
pub mod helm;
mod manifest;
pub mod openapi;
pub mod policy;
pub mod rbac;
pub mod rust;
pub mod webhook;
