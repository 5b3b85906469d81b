#[path = "../src/lib.rs"]
pub mod first;
#[path = "../src/lib.rs"]
pub mod second;
