//! The webhook servers of a manager; none where the feature is off.

use super::ManagerError;
use super::group::run_group;
use super::supervise::Supervised;

#[derive(Default)]
pub(super) struct Webhooks {
    #[cfg(feature = "webhook")]
    servers: Vec<crate::webhook::Server>,
}

impl Webhooks {
    #[cfg(feature = "webhook")]
    pub(super) fn add(&mut self, server: crate::webhook::Server) {
        self.servers.push(server);
    }

    /// Takes the addresses and serves. What fails afterwards ends the group.
    #[cfg(feature = "webhook")]
    pub(super) async fn start(self) -> Result<Supervised, ManagerError> {
        let mut runnables = Vec::new();
        for server in self.servers {
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
