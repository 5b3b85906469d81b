//! The files of the server's certificate, and the settings of their watcher.

use std::fmt;
use std::path::{Path, PathBuf};

use super::CertWatcher;
#[cfg(feature = "cert-rotation")]
use crate::webhook::CertRotator;
use crate::webhook::CertWatcherBuilder;

type Setting = Box<dyn FnOnce(CertWatcherBuilder) -> CertWatcherBuilder + Send>;

/// The files of the certificate, and further settings of their watcher.
pub(super) struct Certificates {
    /// controller-runtime's folder unless given.
    pub(super) folder: Option<PathBuf>,
    pub(super) cert_name: String,
    pub(super) key_name: String,
    pub(super) client_ca_name: Option<String>,
    pub(super) settings: Vec<Setting>,
    #[cfg(feature = "cert-rotation")]
    pub(super) rotator: Option<CertRotator>,
}

impl Certificates {
    pub(super) fn new() -> Self {
        Certificates {
            folder: None,
            cert_name: "tls.crt".to_owned(),
            key_name: "tls.key".to_owned(),
            client_ca_name: None,
            settings: Vec::new(),
            #[cfg(feature = "cert-rotation")]
            rotator: None,
        }
    }

    pub(super) fn folder_unless_given(&mut self, folder: &Path) {
        self.folder.get_or_insert_with(|| folder.to_owned());
    }

    /// Uses this rotator unless there is one, or a folder.
    #[cfg(feature = "cert-rotation")]
    pub(super) fn rotator_unless_given(&mut self, rotator: &CertRotator) {
        if self.folder.is_none() {
            self.rotator.get_or_insert_with(|| rotator.clone());
        }
    }

    pub(super) fn into_watcher(self) -> CertWatcherBuilder {
        let default = || std::env::temp_dir().join("k8s-webhook-server").join("serving-certs");
        let folder = self.folder.unwrap_or_else(default);
        let mut watcher = CertWatcher::builder(folder.join(&self.cert_name), folder.join(&self.key_name));
        #[cfg(feature = "cert-rotation")]
        if let Some(rotator) = self.rotator {
            watcher = rotator.watcher();
        }
        if let Some(name) = &self.client_ca_name {
            watcher = watcher.client_ca(folder.join(name));
        }
        self.settings.into_iter().fold(watcher, |watcher, setting| setting(watcher))
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificates")
            .field("folder", &self.folder)
            .field("cert_name", &self.cert_name)
            .field("key_name", &self.key_name)
            .field("client_ca_name", &self.client_ca_name)
            .finish_non_exhaustive()
    }
}
