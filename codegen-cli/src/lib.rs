//! Generates CRDs, clients, informers and listers from Kubernetes API types written in Rust.

pub mod ir;
