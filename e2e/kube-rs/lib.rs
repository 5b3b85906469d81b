//! Tests only: see `tests/controller.rs`.
