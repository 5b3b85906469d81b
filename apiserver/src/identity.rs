//! The identity of a server: the authority that signs its certificates, and its token.
//!
//! The embedded server keeps both in its store, so that a kubeconfig is valid as long as the data exists.

use std::sync::Arc;

use bytes::Bytes;
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::Error;
use crate::store::Store;
use crate::tls::Authority;

/// The settings' names in the store.
const KEY: &str = "authority-key";
const CERTIFICATE: &str = "authority-certificate";
const TOKEN: &str = "token";

/// An authority and a token.
pub struct Identity {
    /// The authority that signs the server's certificates.
    pub authority: Authority,
    /// The bearer token with all rights.
    pub token: Arc<str>,
}

impl Identity {
    /// Returns the identity in the store; creates one if there is none.
    pub(crate) fn of(store: &Store) -> Result<Self, Error> {
        match (store.setting(KEY), store.setting(CERTIFICATE), store.setting(TOKEN)) {
            (Some(key), Some(certificate), Some(token)) => {
                let text = |bytes: Bytes| String::from_utf8(bytes.into()).map_err(failed);
                let authority = Authority::from_parts(&key, text(certificate)?)?;
                Ok(Self { authority, token: text(token)?.into() })
            }
            _ => Self::make(store),
        }
    }

    fn make(store: &Store) -> Result<Self, Error> {
        let identity = Self::new()?;
        store.keep_setting(KEY, identity.authority.key().into());
        store.keep_setting(CERTIFICATE, identity.authority.pem.clone().into());
        store.keep_setting(TOKEN, identity.token.to_string().into());
        Ok(identity)
    }

    /// Creates an identity that is not stored.
    ///
    /// # Errors
    /// Returns [`Error::Certificates`] if the system has no randomness or no certificate can be issued.
    pub fn new() -> Result<Self, Error> {
        let mut secret = [0; 32];
        SystemRandom::new().fill(&mut secret).map_err(failed)?;
        let token: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { authority: Authority::new()?, token: token.into() })
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Certificates(error.to_string())
}
