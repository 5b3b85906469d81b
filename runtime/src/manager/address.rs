//! Addresses of endpoints, as in command-line flags.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::str::FromStr;

use tokio::net::TcpListener;

use crate::listen;

/// The address of an endpoint, written as in controller-runtime's flags: `:8080` for every address of this host,
/// `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080` for one of them, `0` for no endpoint.
///
/// ```
/// use std::net::SocketAddr;
/// use kubesmith_runtime::manager::{BindAddress, InvalidBindAddress};
///
/// # fn main() -> Result<(), InvalidBindAddress> {
/// let flag: BindAddress = ":8080".parse()?;
/// assert!(flag.is_on() && flag.to_string() == ":8080");
/// assert!(!"0".parse::<BindAddress>()?.is_on());
/// assert_eq!(BindAddress::from(SocketAddr::from(([127, 0, 0, 1], 80))).to_string(), "127.0.0.1:80");
///
/// let refused: Result<BindAddress, _> = "8080".parse();
/// assert_eq!(refused.unwrap_err().to_string(), "\"8080\" is not an address: write it like :8080 or 127.0.0.1:8080, or 0 for none");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindAddress(Place);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    Everywhere(u16),
    Socket(SocketAddr),
    Host(String, u16),
}

impl BindAddress {
    /// Reports whether the endpoint is served.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0 != Place::Nowhere
    }

    /// Reports whether only processes of this host reach the address.
    pub(super) fn is_local(&self) -> bool {
        match &self.0 {
            Place::Nowhere => true,
            Place::Everywhere(_) => false,
            Place::Socket(address) => address.ip().to_canonical().is_loopback(),
            Place::Host(host, _) => host.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Listens on the address; `None` for no endpoint.
    pub(super) async fn listen(&self) -> io::Result<Option<TcpListener>> {
        let listener = match &self.0 {
            Place::Nowhere => return Ok(None),
            Place::Everywhere(port) => listen::everywhere(*port),
            Place::Socket(address) => TcpListener::bind(address).await,
            Place::Host(host, port) => TcpListener::bind((host.as_str(), *port)).await,
        };
        listener.map(Some)
    }
}

impl Default for BindAddress {
    /// Returns the address that means no endpoint.
    fn default() -> Self {
        BindAddress(Place::Nowhere)
    }
}

impl fmt::Display for BindAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Nowhere => f.write_str("0"),
            Place::Everywhere(port) => write!(f, ":{port}"),
            Place::Socket(address) => address.fmt(f),
            Place::Host(host, port) => write!(f, "{host}:{port}"),
        }
    }
}

impl FromStr for BindAddress {
    type Err = InvalidBindAddress;

    fn from_str(text: &str) -> Result<Self, InvalidBindAddress> {
        if text == "0" {
            return Ok(BindAddress(Place::Nowhere));
        }
        if let Ok(address) = text.parse() {
            return Ok(BindAddress(Place::Socket(address)));
        }
        let invalid = || InvalidBindAddress(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
        let port: u16 = port.parse().map_err(|_| invalid())?;
        match host {
            "" => Ok(BindAddress(Place::Everywhere(port))),
            host if host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')) => {
                Ok(BindAddress(Place::Host(host.to_owned(), port)))
            }
            _ => Err(invalid()),
        }
    }
}

impl From<SocketAddr> for BindAddress {
    fn from(address: SocketAddr) -> Self {
        BindAddress(Place::Socket(address))
    }
}

impl From<([u8; 4], u16)> for BindAddress {
    fn from(address: ([u8; 4], u16)) -> Self {
        BindAddress(Place::Socket(address.into()))
    }
}

/// The text is not an address.
///
/// ```
/// use kubesmith_runtime::manager::{BindAddress, InvalidBindAddress};
///
/// let refused: Result<BindAddress, InvalidBindAddress> = "localhost".parse();
/// assert!(refused.is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address: write it like :8080 or 127.0.0.1:8080, or 0 for none")]
pub struct InvalidBindAddress(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bind_addresses_round_trip() {
        for text in ["0", ":8080", ":0", "127.0.0.1:80", "[::1]:443", "localhost:8081", "pod-0.svc:1"] {
            assert_eq!(text.parse::<BindAddress>().map(|address| address.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "8080", ":", ":65536", ":-1", "a b:1", "::1:80x", "http://a:1", ":80:80"] {
            assert!(text.parse::<BindAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_loopback_addresses_are_local() {
        for (text, is_local) in [
            ("0", true),
            (":8080", false),
            ("0.0.0.0:8080", false),
            ("127.0.0.1:8080", true),
            ("127.9.9.9:1", true),
            ("[::1]:8080", true),
            ("[::ffff:127.0.0.1]:8080", true),
            ("[::]:8080", false),
            ("10.0.0.1:8080", false),
            ("localhost:8080", true),
            ("LocalHost:8080", true),
            ("localhost.example.com:8080", false),
        ] {
            assert_eq!(text.parse::<BindAddress>().unwrap().is_local(), is_local, "{text}");
        }
    }

    #[tokio::test]
    async fn bind_address_without_a_host_covers_every_address() {
        let listener = ":0".parse::<BindAddress>().unwrap().listen().await.unwrap().unwrap();
        let port = listener.local_addr().unwrap().port();
        let (client, server) = tokio::join!(
            tokio::net::TcpStream::connect((std::net::Ipv4Addr::LOCALHOST, port)),
            listener.accept()
        );
        assert!(client.is_ok() && server.is_ok());
        let named = BindAddress(Place::Host("localhost".to_owned(), 0));
        assert!(named.listen().await.unwrap().unwrap().local_addr().unwrap().ip().is_loopback());
        assert!(BindAddress::default().listen().await.unwrap().is_none());
    }
}
