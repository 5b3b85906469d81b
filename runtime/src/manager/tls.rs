//! TLS of the metrics endpoint; needs the feature `webhook`.

use std::io;

use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::ManagerError;
use crate::metrics::Registry;

/// The certificate of the metrics endpoint, if it has one.
#[derive(Default)]
pub(super) struct MetricsTls {
    #[cfg(feature = "webhook")]
    certificate: Option<crate::webhook::CertWatcherBuilder>,
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
    pub(super) fn new(certificate: crate::webhook::CertWatcherBuilder) -> Self {
        Self { certificate: Some(certificate) }
    }

    /// Reads the certificate.
    pub(super) fn load(self, registry: &Registry) -> Result<Option<Tls>, ManagerError> {
        let load = |certificate: crate::webhook::CertWatcherBuilder| {
            // Scrapers use HTTP/1.1, the only protocol of the endpoints.
            let certificate = certificate.http2(false).metrics_unless_given(registry).load();
            certificate.map(|certificate| Tls { certificate: certificate.into() })
        };
        self.certificate.map(load).transpose().map_err(ManagerError::MetricsCertificate)
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

    /// Reads the certificate again whenever it changes, until `stop` is cancelled.
    pub(super) async fn reload(&self, stop: CancellationToken) {
        self.certificate.run(stop).await;
    }
}

#[cfg(not(feature = "webhook"))]
impl MetricsTls {
    pub(super) fn load(self, _: &Registry) -> Result<Option<Tls>, ManagerError> {
        Ok(None)
    }
}

#[cfg(not(feature = "webhook"))]
impl Tls {
    pub(super) async fn accept(&self, _: TcpStream) -> io::Result<TcpStream> {
        match self.never {}
    }

    pub(super) async fn reload(&self, _: CancellationToken) {
        match self.never {}
    }
}
