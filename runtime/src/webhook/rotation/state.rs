//! The content of the Secret, and its next state.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use rustls::pki_types::ServerName;

use super::RotationError;
use super::pair::{Issued, Pair, authorities, issue};

/// The key of the authorities that clients have to trust.
const BUNDLE: &str = "ca.crt";
/// The keys of the pair that is served.
const CURRENT: [&str; 2] = ["tls.crt", "tls.key"];
/// The keys of the pair that will be served once its authority is trusted everywhere.
const NEXT: [&str; 2] = ["next-tls.crt", "next-tls.key"];
/// An annotation that cert-manager gives to its Secrets.
const CERT_MANAGER: &str = "cert-manager.io/certificate-name";
/// The annotation of Secrets that a rotator has written, so that it replaces no other key.
const OURS: &str = "kubesmith.dev/cert-rotator";

/// The contents of the Secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) current: Option<Pair>,
    pub(super) next: Option<Pair>,
    /// The authorities, each as PEM, the newest last.
    pub(super) bundle: Vec<String>,
}

/// The policy of certificates.
pub(super) struct Policy {
    /// The names of the certificate; clients use the first.
    pub(super) names: Vec<String>,
    pub(super) validity: Duration,
    pub(super) renew_before: Duration,
}

/// The knowledge of a replica beside the Secret.
pub(super) struct Known<'a> {
    pub(super) now: Timestamp,
    /// The authorities that every client has trusted for long enough.
    pub(super) trusted: &'a [String],
    /// The authorities of the pair that this replica serves.
    pub(super) served: &'a [String],
    /// The authorities in the targets.
    pub(super) seen: &'a [String],
}

impl Policy {
    /// The name that clients ask for.
    fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// Makes a pair that clients take: another one would be replaced again and again.
    fn issue(&self, now: Timestamp) -> Result<Issued, RotationError> {
        let failed = |reason| RotationError::Issue { names: self.names.clone(), reason };
        let issued = issue(&self.names, now, self.validity).map_err(|error| failed(error.to_string()))?;
        let authority = std::slice::from_ref(&issued.authority);
        issued.pair.check(authority, self.name(), now).map_err(failed)?;
        match self.missing(&issued.pair, authority, now) {
            Some(name) => Err(failed(format!("clients do not accept it for {name}"))),
            None => Ok(issued),
        }
    }

    /// Returns a name that a pair is not for, as after an upgrade whose certificate has another name. Wildcards, which
    /// no client asks for, are left out.
    fn missing(&self, pair: &Pair, authorities: &[String], now: Timestamp) -> Option<&str> {
        let names = self.names.iter().map(String::as_str).filter(|name| ServerName::try_from(*name).is_ok());
        names.into_iter().find(|name| pair.check(authorities, name, now).is_err())
    }
}

impl State {
    /// Reads the Secret. `name` is for the message.
    pub(super) fn read(secret: &Secret, name: &str, now: Timestamp) -> Result<Self, RotationError> {
        let empty = BTreeMap::new();
        let data = secret.data.as_ref().unwrap_or(&empty);
        if let Some(certificate) = secret.metadata.annotations.as_ref().and_then(|all| all.get(CERT_MANAGER))
        {
            return Err(RotationError::CertManager {
                secret: name.to_owned(),
                certificate: certificate.clone(),
            });
        }
        let is_ours = secret.metadata.annotations.as_ref().is_some_and(|all| all.contains_key(OURS));
        let ours: Vec<&str> = [BUNDLE].into_iter().chain(CURRENT).chain(NEXT).collect();
        if let Some(key) = data.keys().find(|key| !is_ours || !ours.contains(&key.as_str())) {
            return Err(RotationError::Foreign { secret: name.to_owned(), key: key.clone() });
        }
        let text = |key: &str| {
            let bytes = &data.get(key)?.0;
            // Neither PEM nor anything else that is usable.
            Some(String::from_utf8_lossy(bytes).into_owned()).filter(|text| !text.is_empty())
        };
        let pair = |[certificate, key]: [&str; 2]| {
            Some(Pair { certificate: text(certificate)?, key: text(key).unwrap_or_default() })
        };
        let bundle = authorities(&text(BUNDLE).unwrap_or_default(), now);
        Ok(State { current: pair(CURRENT), next: pair(NEXT), bundle })
    }

    /// Writes it into the Secret, and removes outdated keys.
    pub(super) fn write(&self, secret: &mut Secret) {
        let mut data = BTreeMap::from([(BUNDLE.to_owned(), bytes(&self.bundle.concat()))]);
        for ([certificate, key], pair) in [(CURRENT, &self.current), (NEXT, &self.next)] {
            if let Some(pair) = pair {
                data.insert(certificate.to_owned(), bytes(&pair.certificate));
                data.insert(key.to_owned(), bytes(&pair.key));
            }
        }
        secret.data = Some(data);
        secret.metadata.annotations.get_or_insert_default().insert(OURS.to_owned(), "true".to_owned());
    }

    fn trust(&mut self, authorities: &[String]) {
        for authority in authorities {
            if !self.bundle.contains(authority) {
                self.bundle.push(authority.clone());
            }
        }
    }

    /// Returns the wanted content of the Secret, if it has to change.
    ///
    /// An authority stays in the bundle until it expires, so that a replica that missed a change is trusted for as long as its
    /// certificate is valid. A pair is served only after its authority has been trusted for a while, if there is another.
    pub(super) fn next(&self, policy: &Policy, known: &Known<'_>) -> Result<Option<Self>, RotationError> {
        let mut wanted = self.clone();
        let name = policy.name();
        wanted.trust(known.served);
        // If the Secret was lost or damaged, other replicas still serve certificates that API servers trust.
        if self.current.as_ref().is_none_or(|pair| pair.check(&wanted.bundle, name, known.now).is_err()) {
            wanted.trust(known.seen);
        }
        let bundle = wanted.bundle.clone();
        let check = |pair: &Pair| pair.check(&bundle, name, known.now);
        let current = self.current.as_ref().map(&check);
        let next = self.next.as_ref().filter(|pair| check(pair).is_ok()).cloned();
        let is_trusted = next.as_ref().is_some_and(|pair| pair.check(known.trusted, name, known.now).is_ok());
        wanted.next = next;
        match current {
            Some(Ok(expiry)) if wanted.next.is_none() => {
                let left = expiry.duration_since(known.now);
                let is_due = left.unsigned_abs() < policy.renew_before || left.is_negative();
                let lacks_name = |pair: &Pair| policy.missing(pair, &wanted.bundle, known.now).is_some();
                if is_due || self.current.as_ref().is_some_and(lacks_name) {
                    let issued = policy.issue(known.now)?;
                    wanted.bundle.push(issued.authority);
                    wanted.next = Some(issued.pair);
                }
            }
            Some(Ok(_)) if is_trusted => wanted.current = wanted.next.take(),
            Some(Ok(_)) => {}
            flaw => {
                if let Some(Err(flaw)) = flaw {
                    tracing::warn!(flaw, "the serving certificate is replaced at once");
                }
                wanted.current = wanted.next.take();
                if wanted.current.is_none() {
                    let issued = policy.issue(known.now)?;
                    wanted.bundle.push(issued.authority);
                    wanted.current = Some(issued.pair);
                }
            }
        }
        Ok(Some(wanted).filter(|wanted| wanted != self))
    }
}

fn bytes(text: &str) -> ByteString {
    ByteString(text.as_bytes().to_vec())
}
