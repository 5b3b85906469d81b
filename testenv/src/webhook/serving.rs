//! Address and certificate of a webhook server under test.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use kubesmith_apiserver::WebhookHost;
use kubesmith_apiserver::tls::Authority;
use tempfile::{NamedTempFile, TempDir};

use crate::address::free_address;
use crate::error::Error;

/// Address and certificate of the webhook server under test: envtest's local serving.
///
/// The test runs the server itself: it listens on [`host`](Self::host) and [`port`](Self::port) with the files
/// `tls.crt` and `tls.key` in [`cert_dir`](Self::cert_dir), where controller-runtime and other frameworks expect them.
/// The folder is removed with the environment, unless
/// [`TestEnvBuilder::webhooks_on_host`](crate::TestEnvBuilder::webhooks_on_host) names it.
#[derive(Debug)]
pub struct LocalServing {
    addr: SocketAddr,
    authority: String,
    folder: PathBuf,
    _temporary: Option<TempDir>,
}

/// The first line of certificates in a folder of the user's: a file without it is not replaced.
const MARK: &str = "# Made by kubesmith.\n";

impl LocalServing {
    /// Finds a free port and issues certificates.
    pub(crate) fn new() -> Result<Self, Error> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let addr = free_address().map_err(|source| Error::Listen { addr: any, source })?;
        let temporary = tempfile::Builder::new().prefix("kubesmith-serving-certs-").tempdir();
        let temporary = temporary.map_err(Error::ServingCertificates)?;
        let serving = Self::at(addr, temporary.path().to_path_buf())?;
        Ok(Self { _temporary: Some(temporary), ..serving })
    }

    /// Issues certificates for an address, in a folder that stays.
    pub(crate) fn at(addr: SocketAddr, folder: PathBuf) -> Result<Self, Error> {
        let authority = Authority::new()?;
        let pair = authority.server_pair(vec!["localhost".to_owned(), addr.ip().to_string()])?;
        written(&folder, &(MARK.to_owned() + &pair.certificate), &pair.key)
            .map_err(Error::ServingCertificates)?;
        Ok(Self { addr, authority: authority.pem, folder, _temporary: None })
    }

    /// Returns where the embedded server calls the webhooks of services.
    pub(crate) fn host_of_webhooks(&self) -> WebhookHost {
        WebhookHost { address: self.addr, authority: self.authority.clone() }
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
        &self.folder
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

/// Replaces the files one after the other, so that a running webhook server never reads half of one.
fn written(folder: &Path, certificate: &str, key: &str) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let [certificate_path, key_path] = ["tls.crt", "tls.key"].map(|name| folder.join(name));
    let is_ours = std::fs::read(&certificate_path).is_ok_and(|old| old.starts_with(MARK.as_bytes()));
    if !is_ours && (certificate_path.exists() || key_path.exists()) {
        let text = format!("{} has a certificate of another program", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    for (path, text) in [(key_path, key), (certificate_path, certificate)] {
        // Only its owner may read such a file.
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|error| error.error)?;
    }
    Ok(())
}
