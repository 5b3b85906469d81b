//! Owners and dependents: what the garbage collector does in a cluster.

use std::sync::Arc;

use serde_json::Value;

use crate::registry::ResourceDef;
use crate::server::Server;
use crate::store::Object;

/// An object has been marked as being deleted.
pub(crate) fn marked(_server: &Arc<Server>, _def: &ResourceDef, _object: &Object) {}

/// An object is gone.
pub(crate) fn removed(_server: &Arc<Server>, _object: &Value) {}
