//! Types that are used and cannot be named.

use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

/// How the staff are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub enum Mood {
    /// Fine.
    #[default]
    Fine,
    /// Tired.
    Tired,
}

/// A module with a type of the name of another.
pub mod port {
    use kubesmith_runtime::Schema;
    use serde::{Deserialize, Serialize};

    /// Something that comes by ship.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
    pub struct Good {
        /// The ship.
        #[serde(default)]
        pub ship: String,
        /// What else there is to know.
        #[serde(default)]
        pub papers: serde_json::Map<String, serde_json::Value>,
    }
}
