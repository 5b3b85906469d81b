//! The webhook servers of a manager; empty without the feature `webhook`.

use super::ManagerError;
use super::group::run_group;
use super::supervise::Supervised;

#[derive(Default)]
pub(super) struct Webhooks {
    #[cfg(feature = "webhook")]
    servers: Vec<crate::webhook::Server>,
    /// The port, for servers that name none.
    #[cfg(feature = "webhook")]
    port: Option<u16>,
    /// The folder of the certificate, for servers that name none.
    #[cfg(feature = "webhook")]
    cert_dir: Option<std::path::PathBuf>,
    /// Makes the certificate, for servers that have neither folder nor rotator.
    #[cfg(feature = "cert-rotation")]
    rotator: Option<crate::webhook::CertRotator>,
}

impl Webhooks {
    #[cfg(feature = "webhook")]
    pub(super) fn port(&mut self, port: u16) {
        self.port = Some(port);
    }

    #[cfg(feature = "webhook")]
    pub(super) fn cert_dir(&mut self, folder: std::path::PathBuf) {
        self.cert_dir = Some(folder);
    }

    #[cfg(feature = "cert-rotation")]
    pub(super) fn cert_rotator(&mut self, rotator: crate::webhook::CertRotator) {
        self.rotator = Some(rotator);
    }

    /// Returns the settings of the manager's own certificate: that of the rotator, or a self-signed one.
    #[cfg(feature = "cert-rotation")]
    pub(super) fn own_certificate(&self) -> Result<crate::webhook::CertWatcherBuilder, ManagerError> {
        let made = crate::webhook::own_certificate(self.rotator.clone(), k8s_openapi::jiff::Timestamp::now);
        made.map_err(ManagerError::OwnCertificate)
    }

    #[cfg(all(test, feature = "cert-rotation"))]
    pub(super) fn rotator(&self) -> Option<&crate::webhook::CertRotator> {
        self.rotator.as_ref()
    }

    #[cfg(feature = "webhook")]
    pub(super) fn add(&mut self, server: crate::webhook::Server) {
        self.servers.push(server);
    }

    /// Binds the addresses and serves. A later failure ends the group.
    #[cfg(feature = "webhook")]
    pub(super) async fn start(self) -> Result<Supervised, ManagerError> {
        let mut runnables = Vec::new();
        for mut server in self.servers {
            if let Some(port) = self.port {
                server.port_unless_given(port);
            }
            if let Some(folder) = &self.cert_dir {
                server.cert_dir_unless_given(folder);
            }
            #[cfg(feature = "cert-rotation")]
            if let Some(rotator) = &self.rotator {
                server.cert_rotator_unless_given(rotator);
            }
            let server = server.bind().await?;
            runnables.push(super::group::Runnable::new("the webhook server", |stop| async {
                server.run(stop).await;
                Ok::<_, std::convert::Infallible>(())
            }));
        }
        Ok(Supervised::spawn(|stop| run_group(runnables, stop)))
    }

    #[cfg(not(feature = "webhook"))]
    pub(super) async fn start(self) -> Result<Supervised, ManagerError> {
        Ok(Supervised::spawn(|stop| run_group(Vec::new(), stop)))
    }
}
