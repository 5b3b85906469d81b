//! Sockets that accept connections on every address of the host.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// The limit of connections that wait to be accepted (tokio's value).
const BACKLOG: i32 = 1024;

/// Listens on a port of every address, both IPv4 and IPv6 regardless of the system's `bindv6only`, as Go does.
/// Listens on IPv4 alone if the host has no IPv6.
///
/// # Errors
/// The system's error; that of IPv4, unless the port is taken.
pub(crate) fn everywhere(port: u16) -> io::Result<TcpListener> {
    match on((Ipv6Addr::UNSPECIFIED, port).into()) {
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => on((Ipv4Addr::UNSPECIFIED, port).into()),
        result => result,
    }
}

fn on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    // On Windows this would let other processes take the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket.into())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn socket_listens_on_every_address_of_both_families() {
        let listener = everywhere(0).unwrap();
        let address = listener.local_addr().unwrap();
        if address.is_ipv6() {
            assert!(!socket2::SockRef::from(&listener).only_v6().unwrap());
        }
        TcpStream::connect((Ipv4Addr::LOCALHOST, address.port())).await.unwrap();
        let taken = everywhere(address.port()).map(drop).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    }

    #[tokio::test]
    async fn socket_is_ipv4_without_ipv6() {
        let listener = on((Ipv4Addr::UNSPECIFIED, 0).into()).unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    }
}
