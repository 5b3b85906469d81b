//! Tests against what Go 1.26 says.

mod corpus;
mod unicode;
