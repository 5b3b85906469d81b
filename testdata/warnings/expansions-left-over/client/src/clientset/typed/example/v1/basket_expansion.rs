//! The kind was called so.
