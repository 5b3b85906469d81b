use serde::{Deserialize, Serialize};

bitflags::bitflags! {
    pub struct Flags: u8 {
        const A = 1;
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Mode {
    A,
}

pub mod none {}
