//! Certificates for one environment: an authority, and the certificates that it issues for servers and users.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PublicKeyData as _, SigningKey as _,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::der;
use crate::error::Error;

/// The common name of every authority.
const AUTHORITY: &str = "kubesmith-ca";

/// A certificate and its private key, as PEM.
pub struct Pair {
    /// The certificate.
    pub certificate: String,
    /// The private key, in PKCS #8.
    pub key: String,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pair").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

/// A certificate authority.
pub struct Authority {
    /// The certificate in PEM.
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// Creates an authority with a new key.
    ///
    /// # Errors
    /// Returns [`Error::Certificates`] if the keys or certificates cannot be made.
    pub fn new() -> Result<Self, Error> {
        let key = KeyPair::generate().map_err(failed)?;
        let pem = authority_params().self_signed(&key).map_err(failed)?.pem();
        Ok(Self { pem, issuer: Issuer::new(authority_params(), key) })
    }

    /// Restores the authority from [`Authority::key`] and its certificate.
    pub(crate) fn from_parts(key: &[u8], pem: String) -> Result<Self, Error> {
        let key = KeyPair::try_from(key).map_err(failed)?;
        Ok(Self { pem, issuer: Issuer::new(authority_params(), key) })
    }

    /// Returns the private key in PKCS #8.
    pub(crate) fn key(&self) -> Vec<u8> {
        self.issuer.key().serialize_der()
    }

    /// Issues a certificate for a server at `hosts` (names or addresses).
    pub(crate) fn server(&self, hosts: Vec<String>) -> Result<(CertificateDer<'static>, KeyPair), Error> {
        let mut params = CertificateParams::new(hosts).map_err(failed)?;
        params.distinguished_name.push(DnType::CommonName, "kubesmith");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(failed)?;
        Ok((certificate.der().clone(), key))
    }

    /// Issues a certificate for a server at `hosts` (names or addresses), with its key.
    ///
    /// # Errors
    /// Returns [`Error::Certificates`] if the keys or certificates cannot be made.
    pub fn server_pair(&self, hosts: Vec<String>) -> Result<Pair, Error> {
        let (certificate, key) = self.server(hosts)?;
        Ok(Pair { certificate: pem("CERTIFICATE", &certificate), key: key.serialize_pem() })
    }

    /// Issues a certificate that names a user to kube-apiserver: the common name is the user's, each organization a
    /// group.
    ///
    /// # Errors
    /// Returns [`Error::Certificates`] if the keys or certificates cannot be made.
    pub fn client(&self, name: &str, groups: &[String]) -> Result<Pair, Error> {
        let key = KeyPair::generate().map_err(failed)?;
        let request = der::Request { issuer: AUTHORITY, name, groups, key: &key.subject_public_key_info() };
        let body = request.body();
        let signature = self.issuer.key().sign(&body).map_err(failed)?;
        Ok(Pair {
            certificate: pem("CERTIFICATE", &der::signed(&body, &signature)),
            key: key.serialize_pem(),
        })
    }

    /// Returns a TLS acceptor for connections to `hosts`, with HTTP/2 if `http2` is set. Clients may present a
    /// certificate of this authority.
    pub(crate) fn acceptor(&self, hosts: Vec<String>, http2: bool) -> Result<TlsAcceptor, Error> {
        let (certificate, key) = self.server(hosts)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let unusable = |e: &dyn std::fmt::Display| Error::Certificates(e.to_string());
        let mut roots = RootCertStore::empty();
        let own = CertificateDer::from_pem_slice(self.pem.as_bytes()).map_err(|e| unusable(&e))?;
        roots.add(own).map_err(|e| unusable(&e))?;
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let verifier = verifier.allow_unauthenticated().build().map_err(|e| unusable(&e))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder.with_client_cert_verifier(verifier).with_single_cert(vec![certificate], key)
            })
            .map_err(|e| unusable(&e))?;
        let protocols: &[&[u8]] = if http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, AUTHORITY);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

// By value, as `map_err` passes it.
#[allow(clippy::needless_pass_by_value)]
fn failed(error: rcgen::Error) -> Error {
    Error::Certificates(error.to_string())
}

/// Wraps DER as PEM (RFC 7468): base64 in lines of 64 characters between two marks.
#[must_use]
pub fn pem(label: &str, der: &[u8]) -> String {
    let mut out = format!("-----BEGIN {label}-----\n");
    for (i, c) in BASE64.encode(der).chars().enumerate() {
        if i > 0 && i % 64 == 0 {
            out.push('\n');
        }
        out.push(c);
    }
    out + &format!("\n-----END {label}-----\n")
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::UnixTime;

    use super::*;

    #[test]
    fn user_certificate_is_accepted_and_names_every_group() {
        let authority = Authority::new().unwrap();
        let groups = ["system:masters".to_owned(), "team".to_owned(), "group".repeat(40)];
        let pair = authority.client("jane", &groups).unwrap();
        let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap();

        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        verifier.verify_client_cert(&certificate, &[], UnixTime::now()).unwrap();

        let (_, parsed) = x509_parser::parse_x509_certificate(&certificate).unwrap();
        let found: Vec<&str> = parsed.subject().iter_organization().map(|o| o.as_str().unwrap()).collect();
        assert_eq!(found, groups);
        let names: Vec<&str> = parsed.subject().iter_common_name().map(|c| c.as_str().unwrap()).collect();
        assert_eq!(names, ["jane"]);
        let subject = der::Subject { name: "jane".to_owned(), groups: groups.to_vec() };
        assert_eq!(der::subject(&certificate), Some(subject));
        for end in 0..certificate.len() {
            assert_eq!(der::subject(&certificate[..end]), None, "a part of it is not a certificate");
        }
    }

    #[test]
    fn certificate_of_another_authority_is_refused() {
        let (ours, theirs) = (Authority::new().unwrap(), Authority::new().unwrap());
        let pair = theirs.client("jane", &[]).unwrap();
        let certificate = CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ours.pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        assert!(verifier.verify_client_cert(&certificate, &[], UnixTime::now()).is_err());
    }
}
