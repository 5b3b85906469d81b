//! The embedded server as a back end.

use http::Request;
use http::header::{AUTHORIZATION, HeaderValue};
use kube::Client;
use kubesmith_apiserver::{ApiServer, ApiServerOptions, FeatureGates};
use tower::ServiceBuilder;

use crate::error::Error;
use crate::kind::Backend;
use crate::user::{AuthenticatedUser, User};

/// Returns the first option that has no effect on `backend`.
pub(super) fn unknown_to(options: &ApiServerOptions, backend: Backend) -> Option<&'static str> {
    // Fails to compile when an option is added.
    let ApiServerOptions {
        clock,
        seed,
        history,
        controllers,
        namespace_deletion,
        simulated_node,
        data_dir,
        snapshot,
        webhooks,
        webhook_host,
        bare: _,
        authorization: _,
        feature_gates,
        containers,
    } = options;
    let set = [
        (clock.is_some(), "clock"),
        (seed.is_some(), "seed"),
        (history.is_some(), "history"),
        (data_dir.is_some(), "data_dir"),
        (snapshot.is_some(), "snapshot"),
        (webhooks.is_some(), "webhooks"),
        (webhook_host.is_some(), "webhooks_on_host"),
        (*simulated_node, "simulated_node"),
        (*feature_gates != FeatureGates::default(), "feature_gates"),
        (!containers.is_empty(), "containers"),
        // Every cluster has controllers; a control plane has none.
        (*controllers && backend != Backend::ExistingCluster, "controllers"),
        (*namespace_deletion && backend != Backend::ExistingCluster, "namespace_deletion"),
    ];
    let mut set = set.into_iter().filter(|(set, _)| *set && backend != Backend::Embedded);
    set.next().map(|(_, name)| name)
}

/// Returns a client that needs no socket.
pub(super) fn client(server: &ApiServer) -> Client {
    Client::new(server.service(), "default")
}

/// Issues a token for a user. The kubeconfig uses the socket, the client does not.
pub(super) async fn add_user(server: &mut ApiServer, user: &User) -> Result<AuthenticatedUser, Error> {
    let credentials = server.add_user(&user.name, &user.groups).await?;
    let bearer = HeaderValue::try_from(format!("Bearer {}", credentials.token))
        .map_err(|e| Error::Config(e.to_string()))?;
    let service = ServiceBuilder::new()
        .map_request(move |mut request: Request<kube::client::Body>| {
            request.headers_mut().insert(AUTHORIZATION, bearer.clone());
            request
        })
        .service(server.service());
    AuthenticatedUser::new(credentials.kubeconfig, Some(Client::new(service, "default"))).await
}
