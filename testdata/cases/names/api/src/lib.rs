//! Names that are also words of Rust, of its prelude or of generated code.

pub mod generic;
pub mod plain;
pub mod start;
