#[path = "lib.rs"]
pub mod again;
