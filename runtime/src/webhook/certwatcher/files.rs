//! Loads TLS settings from files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use x509_parser::parse_x509_certificate;

use super::{CertificateError, Settings, TlsVersion};

/// The paths of certificate, key and the clients' authorities.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
    pub(super) client_ca: Option<PathBuf>,
    pub(super) source: Option<PairSource>,
}

/// The source of certificate and key other than files.
#[derive(Clone)]
pub(crate) struct PairSource(pub(crate) Arc<dyn Fn() -> (Vec<u8>, Vec<u8>) + Send + Sync>);

impl fmt::Debug for PairSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairSource")
    }
}

/// The contents of the files.
#[derive(PartialEq, Eq)]
pub(super) struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    client_ca: Option<Vec<u8>>,
}

/// A usable certificate, except for its validity.
pub(super) struct Loaded {
    pub(super) config: Arc<ServerConfig>,
    pub(super) not_before: Timestamp,
    pub(super) not_after: Timestamp,
}

impl Files {
    pub(super) fn read(&self) -> Result<Contents, CertificateError> {
        let (certificate, key) = match &self.source {
            Some(source) => source.0(),
            None => (read(&self.certificate)?, read(&self.key)?),
        };
        Ok(Contents { certificate, key, client_ca: self.client_ca.as_deref().map(read).transpose()? })
    }

    pub(super) fn load(&self, contents: &Contents, settings: Settings) -> Result<Loaded, CertificateError> {
        let chain = certificates(&self.certificate, &contents.certificate)?;
        let (not_before, not_after) = self.validity(&chain)?;
        let key = PrivateKeyDer::from_pem_slice(&contents.key)
            .map_err(|error| malformed(&self.key, "private key", describe(&error, "private key")))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let pair = CertifiedKey::from_der(chain, key, &provider).map_err(|source| match source {
            rustls::Error::InconsistentKeys(_) => CertificateError::Mismatch {
                certificate: self.certificate.clone(),
                key: self.key.clone(),
                source,
            },
            other => malformed(&self.key, "private key", other.to_string()),
        })?;
        let authorities = match (&self.client_ca, &contents.client_ca) {
            (Some(path), Some(pem)) => Some(authorities(path, pem)?),
            _ => None,
        };
        let config = server_config(provider, pair, authorities, settings).map_err(CertificateError::Tls)?;
        Ok(Loaded { config: Arc::new(config), not_before, not_after })
    }

    /// Checks that the certificate is valid at `now`.
    pub(super) fn check_time(&self, loaded: &Loaded, now: Timestamp) -> Result<(), CertificateError> {
        let path = self.certificate.clone();
        if now > loaded.not_after {
            return Err(CertificateError::Expired { path, not_after: loaded.not_after });
        }
        if now < loaded.not_before {
            return Err(CertificateError::NotYetValid { path, not_before: loaded.not_before });
        }
        Ok(())
    }

    /// Returns the validity of the server's own certificate.
    fn validity(
        &self,
        chain: &[CertificateDer<'static>],
    ) -> Result<(Timestamp, Timestamp), CertificateError> {
        let bad = |reason: String| malformed(&self.certificate, "certificate", reason);
        let first = chain.first().ok_or_else(|| bad("there is none".to_owned()))?;
        let (_, certificate) = parse_x509_certificate(first).map_err(|error| bad(error.to_string()))?;
        let validity = certificate.validity();
        let time = |seconds: i64| Timestamp::from_second(seconds).map_err(|error| bad(error.to_string()));
        Ok((time(validity.not_before.timestamp())?, time(validity.not_after.timestamp())?))
    }
}

fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, CertificateError> {
    let path = path.as_ref();
    std::fs::read(path).map_err(|source| CertificateError::Read { path: path.to_owned(), source })
}

fn malformed(path: &Path, what: &'static str, reason: String) -> CertificateError {
    CertificateError::Malformed { path: path.to_owned(), what, reason }
}

fn describe(error: &PemError, what: &str) -> String {
    match error {
        PemError::NoItemsFound => format!("there is no {what}"),
        other => other.to_string(),
    }
}

fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| malformed(path, "certificate", describe(&error, "certificate")))?;
    if all.is_empty() {
        return Err(malformed(path, "certificate", "there is no certificate".to_owned()));
    }
    Ok(all)
}

fn authorities(path: &Path, pem: &[u8]) -> Result<RootCertStore, CertificateError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, pem)? {
        roots.add(certificate).map_err(|error| malformed(path, "certificate", error.to_string()))?;
    }
    Ok(roots)
}

fn server_config(
    provider: Arc<CryptoProvider>,
    pair: CertifiedKey,
    authorities: Option<RootCertStore>,
    settings: Settings,
) -> Result<ServerConfig, rustls::Error> {
    let versions: &[&SupportedProtocolVersion] = match settings.min_version {
        TlsVersion::V1_2 => &[&TLS13, &TLS12],
        TlsVersion::V1_3 => &[&TLS13],
    };
    let verifier = match authorities {
        Some(roots) => WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()
            .map_err(|error| rustls::Error::General(error.to_string()))?,
        None => WebPkiClientVerifier::no_client_auth(),
    };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(pair)));
    let http1 = b"http/1.1".to_vec();
    config.alpn_protocols = if settings.http2 { vec![b"h2".to_vec(), http1] } else { vec![http1] };
    Ok(config)
}
