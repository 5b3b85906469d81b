//! Clientsets for unit tests: the real clients on an API server inside the test.
//!
//! A [`Fake`] is client-go's fake clientset. A generated package has one for its own clients: `FakeClientset`, behind
//! its feature `fake`. Its clients are the package's real ones, connected to an embedded API server: without sockets,
//! and a new one for each fake, created in about a millisecond. On the way there every request
//!
//! 1. becomes an [`Action`] and is recorded ([`Fake::actions`]);
//! 2. passes the reactors in their order ([`Fake::prepend_reactor`]), of which the first that does not
//!    [pass](Reaction::pass) responds;
//! 3. goes to the server if none of them responds.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::{Api, Client, api::{Patch, PatchParams}};
//! use kubesmith_testenv::fake::{Fake, Reaction};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `FakeClientset::new([..])` in a program with a generated package.
//! let fake = Fake::<Client>::builder().build()?;
//! fake.prepend_reactor("patch", "configmaps", |action| match action.name() {
//!     "locked" => Reaction::forbidden(action, "it is locked"),
//!     _ => Reaction::pass(),
//! });
//!
//! let maps: Api<ConfigMap> = Api::namespaced(fake.client(), "shop");
//! let patch = |name: &str| {
//!     Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}}))
//! };
//! assert!(maps.patch("locked", &PatchParams::apply("me"), &patch("locked")).await.is_err());
//! let map = maps.patch("prices", &PatchParams::apply("me"), &patch("prices")).await?;
//! assert!(map.metadata.managed_fields.is_some());
//! let seen: Vec<_> = fake.actions().iter().map(ToString::to_string).collect();
//! assert_eq!(seen, ["patch configmaps shop/locked", "patch configmaps shop/prices"]);
//! # Ok(())
//! # }
//! ```
//!
//! # Differences to a server
//!
//! As on a server, and unlike client-go's fake: selectors, `generateName`, resource versions and conflicts of updates,
//! `generation`, finalizers and deletion timestamps, the status subresource, defaults, pruning and validation by the CRD's
//! schema, server-side apply with its conflicts, and watches with bookmarks and streaming lists.
//!
//! Unlike on a server, to suit unit tests: it starts empty, and namespaces need not exist; dependents and namespaces
//! are not garbage-collected (both unless there are [controllers](FakeBuilder::controllers)); all requests are
//! authorized; a CRD's conversion webhook is not called, so that versions of a kind differ only in their names.

mod action;
mod builder;
mod error;
mod object;
mod reaction;
mod service;
mod tracker;
mod watcher;

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use kube::Client;

pub use action::{Action, PatchType};
pub use builder::FakeBuilder;
pub use error::FakeError;
pub use object::Object;
pub use reaction::{Reaction, first};
pub use tracker::Tracker;
pub use watcher::FakeWatcher;

use service::{Core, Reactor};

/// Clients that a [`Fake`] can be created for: generated clientsets, and kube's plain [`Client`].
pub trait FakeClients: Sized {
    /// The CRDs of the clients' kinds: a list as JSON, or empty.
    const CRDS: &'static str;

    /// Creates the clients from the fake's.
    fn of_client(client: Client) -> Self;
}

impl FakeClients for Client {
    const CRDS: &'static str = "";

    fn of_client(client: Client) -> Self {
        client
    }
}

/// Clients of an API server inside the test, with a record of their requests and with reactors: client-go's fake
/// clientset.
///
/// It dereferences to the clients. Clones share everything. The server has no task of its own unless it runs
/// [controllers](FakeBuilder::controllers), and ends with the last of the fake's clones and clients; [`Fake::stop`]
/// ends watches before. See [the module](self) for an example.
#[derive(Clone)]
pub struct Fake<C> {
    clients: C,
    client: Client,
    core: Arc<Core>,
}

impl<C: FakeClients> Fake<C> {
    /// Creates a fake with objects in it. [`objects!`](crate::objects) puts objects of different kinds into one list;
    /// [`Fake::builder`] has more options.
    ///
    /// # Errors
    /// Returns an error as [`FakeBuilder::build`].
    pub fn new<O: Into<Object>>(objects: impl IntoIterator<Item = O>) -> Result<Self, FakeError> {
        Self::builder().objects(objects).build()
    }

    /// Returns a builder of fakes.
    #[must_use]
    pub fn builder() -> FakeBuilder<C> {
        FakeBuilder::new()
    }
}

impl<C> Fake<C> {
    /// Returns the client that all others use.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Returns other clients of the same server, such as those of another generated package; see
    /// [`FakeBuilder::kinds_of`].
    #[must_use]
    pub fn clients<D: FakeClients>(&self) -> D {
        D::of_client(self.client())
    }

    /// Returns the requests so far, in their order, including failed ones.
    #[must_use]
    pub fn actions(&self) -> Vec<Action> {
        self.core.actions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Forgets the requests so far.
    pub fn clear_actions(&self) {
        self.core.actions.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Adds a function before the other reactors, for requests with this verb and for this resource, where `*` is any;
    /// see [`Action::matches`]. It runs after the request was recorded, and may use all functions of the fake that do
    /// not wait.
    pub fn prepend_reactor(
        &self,
        verb: &str,
        resource: &str,
        react: impl Fn(&Action) -> Reaction + Send + Sync + 'static,
    ) {
        let reactor = reactor(verb, resource, react);
        self.core.reactors.lock().unwrap_or_else(PoisonError::into_inner).insert(0, reactor);
    }

    /// As [`Fake::prepend_reactor`], after the other reactors and before the server.
    pub fn add_reactor(
        &self,
        verb: &str,
        resource: &str,
        react: impl Fn(&Action) -> Reaction + Send + Sync + 'static,
    ) {
        let reactor = reactor(verb, resource, react);
        self.core.reactors.lock().unwrap_or_else(PoisonError::into_inner).push(reactor);
    }

    /// [`Fake::prepend_reactor`] for watches, which may return [`Reaction::watch`]. Informers start with a watch that
    /// sends the current objects, and list when that is refused; [`FakeWatcher::reactor`] does so.
    pub fn prepend_watch_reactor(
        &self,
        resource: &str,
        react: impl Fn(&Action) -> Reaction + Send + Sync + 'static,
    ) {
        self.prepend_reactor("watch", resource, react);
    }

    /// Returns the objects, past the client: operations there are no actions.
    #[must_use]
    pub fn tracker(&self) -> Tracker {
        self.core.tracker.clone()
    }

    /// Ends the server's watches, and later ones at once, and waits for the controllers if there are any. Other
    /// requests still work. Watches of a [`FakeWatcher`] end by [`FakeWatcher::stop`].
    ///
    /// # Cancel safety
    /// Dropping the future does not wait for the controllers, which end nevertheless.
    pub async fn stop(&self) {
        let server = self.core.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = server {
            server.stop().await;
        }
    }
}

fn reactor(
    verb: &str,
    resource: &str,
    react: impl Fn(&Action) -> Reaction + Send + Sync + 'static,
) -> Reactor {
    Reactor { verb: verb.to_owned(), resource: resource.to_owned(), react: Arc::new(react) }
}

impl<C> Borrow<C> for Fake<C> {
    fn borrow(&self) -> &C {
        &self.clients
    }
}

impl<C> Deref for Fake<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.clients
    }
}

impl<C> From<Fake<C>> for Client {
    fn from(fake: Fake<C>) -> Self {
        fake.client
    }
}

impl<C> fmt::Debug for Fake<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fake").field("actions", &self.actions().len()).finish_non_exhaustive()
    }
}
