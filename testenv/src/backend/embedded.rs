//! The server in this process.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http::header::{AUTHORIZATION, HeaderValue};
use kube::Client;
use tower::ServiceBuilder;

use super::choice::Backend;
use crate::clock::{Clock, SystemClock};
use crate::controllers::{Controllers, Selection};
use crate::error::Error;
use crate::fault::Upstream;
use crate::identity::Identity;
use crate::kubeconfig::Credentials;
use crate::listen::{Listener, Sockets};
use crate::server::{ApiService, Origin, Server, ServerOptions};
use crate::store::{NotDurable, Store};
use crate::tokens;
use crate::user::{AuthenticatedUser, User};

/// How many events of each resource watches can replay.
const HISTORY: usize = 10_000;

/// How long clients have to finish when the server stops.
const GRACE: Duration = Duration::from_secs(1);

/// What can be told only to a server in this process; `None` is what the server does unless told.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedOptions {
    pub(crate) clock: Option<Arc<dyn Clock>>,
    pub(crate) seed: Option<u64>,
    pub(crate) history: Option<usize>,
    pub(crate) controllers: bool,
    pub(crate) simulated_node: bool,
    pub(crate) data_dir: Option<PathBuf>,
    /// Starts with no objects, and takes objects in namespaces that do not exist. No public option, so it needs no name.
    pub(crate) bare: bool,
}

impl EmbeddedOptions {
    /// The first option that was set and means nothing to `backend`.
    pub(crate) fn unknown_to(&self, backend: Backend) -> Option<&'static str> {
        // A new option has to be placed here as well.
        let Self { clock, seed, history, controllers, simulated_node, data_dir, bare: _ } = self;
        let set = [
            (clock.is_some(), "clock"),
            (seed.is_some(), "seed"),
            (history.is_some(), "history"),
            (data_dir.is_some(), "data_dir"),
            (*simulated_node, "simulated_node"),
            // Every cluster has controllers; only kube-apiserver alone has none.
            (*controllers && backend != Backend::ExistingCluster, "controllers"),
        ];
        let mut set = set.into_iter().filter(|(set, _)| *set && backend != Backend::Embedded);
        set.next().map(|(_, name)| name)
    }
}

/// An embedded server and the socket it may have.
#[derive(Debug)]
pub(crate) struct Embedded {
    server: Arc<Server>,
    listener: Option<Listener>,
    controllers: Option<Controllers>,
}

impl Embedded {
    pub(crate) fn start(options: EmbeddedOptions) -> Result<Self, Error> {
        let clock = options.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let history = options.history.unwrap_or(HISTORY);
        let store = match &options.data_dir {
            Some(folder) => {
                Store::open(folder, history).map_err(|(path, source)| Error::Data { path, source })?
            }
            None => Store::new(history),
        };
        let server_options =
            ServerOptions { seed: options.seed, controllers: options.controllers, bare: options.bare };
        let server = Server::new(Arc::new(store), clock, server_options);
        let selection = Selection { manager: options.controllers, node: options.simulated_node };
        let controllers = match selection == Selection::default() {
            true => None,
            false => {
                // Made here, before a listener and a controller could both want to.
                Identity::of(&server.store)?;
                Some(Controllers::start(&server, selection))
            }
        };
        Ok(Self { server, listener: None, controllers })
    }

    /// A client that needs no socket.
    pub(crate) fn client(&self) -> Client {
        Client::new(ApiService::new(self.server.clone(), Origin::default()), "default")
    }

    /// Makes a token for a user. The kubeconfig is for the socket, the client needs none.
    pub(crate) async fn add_user(&mut self, user: &User) -> Result<AuthenticatedUser, Error> {
        if self.listener.is_none() {
            self.kubeconfig().await?;
        }
        let token = tokens::issue_to_user(&self.server, &user.name, &user.groups)?;
        let credentials = Credentials::Token(&token);
        let kubeconfig = self.listener.as_ref().map(|listener| listener.kubeconfig_for(&credentials));
        let bearer =
            HeaderValue::try_from(format!("Bearer {token}")).map_err(|e| Error::Config(e.to_string()))?;
        let service = ServiceBuilder::new()
            .map_request(move |mut request: Request<kube::client::Body>| {
                request.headers_mut().insert(AUTHORIZATION, bearer.clone());
                request
            })
            .service(ApiService::new(self.server.clone(), Origin::default()));
        AuthenticatedUser::new(kubeconfig.unwrap_or_default(), Some(Client::new(service, "default"))).await
    }

    /// The server itself.
    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// A way to the server for bodies of any kind.
    pub(crate) fn upstream(&self) -> Upstream {
        crate::fault::boxed(ApiService::new(self.server.clone(), Origin::default()))
    }

    /// Opens a socket on `addr` in place of the one there was, with TLS unless `plain`; returns its URL.
    pub(crate) async fn listen(&mut self, addr: SocketAddr, plain: bool) -> Result<String, Error> {
        if let Some(old) = self.listener.take() {
            old.stop().await;
        }
        let identity = if plain { None } else { Some(Identity::of(&self.server.store)?) };
        let token = identity.as_ref().map(|identity| identity.token.clone());
        let service = ApiService::new(self.server.clone(), Origin { token });
        let sockets = Sockets { identity, http2: true, grace: GRACE };
        let listener = Listener::start(addr, sockets, service).await?;
        let url = listener.url();
        self.listener = Some(listener);
        // Whoever is told the authority and the token can rely on them.
        self.server.store.settled().await.map_err(lost)?;
        Ok(url)
    }

    pub(crate) fn url(&self) -> Option<String> {
        self.listener.as_ref().map(Listener::url)
    }

    /// Describes the socket; opens one on loopback if there is none.
    pub(crate) async fn kubeconfig(&mut self) -> Result<String, Error> {
        if self.listener.is_none() {
            self.listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), false).await?;
        }
        Ok(self.listener.as_ref().map(Listener::kubeconfig).unwrap_or_default())
    }

    pub(crate) fn compact(&self) {
        self.server.store.compact();
    }

    pub(crate) async fn stop(mut self) {
        self.server.stop();
        if let Some(controllers) = self.controllers.take() {
            controllers.stop().await;
        }
        if let Some(listener) = self.listener.take() {
            listener.stop().await;
        }
        self.server.webhooks.stop().await;
        let store = self.server.store.clone();
        // Waits for the disk; if the runtime refuses, dropping does the same.
        let _ = tokio::task::spawn_blocking(move || store.shut_down()).await;
    }

    /// Resolves when nothing can be made durable any more.
    pub(crate) async fn failed(&self) -> Error {
        lost(self.server.store.failed().await)
    }
}

fn lost(NotDurable(why): NotDurable) -> Error {
    Error::Storage(why.to_string())
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.server.stop();
        // At most one write is left to wait for.
        self.server.store.shut_down();
    }
}
