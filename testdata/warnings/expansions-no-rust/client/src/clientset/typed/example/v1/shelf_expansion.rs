//! A word is missing.

pub struct;
