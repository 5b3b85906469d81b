//! TLS of the metrics endpoint; needs the feature `webhook`.

use std::io;

use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::webhooks::Webhooks;
use super::{Manager, ManagerError};
use crate::metrics::Registry;

/// The certificate of the metrics endpoint.
#[derive(Default)]
pub(super) enum MetricsTls {
    /// The endpoint is plain.
    #[default]
    Off,
    /// The endpoint is plain although it has a certificate, which is refused.
    #[cfg(feature = "clap")]
    Contradicted,
    #[cfg(feature = "webhook")]
    Given(Box<crate::webhook::CertWatcherBuilder>),
    /// The manager's own one.
    #[cfg(any(feature = "cert-rotation", feature = "clap"))]
    Own,
}

/// Accepts TLS connections.
#[derive(Clone)]
pub(super) struct Tls {
    #[cfg(feature = "webhook")]
    certificate: std::sync::Arc<crate::webhook::CertWatcher>,
    #[cfg(not(feature = "webhook"))]
    never: std::convert::Infallible,
}

impl Manager {
    /// Completes the metrics, and loads their certificate if they are served over TLS.
    pub(super) fn prepare_metrics(&mut self) -> Result<Option<Tls>, ManagerError> {
        self.registry.add_process();
        let address = &self.metrics_address;
        if !address.is_on() {
            return Ok(None);
        }
        if matches!(self.metrics_tls, MetricsTls::Off) && self.metrics_authorization && !address.is_local() {
            return Err(ManagerError::PlainTokens { address: address.clone() });
        }
        std::mem::take(&mut self.metrics_tls).load(&self.webhooks, &self.registry)
    }
}

#[cfg(feature = "webhook")]
impl MetricsTls {
    /// Reads the certificate.
    #[cfg_attr(not(feature = "cert-rotation"), allow(unused_variables, reason = "webhooks have the rotator"))]
    fn load(self, webhooks: &Webhooks, registry: &Registry) -> Result<Option<Tls>, ManagerError> {
        let certificate = match self {
            MetricsTls::Off => return Ok(None),
            #[cfg(feature = "clap")]
            MetricsTls::Contradicted => return Err(ManagerError::UnusedMetricsCertificate),
            MetricsTls::Given(certificate) => *certificate,
            #[cfg(feature = "cert-rotation")]
            MetricsTls::Own => webhooks.own_certificate()?,
            #[cfg(all(feature = "clap", not(feature = "cert-rotation")))]
            MetricsTls::Own => return Err(ManagerError::NoMetricsCertificate),
        };
        // Scrapers use HTTP/1.1, the only protocol of the endpoints.
        let certificate = certificate.http2(false).metrics_unless_given(registry).load();
        let certificate = certificate.map_err(ManagerError::MetricsCertificate)?;
        Ok(Some(Tls { certificate: certificate.into() }))
    }
}

#[cfg(feature = "webhook")]
impl Tls {
    /// Does the handshake with the certificate as it is now.
    pub(super) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<tokio_rustls::server::TlsStream<TcpStream>> {
        tokio_rustls::TlsAcceptor::from(self.certificate.server_config()).accept(stream).await
    }

    /// Reads the certificate again, so that one that the webhooks have obtained is served from the start.
    pub(super) async fn refresh(&self) {
        let certificate = self.certificate.clone();
        // `reload` logs and counts a failure, and reads again at the next interval.
        let _ = tokio::task::spawn_blocking(move || drop(certificate.reload())).await;
    }

    /// Reads the certificate again whenever it changes, until `stop` is cancelled.
    pub(super) async fn reload(&self, stop: CancellationToken) {
        self.certificate.run(stop).await;
    }
}

#[cfg(not(feature = "webhook"))]
impl MetricsTls {
    /// Refuses TLS, which the feature `webhook` contains.
    fn load(self, _: &Webhooks, _: &Registry) -> Result<Option<Tls>, ManagerError> {
        match self {
            MetricsTls::Off => Ok(None),
            #[cfg(feature = "clap")]
            MetricsTls::Contradicted => Err(ManagerError::UnusedMetricsCertificate),
            #[cfg(feature = "clap")]
            MetricsTls::Own => Err(ManagerError::NoMetricsCertificate),
        }
    }
}

#[cfg(not(feature = "webhook"))]
impl Tls {
    pub(super) async fn accept(&self, _: TcpStream) -> io::Result<TcpStream> {
        match self.never {}
    }

    pub(super) async fn refresh(&self) {
        match self.never {}
    }

    pub(super) async fn reload(&self, _: CancellationToken) {
        match self.never {}
    }
}
