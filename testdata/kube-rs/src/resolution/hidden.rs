use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Exported by the module above.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Exported {
    pub deep: deeper::Deep,
}

impl Exported {
    pub(super) fn text() -> String {
        super::other::NAME.into()
    }
}

pub mod deeper {
    use super::{Deserialize, JsonSchema, Serialize};

    /// Deep down.
    #[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
    pub struct Deep {
        pub depth: u8,
    }

    pub(in crate::resolution) const fn number() -> i32 {
        super::super::other::NUMBER
    }
}
