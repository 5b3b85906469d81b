//! Serving certificates: how they are made and checked.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use x509_parser::parse_x509_certificate;

/// The greatest difference of clocks in the cluster: certificates are valid from this long before they are issued.
const SKEW: Duration = Duration::from_secs(3600);

/// A serving certificate and its key, as PEM.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) certificate: String,
    pub(super) key: String,
}

/// A new pair, and the authority that signed it.
pub(super) struct Issued {
    pub(super) pair: Pair,
    /// The authority's certificate as PEM. Its key signs only one certificate and is then dropped.
    pub(super) authority: String,
}

/// Makes a pair for a server of these names, the first of which clients expect.
pub(super) fn issue(names: &[String], now: Timestamp, validity: Duration) -> Result<Issued, rcgen::Error> {
    let title = names.first().map_or("webhooks", String::as_str);
    let authority_key = KeyPair::generate()?;
    let mut authority = params(Vec::new(), &format!("{} authority", short(title)), now, validity)?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let pem = authority.self_signed(&authority_key)?.pem();
    let key = KeyPair::generate()?;
    let mut serving = params(names.to_vec(), short(title), now, validity)?;
    serving.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    serving.use_authority_key_identifier_extension = true;
    let certificate = serving.signed_by(&key, &Issuer::new(authority, authority_key))?.pem();
    Ok(Issued { pair: Pair { certificate, key: key.serialize_pem() }, authority: pem })
}

/// X.509 limits common names to 64 characters, and with " authority" 10 of them are taken.
fn short(name: &str) -> &str {
    let end = name.char_indices().map(|(at, _)| at).nth(54).unwrap_or(name.len());
    &name[..end]
}

fn params(
    names: Vec<String>,
    title: &str,
    now: Timestamp,
    validity: Duration,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, title);
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let time = |seconds: u64| date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
    params.not_before = time(seconds.saturating_sub(SKEW.as_secs()));
    params.not_after = time(seconds.saturating_add(validity.as_secs()));
    Ok(params)
}

impl Pair {
    /// Returns the expiry of the certificate, if clients that trust `authorities` accept it for `name` now.
    ///
    /// # Errors
    ///
    /// Returns a description of the fault.
    pub(super) fn check(
        &self,
        authorities: &[String],
        name: &str,
        now: Timestamp,
    ) -> Result<Timestamp, String> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(self.certificate.as_bytes()).collect();
        let chain = chain.map_err(|error| format!("tls.crt is not a certificate: {error}"))?;
        let (serving, between) = chain.split_first().ok_or("tls.crt has no certificate")?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes())
            .map_err(|error| format!("tls.key is not a private key: {error}"))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        CertifiedKey::from_der(chain.clone(), key, &provider)
            .map_err(|error| format!("tls.key does not belong to tls.crt: {error}"))?;
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(authorities.iter().filter_map(|pem| first(pem)));
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = verifier.build().map_err(|error| format!("ca.crt has no authority: {error}"))?;
        let host = ServerName::try_from(name).map_err(|error| format!("{name:?} is not a name: {error}"))?;
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        verifier.verify_server_cert(serving, between, &host, &[], time).map_err(|error| error.to_string())?;
        expiry(serving).ok_or_else(|| "tls.crt has no time of expiry".to_owned())
    }
}

fn first(pem: &str) -> Option<CertificateDer<'static>> {
    CertificateDer::from_pem_slice(pem.as_bytes()).ok()
}

fn expiry(certificate: &[u8]) -> Option<Timestamp> {
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

/// Returns the certificates of a bundle that have not expired, each as PEM, and skips malformed ones.
pub(super) fn authorities(bundle: &str, now: Timestamp) -> Vec<String> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let parts = bundle.split(BEGIN).skip(1).filter_map(|part| part.split_once(END));
    let whole = parts.map(|(body, _)| format!("{BEGIN}\n{}\n{END}\n", body.replace('\r', "").trim()));
    let mut out: Vec<String> = Vec::new();
    for pem in whole {
        let is_alive = first(&pem).and_then(|der| expiry(&der)).is_some_and(|expiry| expiry >= now);
        if is_alive && !out.contains(&pem) {
            out.push(pem);
        }
    }
    out
}
