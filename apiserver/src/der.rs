//! Certificates in DER (X.690) as RFC 5280 defines them: those of users are made and read here.
//!
//! rcgen keeps one value of each attribute of a name; kube-apiserver needs one organization for each group.

use x509_parser::asn1_rs::Tag;
use x509_parser::oid_registry::{OID_X509_COMMON_NAME, OID_X509_ORGANIZATION_NAME};
use x509_parser::prelude::{
    AttributeTypeAndValue, FromDer as _, X509Certificate, X509CertificationRequest, X509Name,
};

/// The content of a certificate.
pub(crate) struct Request<'a> {
    /// The common name of the authority.
    pub(crate) issuer: &'a str,
    /// The common name of the subject.
    pub(crate) name: &'a str,
    /// The organizations of the subject.
    pub(crate) groups: &'a [String],
    /// The subject's public key, as a `SubjectPublicKeyInfo`.
    pub(crate) key: &'a [u8],
}

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
const UTF8_STRING: u8 = 0x0c;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// The tag of a certificate's version.
const VERSION: u8 = 0xa0;

/// 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
/// 2.5.4.10
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// 1.2.840.10045.4.3.2
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// 2.5.29.37
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// 1.3.6.1.5.5.7.3.2
const CLIENT_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];

impl Request<'_> {
    /// The part that is signed: `TBSCertificate`.
    pub(crate) fn body(&self) -> Vec<u8> {
        let version = value(VERSION, &[&value(INTEGER, &[&[2]])]);
        // RFC 5280: years up to 2049 are written as UTCTime; the last one marks a certificate that does not expire.
        let validity = value(
            SEQUENCE,
            &[&value(UTC_TIME, &[b"750101000000Z"]), &value(GENERALIZED_TIME, &[b"99991231235959Z"])],
        );
        let usage = value(OCTET_STRING, &[&value(SEQUENCE, &[&value(OID, &[CLIENT_AUTH])])]);
        let extension = value(SEQUENCE, &[&value(OID, &[EXTENDED_KEY_USAGE]), &usage]);
        let extensions = value(0xa3, &[&value(SEQUENCE, &[&extension])]);
        let issuer = value(SEQUENCE, &[&attribute(COMMON_NAME, self.issuer)]);
        let parts = [&version, &self.serial(), &algorithm(), &issuer, &validity, &self.subject()];
        let parts: Vec<&[u8]> = parts.into_iter().map(Vec::as_slice).chain([self.key, &extensions]).collect();
        value(SEQUENCE, &parts)
    }

    fn subject(&self) -> Vec<u8> {
        let groups = self.groups.iter().map(|group| attribute(ORGANIZATION, group));
        let attributes: Vec<Vec<u8>> = groups.chain([attribute(COMMON_NAME, self.name)]).collect();
        value(SEQUENCE, &attributes.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// A unique serial number: the first bytes of the key's digest, positive and not zero.
    fn serial(&self) -> Vec<u8> {
        let digest = ring::digest::digest(&ring::digest::SHA256, self.key);
        let mut serial: Vec<u8> = digest.as_ref().iter().take(16).copied().collect();
        if let Some(first) = serial.first_mut() {
            *first = *first & 0x3f | 0x40;
        }
        value(INTEGER, &[&serial])
    }
}

/// Builds a certificate from its signed part and the signature, ECDSA over P-256 with SHA-256.
pub(crate) fn signed(body: &[u8], signature: &[u8]) -> Vec<u8> {
    value(SEQUENCE, &[body, &algorithm(), &value(BIT_STRING, &[&[0], signature])])
}

fn algorithm() -> Vec<u8> {
    value(SEQUENCE, &[&value(OID, &[ECDSA_WITH_SHA256])])
}

/// A part of a name with one attribute.
fn attribute(kind: &[u8], text: &str) -> Vec<u8> {
    let pair = value(SEQUENCE, &[&value(OID, &[kind]), &value(UTF8_STRING, &[text.as_bytes()])]);
    value(SET, &[&pair])
}

/// Reads the subject of a certificate: its common name, the last one of several, and its organizations. `None` if the
/// certificate is malformed.
pub(crate) fn subject(certificate: &[u8]) -> Option<Subject> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    of_name(certificate.subject())
}

/// As [`subject`], of a request for a certificate.
pub(crate) fn requested_subject(request: &[u8]) -> Option<Subject> {
    let (_, request) = X509CertificationRequest::from_der(request).ok()?;
    of_name(&request.certification_request_info.subject)
}

fn of_name(name: &X509Name<'_>) -> Option<Subject> {
    let mut subject = Subject::default();
    for attribute in name.iter_attributes() {
        let text = || text_of(attribute);
        match attribute.attr_type() {
            kind if *kind == OID_X509_COMMON_NAME => subject.name = text()?,
            kind if *kind == OID_X509_ORGANIZATION_NAME => subject.groups.push(text()?),
            _ => {}
        }
    }
    Some(subject)
}

/// Decodes the text of an attribute of any string type that Go's encoding/asn1 reads.
fn text_of(attribute: &AttributeTypeAndValue<'_>) -> Option<String> {
    let bytes = attribute.as_slice();
    match attribute.attr_value().tag() {
        // Go does not decode a T61String.
        Tag::T61String => String::from_utf8(bytes.to_vec()).ok(),
        Tag::BmpString => {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let units: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
            String::from_utf16(units.strip_suffix(&[0]).unwrap_or(&units)).ok().filter(|_| rest.is_empty())
        }
        _ => attribute.as_str().map(str::to_owned).ok(),
    }
}

/// Whether these bytes have the outer form of a certificate, or of a request for one: the signed part, the algorithm and
/// the signature.
pub(crate) fn is_signed(bytes: &[u8]) -> bool {
    let parts = |mut content: &[u8]| {
        let mut tags = Vec::new();
        while !content.is_empty() {
            let (tag, _, rest) = split(content)?;
            tags.push(tag);
            content = rest;
        }
        Some(tags)
    };
    matches!(split(bytes), Some((SEQUENCE, content, [])) if parts(content).is_some_and(|tags| tags == [SEQUENCE, SEQUENCE, BIT_STRING]))
}

/// The subject of a certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Subject {
    /// The common name.
    pub(crate) name: String,
    /// The organizations.
    pub(crate) groups: Vec<String>,
}

/// Splits off the first value: its tag, its content and the rest.
fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let shifted = |sum: usize, byte: &u8| sum.checked_mul(256)?.checked_add(usize::from(*byte));
        (length.iter().try_fold(0, shifted)?, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Encodes tag, length and content.
fn value(tag: u8, content: &[&[u8]]) -> Vec<u8> {
    let length: usize = content.iter().map(|part| part.len()).sum();
    let mut out = vec![tag];
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => out.push(short),
        _ => {
            let bytes: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
            // A length has at most eight bytes.
            out.push(0x80 | bytes.len() as u8);
            out.extend(bytes);
        }
    }
    for part in content {
        out.extend_from_slice(part);
    }
    out
}
