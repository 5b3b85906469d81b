//! The first steps of a server: the objects that every cluster has, the served resources, and the work that an earlier run left
//! open.

mod image;
mod initial;
mod seed;

use std::sync::Arc;

use crate::clock::Clock;
use crate::server::{Server, ServerOptions, Snapshot};
use crate::store::Store;
use crate::{authorization, definitions, lifecycle};

pub(crate) use seed::publish_authority;

/// Creates a server of the stored objects; unless bare, it adds the objects that every cluster has.
pub(crate) fn start(store: Arc<Store>, clock: Arc<dyn Clock>, options: ServerOptions) -> Arc<Server> {
    let is_new = store.is_new();
    let server = Server::new(store, clock, options);
    if !server.is_bare() && is_new {
        image::fill(&server);
    } else if !server.is_bare() {
        seed::seed(&server);
    }
    definitions::refresh(&server);
    server.refresh_hooks();
    if !is_new {
        lifecycle::resume(&server);
    }
    server
}

/// Creates a server from the state of another one.
pub(crate) fn resume(snapshot: &Snapshot, clock: Arc<dyn Clock>, options: ServerOptions) -> Arc<Server> {
    let server = Server::of(snapshot, clock, options);
    *server.reconciling() = Some(definitions::established(&server));
    if !snapshot.aggregates_roles {
        authorization::aggregate(&server);
    }
    if !snapshot.controllers {
        lifecycle::resume(&server);
    }
    server
}
