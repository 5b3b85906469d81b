//! Misspelt.
