//! The manager's life: start in order, supervise, stop in order.

use std::future::Future;
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use super::authorization::Authorizer;
use super::group::run_group;
use super::http::{Routes, serve};
use super::informers::Informers;
use super::supervise::{Supervised, lead, share, work};
use super::tls::Tls;
use super::{BindAddress, Manager, ManagerError};
use crate::deadline::after;
use crate::leaderelection::LeaderElector;

impl Manager {
    /// Runs everything until `stop` ends or a part fails, and returns when all parts have ended.
    ///
    /// `stop` is a [`shutdown_signal`](super::shutdown_signal), a token's `cancelled_owned()`, or any other future.
    ///
    /// # Errors
    ///
    /// The first [`ManagerError`]; all parts have ended then too.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts everything; informers are stopped but not awaited.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) -> Result<(), ManagerError> {
        if let (Some(_), None, Some(first)) = (&self.sharding, &self.elector, self.on_leader.first()) {
            return Err(ManagerError::NoLeader { name: first.name().to_owned() });
        }
        let metrics_tls = self.prepare_metrics()?;
        let endpoints_stop = CancellationToken::new();
        let informers = Informers([vec![self.factory], self.informers].concat());
        let authorizer = self.metrics_authorization.then(|| Authorizer::new(self.client));
        let lease = self.elector.as_ref().map(LeaderElector::view);
        let debug = Routes::debug(self.states, informers.clone(), self.shard, lease, self.log_levels);
        let endpoints = [
            (
                "metrics",
                self.metrics_address,
                Routes::metrics(self.registry, authorizer),
                metrics_tls.clone(),
            ),
            ("health", self.health_address, Routes::health(self.healthz, self.readyz), None),
            ("debug", self.debug_address, debug, None),
        ];
        let mut endpoints = serve_all(endpoints, &endpoints_stop).await?;
        let mut webhooks = self.webhooks.start().await?;
        if let Some(tls) = metrics_tls {
            tls.refresh().await;
        }
        let (core_events, events, grace) = (self.core_events, self.events, self.grace);
        informers.start();
        let mut stop = std::pin::pin!(stop);
        let synced = tokio::select! {
            biased;
            () = stop.as_mut() => None,
            error = webhooks.failed() => Some(Err(error)),
            synced = informers.wait_for_cache_sync(self.cache_sync_timeout) => Some(synced.map_err(Into::into)),
        };
        let (result, deadline) = match synced {
            None => (Ok(()), after(grace)),
            Some(Err(error)) => (Err(error), after(grace)),
            Some(Ok(())) => {
                let replica = Supervised::spawn(|stop| run_group(self.on_every_replica, stop));
                let shard = Supervised::spawn(|stop| share(self.on_shard, self.sharding, stop));
                let leader = Supervised::spawn(|stop| lead(self.on_leader, self.elector, self.leader, stop));
                work([replica, shard, leader], &mut webhooks, stop, grace).await
            }
        };
        let rest = async {
            if let Some(events) = core_events {
                events.shutdown().await;
            }
            if let Some(events) = events {
                events.shutdown().await;
            }
            informers.shutdown().await;
            let stopped = webhooks.stop(deadline, grace).await;
            endpoints_stop.cancel();
            while endpoints.join_next().await.is_some() {}
            stopped
        };
        let rest = timeout_at(deadline, rest).await;
        result.and(rest.unwrap_or(Err(ManagerError::ShutdownTimeout(grace))))
    }
}

async fn serve_all(
    endpoints: [(&'static str, BindAddress, Routes, Option<Tls>); 3],
    stop: &CancellationToken,
) -> Result<JoinSet<()>, ManagerError> {
    let mut tasks = JoinSet::new();
    for (what, address, routes, tls) in endpoints {
        let listener = address.listen().await;
        let listener =
            listener.map_err(|source| ManagerError::Bind { what, address: address.clone(), source })?;
        let Some(listener) = listener else { continue };
        // With port 0, only the listener knows the port.
        let address =
            listener.local_addr().map_or_else(|_| address.to_string(), |address| address.to_string());
        tracing::info!(what, address, tls = tls.is_some(), "serving");
        tasks.spawn(serve(listener, Arc::new(routes), tls, stop.clone()));
    }
    Ok(tasks)
}
