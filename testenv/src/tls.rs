//! Who the server is to its clients: an authority that signs its certificates, and the token that it asks for.
//!
//! Both are settings of the store, so that a kubeconfig is good for as long as the data.

use std::sync::Arc;

use bytes::Bytes;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

use crate::error::Error;
use crate::store::Store;

/// The settings' names in the store.
const KEY: &str = "authority-key";
const CERTIFICATE: &str = "authority-certificate";
const TOKEN: &str = "token";

/// The authority and the token of one store.
pub(crate) struct Identity {
    /// The authority's certificate as PEM.
    pub(crate) authority: String,
    pub(crate) token: Arc<str>,
    issuer: Issuer<'static, KeyPair>,
}

impl Identity {
    /// The identity that the store keeps; made if there is none.
    pub(crate) fn of(store: &Store) -> Result<Self, Error> {
        match (store.setting(KEY), store.setting(CERTIFICATE), store.setting(TOKEN)) {
            (Some(key), Some(certificate), Some(token)) => {
                let key = KeyPair::try_from(&key[..]).map_err(failed)?;
                let text = |bytes: Bytes| String::from_utf8(bytes.into()).map_err(failed);
                let issuer = Issuer::new(authority_params(), key);
                Ok(Self { authority: text(certificate)?, token: text(token)?.into(), issuer })
            }
            _ => Self::make(store),
        }
    }

    fn make(store: &Store) -> Result<Self, Error> {
        let key = KeyPair::generate().map_err(failed)?;
        let authority = authority_params().self_signed(&key).map_err(failed)?.pem();
        let mut secret = [0; 32];
        SystemRandom::new().fill(&mut secret).map_err(failed)?;
        let token: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        store.keep_setting(KEY, key.serialize_der().into());
        store.keep_setting(CERTIFICATE, authority.clone().into());
        store.keep_setting(TOKEN, token.clone().into());
        Ok(Self { authority, token: token.into(), issuer: Issuer::new(authority_params(), key) })
    }

    /// A TLS server with a new certificate for `hosts` (names or addresses).
    pub(crate) fn acceptor(&self, hosts: Vec<String>) -> Result<TlsAcceptor, Error> {
        let mut server = CertificateParams::new(hosts).map_err(failed)?;
        server.distinguished_name.push(DnType::CommonName, "kubesmith");
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        server.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = server.signed_by(&key, &self.issuer).map_err(failed)?;

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| {
                builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key)
            })
            .map_err(failed)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "kubesmith-ca");
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Certificates(error.to_string())
}
