//! The imports of code with clients: `use kubesmith_runtime::client::prelude::*;`
//!
//! The parameters and results of requests, and the traits of [`verbs`](super::verbs) without their names, so that
//! methods of clients given as `impl BalancersGetter` can be called.

pub use kube::api::{DeleteParams, ListParams, ObjectList, Patch, PatchParams, PostParams, WatchParams};

pub use super::verbs::{
    Apply as _, ApplyStatus as _, Create as _, Delete as _, DeleteCollection as _, Get as _, List as _,
    Patch as _, Update as _, UpdateStatus as _, Watch as _,
};
pub use super::{Deletion, Error, ResponseFuture, RestClient, Result, TypedClient, WatchStream};
