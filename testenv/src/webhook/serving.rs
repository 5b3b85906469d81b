//! Address and certificate of a webhook server under test.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use kubesmith_apiserver::tls::{Authority, Pair};
use tempfile::TempDir;

use crate::address::free_address;
use crate::error::Error;

/// Address and certificate of the webhook server under test: envtest's local serving.
///
/// The test runs the server itself: it listens on [`host`](Self::host) and [`port`](Self::port) with the files
/// `tls.crt` and `tls.key` in [`cert_dir`](Self::cert_dir), where controller-runtime and other frameworks expect them.
/// The folder is removed with the environment.
#[derive(Debug)]
pub struct LocalServing {
    addr: SocketAddr,
    authority: String,
    folder: TempDir,
}

impl LocalServing {
    /// Finds a free port and issues certificates.
    pub(crate) fn new() -> Result<Self, Error> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let addr = free_address().map_err(|source| Error::Listen { addr: any, source })?;
        let authority = Authority::new()?;
        let pair = authority.server_pair(vec!["localhost".to_owned(), addr.ip().to_string()])?;
        let folder = written(&pair).map_err(Error::ServingCertificates)?;
        Ok(Self { addr, authority: authority.pem, folder })
    }

    /// Returns the address to listen on, an IP address on loopback.
    #[must_use]
    pub fn host(&self) -> String {
        self.addr.ip().to_string()
    }

    /// Returns the port to listen on. It was free when the environment looked for it, and is not held.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.addr.port()
    }

    /// Returns the folder with the server's certificate chain (`tls.crt`) and key (`tls.key`) in PEM.
    #[must_use]
    pub fn cert_dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the certificate of the server's authority in PEM: the `caBundle` of installed webhooks.
    #[must_use]
    pub fn ca_bundle(&self) -> &str {
        &self.authority
    }

    /// Returns the URL at which the API server calls `path`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("https://{}/{}", self.addr, path.trim_start_matches('/'))
    }
}

fn written(pair: &Pair) -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("kubesmith-serving-certs-").tempdir()?;
    std::fs::write(folder.path().join("tls.crt"), &pair.certificate)?;
    std::fs::write(folder.path().join("tls.key"), &pair.key)?;
    Ok(folder)
}
