//! Every expected tree, compiled under the workspace's lints. A case of the tests that is not here fails them.
#![allow(clippy::module_inception, reason = "cases are called like the parts that they show")]

#[path = "../../cases/apply/expected/mod.rs"]
pub mod apply;
#[path = "../../cases/built-in/expected/mod.rs"]
pub mod built_in;
#[path = "../../cases/built-in-mixed/expected/mod.rs"]
pub mod built_in_mixed;
#[path = "../../cases/cluster-scope/expected/mod.rs"]
pub mod cluster_scope;
#[path = "../../cases/conversions/expected/mod.rs"]
pub mod conversions;
#[path = "../../cases/defaults/expected/mod.rs"]
pub mod defaults;
#[path = "../../cases/groups-versions/expected/mod.rs"]
pub mod groups_versions;
#[path = "../../cases/header/expected/mod.rs"]
pub mod header;
#[path = "../../cases/methods/expected/mod.rs"]
pub mod methods;
#[path = "../../cases/names/expected/mod.rs"]
pub mod names;
#[path = "../../cases/namespaced-scope/expected/mod.rs"]
pub mod namespaced_scope;
#[path = "../../cases/only-client/expected/mod.rs"]
pub mod only_client;
#[path = "../../cases/only-informer/expected/mod.rs"]
pub mod only_informer;
#[path = "../../cases/only-lister/expected/mod.rs"]
pub mod only_lister;
#[path = "../../cases/summaries/expected/mod.rs"]
pub mod summaries;
#[path = "../../cases/validations/expected/mod.rs"]
pub mod validations;
#[path = "../../cases/verbs/expected/mod.rs"]
pub mod verbs;
