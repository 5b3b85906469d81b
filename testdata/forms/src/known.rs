//! Types of std that serde gives a form of their own.

use std::collections::LinkedList;
use std::ffi::OsString;
use std::num::{NonZero, Wrapping};
use std::ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo};

use arbitrary::Arbitrary;
use kubesmith_runtime::Schema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema, Arbitrary)]
pub struct Known {
    pub range: Range<i32>,
    pub inclusive: RangeInclusive<i32>,
    pub from: RangeFrom<i32>,
    pub to: RangeTo<i32>,
    pub bound: Bound<i32>,
    pub wrapping: Wrapping<i32>,
    pub non_zero: NonZero<i32>,
    pub name: OsString,
    pub list: LinkedList<i32>,
    pub result: Result<bool, String>,
}
