//! TLS of the metrics endpoint; needs the feature `webhook`.

use std::io;

use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::ManagerError;
use super::webhooks::Webhooks;
use crate::metrics::Registry;

/// The certificate of the metrics endpoint.
#[derive(Default)]
pub(super) enum MetricsTls {
    /// The endpoint is plain.
    #[default]
    Off,
    #[cfg(feature = "webhook")]
    Given(Box<crate::webhook::CertWatcherBuilder>),
    /// The manager's own one.
    #[cfg(any(feature = "cert-rotation", all(feature = "webhook", feature = "clap")))]
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

#[cfg(feature = "webhook")]
impl MetricsTls {
    /// Reads the certificate.
    #[cfg_attr(not(feature = "cert-rotation"), allow(unused_variables, reason = "webhooks have the rotator"))]
    pub(super) fn load(self, webhooks: &Webhooks, registry: &Registry) -> Result<Option<Tls>, ManagerError> {
        let certificate = match self {
            MetricsTls::Off => return Ok(None),
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
        // A failure is logged and counted, and the next read is soon.
        let _ = tokio::task::spawn_blocking(move || drop(certificate.reload())).await;
    }

    /// Reads the certificate again whenever it changes, until `stop` is cancelled.
    pub(super) async fn reload(&self, stop: CancellationToken) {
        self.certificate.run(stop).await;
    }
}

#[cfg(not(feature = "webhook"))]
impl MetricsTls {
    pub(super) fn load(self, _: &Webhooks, _: &Registry) -> Result<Option<Tls>, ManagerError> {
        Ok(None)
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
