//! Trust in a webhook's certificate, as in Go's `crypto/x509`.
//!
//! webpki refuses a server certificate that may sign others. Go accepts it, and `openssl req -x509` makes such
//! certificates, which are then their own authority.

use std::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

/// The limit of names in a message: `maxNamesIncluded`.
const MOST_NAMES: usize = 100;

/// Verifies certificates with a bundle of authorities.
#[derive(Debug)]
pub(super) struct Verifier {
    authorities: Vec<CertificateDer<'static>>,
    /// None if the bundle has no usable authority.
    chains: Option<Arc<WebPkiServerVerifier>>,
    /// The name that a certificate may have instead of the called one.
    other_name: Option<ServerName<'static>>,
    provider: Arc<CryptoProvider>,
}

/// The refusal of a certificate in Go's words, without `x509: `.
#[derive(Debug)]
struct Refusal(String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Refusal {}

fn refused(text: impl Into<String>) -> rustls::Error {
    CertificateError::Other(OtherError(Arc::new(Refusal(text.into())))).into()
}

impl Verifier {
    /// Trusts these authorities, and the certificates that they sign.
    pub(super) fn new(
        authorities: Vec<CertificateDer<'static>>,
        other_name: Option<ServerName<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(authorities.iter().cloned());
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        Self { authorities, chains: chains.build().ok(), other_name, provider }
    }
}

impl ServerCertVerifier for Verifier {
    /// Checks validity, name, authority and usage in the order of `Certificate.Verify`.
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let (_, parsed) = X509Certificate::from_der(leaf)
            .map_err(|_| rustls::Error::from(CertificateError::BadEncoding))?;
        check_time(&parsed, now)?;
        let certificate = ParsedCertificate::try_from(leaf)?;
        let name = [Some(name), self.other_name.as_ref()]
            .into_iter()
            .flatten()
            .find(|name| verify_server_name(&certificate, name).is_ok())
            .ok_or_else(|| refused(name_mismatch(&parsed, name)))?;
        if self.authorities.iter().any(|authority| authority.as_ref() == leaf.as_ref()) {
            return check_usage(&parsed).map(|()| ServerCertVerified::assertion());
        }
        match &self.chains {
            Some(chains) => chains.verify_server_cert(leaf, intermediates, name, ocsp, now).map_err(no_chain),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// webpki's refusals without a name of their own, such as that of an authority as a server, mean that no chain was found.
fn no_chain(error: rustls::Error) -> rustls::Error {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(_)) => {
            CertificateError::UnknownIssuer.into()
        }
        error => error,
    }
}

/// `Certificate.isValid`.
fn check_time(certificate: &X509Certificate<'_>, now: UnixTime) -> Result<(), rustls::Error> {
    let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let validity = certificate.validity();
    let (begin, end) = (validity.not_before.timestamp(), validity.not_after.timestamp());
    let text = |seconds| Timestamp::from_second(seconds).map(|time| time.to_string()).unwrap_or_default();
    let relation = match now {
        now if now < begin => format!("before {}", text(begin)),
        now if now > end => format!("after {}", text(end)),
        _ => return Ok(()),
    };
    let now = text(now);
    Err(refused(format!("certificate has expired or is not yet valid: current time {now} is {relation}")))
}

/// `checkChainForKeyUsage` for a chain of one certificate.
fn check_usage(certificate: &X509Certificate<'_>) -> Result<(), rustls::Error> {
    match certificate.extended_key_usage() {
        Ok(Some(usage)) if !usage.value.any && !usage.value.server_auth => {
            Err(refused("certificate specifies an incompatible key usage"))
        }
        _ => Ok(()),
    }
}

/// `HostnameError.Error`.
fn name_mismatch(certificate: &X509Certificate<'_>, name: &ServerName<'_>) -> String {
    let names = certificate.subject_alternative_name().ok().flatten();
    let wanted = name.to_str();
    let is_common =
        || certificate.subject().iter_common_name().any(|part| part.as_str().ok() == Some(&wanted));
    let Some(names) = names else {
        if is_common() {
            return "certificate relies on legacy Common Name field, use SANs instead".to_owned();
        }
        return not_valid_for(&[], &wanted, matches!(name, ServerName::IpAddress(_)));
    };
    let is_address = matches!(name, ServerName::IpAddress(_));
    let valid = names.value.general_names.iter().filter_map(|name| match name {
        GeneralName::DNSName(name) if !is_address => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) if is_address => address(bytes).map(|address| address.to_string()),
        _ => None,
    });
    not_valid_for(&valid.collect::<Vec<_>>(), &wanted, is_address)
}

fn not_valid_for(valid: &[String], wanted: &str, is_address: bool) -> String {
    let count = valid.len();
    match (count, is_address) {
        (0, true) => {
            format!("cannot validate certificate for {wanted} because it doesn't contain any IP SANs")
        }
        (0, false) => format!("certificate is not valid for any names, but wanted to match {wanted}"),
        (MOST_NAMES.., _) => {
            let what = if is_address { "IP SANs" } else { "names" };
            format!("certificate is valid for {count} {what}, but none matched {wanted}")
        }
        _ => format!("certificate is valid for {}, not {wanted}", valid.join(", ")),
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{
        BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd,
    };

    use super::*;

    /// As made by `openssl req -x509`: a self-signed certificate for a server.
    fn own_authority(names: &[&str], change: impl Fn(&mut CertificateParams)) -> CertificateDer<'static> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = date_time_ymd(2026, 1, 1);
        params.not_after = date_time_ymd(2027, 1, 1);
        change(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
    }

    fn verify(
        certificate: &CertificateDer<'static>,
        trusted: &[&CertificateDer<'static>],
        name: &str,
        now: &str,
    ) -> Result<(), String> {
        verify_with(certificate, trusted, name, None, now)
    }

    fn verify_with(
        certificate: &CertificateDer<'static>,
        trusted: &[&CertificateDer<'static>],
        name: &str,
        other_name: Option<&'static str>,
        now: &str,
    ) -> Result<(), String> {
        let other_name = other_name.map(|name| ServerName::try_from(name).unwrap());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Verifier::new(trusted.iter().map(|&one| one.clone()).collect(), other_name, provider);
        let seconds: Timestamp = now.parse().unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds.as_second().try_into().unwrap()));
        let name = ServerName::try_from(name).unwrap();
        match verifier.verify_server_cert(certificate, &[], &name, &[], now) {
            Ok(_) => Ok(()),
            Err(error) => Err(super::super::failure::of_tls(&error)),
        }
    }

    const JUNE: &str = "2026-06-01T00:00:00Z";

    #[test]
    fn certificate_that_is_its_own_authority_is_trusted() {
        let own = own_authority(&["127.0.0.1", "hooks.example.com"], |_| {});
        assert_eq!(verify(&own, &[&own], "127.0.0.1", JUNE), Ok(()));
        assert_eq!(verify(&own, &[&own], "hooks.example.com", JUNE), Ok(()));
    }

    #[test]
    fn certificate_may_have_the_other_name() {
        let [own, foreign] = [(); 2].map(|()| own_authority(&["hook.shop.svc"], |_| {}));
        let verify = |certificate, other| verify_with(certificate, &[&own], "127.0.0.1", other, JUNE);
        assert_eq!(verify(&own, Some("hook.shop.svc")), Ok(()));
        assert!(verify(&own, Some("hook.other.svc")).unwrap_err().contains("127.0.0.1"));
        assert!(verify(&own, None).unwrap_err().contains("127.0.0.1"));
        assert!(verify(&foreign, Some("hook.shop.svc")).unwrap_err().contains("unknown authority"));
    }

    #[test]
    fn refusals_have_the_words_of_go() {
        let own = own_authority(&["10.0.0.1", "a.example.com", "b.example.com"], |_| {});
        let other = own_authority(&["a.example.com"], |_| {});
        let bare =
            own_authority(&[], |params| params.distinguished_name.push(DnType::CommonName, "a.example.com"));
        let client = own_authority(&["a.example.com"], |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        });
        let many: Vec<String> = (0..100).map(|i| format!("n{i}.example.com")).collect();
        let many = own_authority(&many.iter().map(String::as_str).collect::<Vec<_>>(), |_| {});
        for (certificate, trusted, name, now, text) in [
            (
                &own,
                &own,
                "c.example.com",
                JUNE,
                "certificate is valid for a.example.com, b.example.com, not c.example.com",
            ),
            (&own, &own, "127.0.0.1", JUNE, "certificate is valid for 10.0.0.1, not 127.0.0.1"),
            (
                &other,
                &other,
                "127.0.0.1",
                JUNE,
                "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
            ),
            (
                &bare,
                &bare,
                "a.example.com",
                JUNE,
                "certificate relies on legacy Common Name field, use SANs instead",
            ),
            (
                &bare,
                &bare,
                "b.example.com",
                JUNE,
                "certificate is not valid for any names, but wanted to match b.example.com",
            ),
            (
                &many,
                &many,
                "a.example.com",
                JUNE,
                "certificate is valid for 100 names, but none matched a.example.com",
            ),
            (&own, &other, "a.example.com", JUNE, "certificate signed by unknown authority"),
            (&client, &client, "a.example.com", JUNE, "certificate specifies an incompatible key usage"),
            (
                &own,
                &own,
                "a.example.com",
                "2025-12-31T00:00:00Z",
                "certificate has expired or is not yet valid: current time 2025-12-31T00:00:00Z is before 2026-01-01T00:00:00Z",
            ),
            (
                &own,
                &own,
                "a.example.com",
                "2027-02-01T00:00:00Z",
                "certificate has expired or is not yet valid: current time 2027-02-01T00:00:00Z is after 2027-01-01T00:00:00Z",
            ),
        ] {
            let expected = format!("tls: failed to verify certificate: x509: {text}");
            assert_eq!(verify(certificate, &[trusted], name, now), Err(expected));
        }
    }
}
