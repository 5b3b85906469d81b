//! Generic types: parameters with bounds and defaults, constants, aliases.

use std::collections::BTreeMap;
use std::fmt::Debug;

use arbitrary::Arbitrary;
use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

use crate::enums::{Circle, Level};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Wrapper<T: Debug> {
    pub inner: T,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Pair<A, B = A>
where
    A: Clone,
{
    pub first: A,
    pub second: B,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Sides<T, const N: usize = 2> {
    #[serde(bound(serialize = "[T; N]: Serialize", deserialize = "[T; N]: Deserialize<'de>"))]
    pub all: [T; N],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub enum Either<L, R> {
    Left(L),
    Right(R),
}

pub type Named<T> = BTreeMap<String, T>;
pub type Levels = Named<Level>;
pub type Deep<T = Levels> = Wrapper<Option<T>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Wrappers {
    pub number: Wrapper<i32>,
    pub circle: Wrapper<Circle>,
    pub optional: Wrapper<Option<i32>>,
    pub twice: Wrapper<Wrapper<String>>,
    pub alike: Pair<i32>,
    pub different: Pair<i32, Vec<Level>>,
    pub sides: Sides<bool, 3>,
    pub two: Sides<Level>,
    pub either: Either<Circle, Pair<bool>>,
    pub named: Named<Circle>,
    pub deep: Deep,
}
