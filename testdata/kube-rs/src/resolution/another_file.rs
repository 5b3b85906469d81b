//! A file that is not where its name says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const NAME: &str = "another file";
pub const NUMBER: i32 = 7;

/// In another file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Elsewhere {
    pub level: Level,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub enum Level {
    Low,
    High,
}

pub fn default_level() -> Level {
    use Level::Low;
    Low
}
