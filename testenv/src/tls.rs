//! Certificates for one environment: an authority and a server certificate that it signed.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

use crate::error::Error;

/// What a TLS listener and its clients need.
pub(crate) struct Certificates {
    /// The authority's certificate as PEM.
    pub(crate) authority: String,
    pub(crate) acceptor: TlsAcceptor,
}

impl Certificates {
    /// Makes certificates for `hosts` (names or addresses).
    pub(crate) fn new(hosts: Vec<String>) -> Result<Self, Error> {
        let failed = |e: rcgen::Error| Error::Certificates(e.to_string());
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(DnType::CommonName, "kubesmith-testenv-ca");
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority_key = KeyPair::generate().map_err(failed)?;
        let authority_cert = authority.self_signed(&authority_key).map_err(failed)?;
        let issuer = Issuer::new(authority, authority_key);

        let mut server = CertificateParams::new(hosts).map_err(failed)?;
        server.distinguished_name.push(DnType::CommonName, "kubesmith-testenv");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        server.use_authority_key_identifier_extension = true;
        let server_key = KeyPair::generate().map_err(failed)?;
        let server_cert = server.signed_by(&server_key, &issuer).map_err(failed)?;

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder.with_no_client_auth().with_single_cert(vec![server_cert.der().clone()], key)
            })
            .map_err(|e| Error::Certificates(e.to_string()))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { authority: authority_cert.pem(), acceptor: TlsAcceptor::from(Arc::new(config)) })
    }
}
