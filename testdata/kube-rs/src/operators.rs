//! Larger kinds, made as those of operators are: each uses many forms at once.

pub mod backup;
pub mod certificate;
pub mod database;
pub mod pipeline;

pub use backup::Backup;
pub use certificate::Certificate;
pub use database::Database;
pub use pipeline::Pipeline;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where things are unless somebody says otherwise.
pub(crate) const REGION: &str = "eu-central-1";

/// How much of something is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    #[schemars(range(min = 1))]
    pub per_second: u64,
    #[serde(default)]
    pub burst: Option<u64>,
}
