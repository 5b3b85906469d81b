//! Where a webhook server under test is to listen, and with which certificate.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use kubesmith_apiserver::tls::{Authority, Pair};
use tempfile::TempDir;

use crate::address::free_address;
use crate::error::Error;

/// The place of the webhook server under test, and its certificate: what envtest calls local serving.
///
/// The server itself is the test's: it listens on [`host`](Self::host) and [`port`](Self::port) with the files `tls.crt`
/// and `tls.key` in [`cert_dir`](Self::cert_dir), which is where controller-runtime and other frameworks look for them.
/// The folder is removed with the environment.
#[derive(Debug)]
pub struct LocalServing {
    addr: SocketAddr,
    authority: String,
    folder: TempDir,
}

impl LocalServing {
    /// Finds a free port and makes certificates.
    pub(crate) fn new() -> Result<Self, Error> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let addr = free_address().map_err(|source| Error::Listen { addr: any, source })?;
        let authority = Authority::new()?;
        let pair = authority.server_pair(vec!["localhost".to_owned(), addr.ip().to_string()])?;
        let folder = written(&pair).map_err(Error::ServingCertificates)?;
        Ok(Self { addr, authority: authority.pem, folder })
    }

    /// The address to listen on, an IP address on loopback.
    #[must_use]
    pub fn host(&self) -> String {
        self.addr.ip().to_string()
    }

    /// The port to listen on. It was free when the environment looked for it, and is not held.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.addr.port()
    }

    /// The folder with the server's certificate chain (`tls.crt`) and key (`tls.key`) as PEM.
    #[must_use]
    pub fn cert_dir(&self) -> &Path {
        self.folder.path()
    }

    /// The certificate, as PEM, of the authority that signed the server's: what the `caBundle` of installed webhooks
    /// holds.
    #[must_use]
    pub fn ca_bundle(&self) -> &str {
        &self.authority
    }

    /// The URL at which the API server calls `path`.
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
