//! Informers take in nothing.
