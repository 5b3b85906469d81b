//! Addresses for the servers of tests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that systems assign to clients' connections (Linux from 32768 on, others from 49152 on): a port of
/// theirs that was free a moment ago may be in use by any connection. Also below Kubernetes' node ports.
const PORTS: Range<u16> = 20_000..30_000;

/// The index in [`PORTS`] of the next port. Each process starts at another one.
static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(std::process::id().wrapping_mul(61)));

/// Returns a free address on loopback, 127.0.0.1, for a server that a test starts later: a manager's probes, a webhook
/// server, a program of its own.
///
/// The port is not held. The process returns the same one again only after ten thousand others.
///
/// # Errors
/// Returns an error if no port from 20000 to 29999 is free, or this process may not listen.
pub fn free_address() -> io::Result<SocketAddr> {
    free_from(&NEXT)
}

fn free_from(next: &AtomicU32) -> io::Result<SocketAddr> {
    let mut refused = io::Error::from(io::ErrorKind::AddrInUse);
    for _ in PORTS {
        let place = next.fetch_add(1, Ordering::Relaxed) % u32::from(PORTS.end - PORTS.start);
        let port = PORTS.start + u16::try_from(place).unwrap_or_default();
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => return listener.local_addr(),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_given_once_and_can_be_listened_on() {
        let given: Vec<SocketAddr> = (0..50).map(|_| free_address().unwrap()).collect();
        let held: Vec<TcpListener> =
            given.iter().map(|address| TcpListener::bind(address).unwrap()).collect();
        assert_eq!(held.len(), 50);
        assert!(given.iter().all(|address| address.ip().is_loopback() && PORTS.contains(&address.port())));
    }

    #[test]
    fn ports_in_use_are_passed_over() {
        // Two adjacent ports, so that no other test has either of them.
        let (held, next) = loop {
            let (one, two) = (free_address().unwrap(), free_address().unwrap());
            if two.port() == one.port() + 1 {
                break (one, two);
            }
        };
        let _held = TcpListener::bind(held).unwrap();
        let place = AtomicU32::new(u32::from(held.port() - PORTS.start));
        assert_eq!(free_from(&place).unwrap(), next);
    }
}
