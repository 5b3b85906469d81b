//! Sockets that take connections to every address of the host.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

/// How many connections may wait to be taken, as tokio has it.
const BACKLOG: i32 = 1024;

/// Listens on a port of every address, of IPv4 and IPv6 alike whatever the system's `bindv6only` says, as Go does; of IPv4 alone
/// where there is no IPv6.
///
/// # Errors
/// What the system says; if it is not that the port is taken, of IPv4.
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
    // On Windows it would let others take the port.
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
    async fn every_address_of_either_family_is_listened_on() {
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
    async fn without_ipv6_it_is_ipv4() {
        let listener = on((Ipv4Addr::UNSPECIFIED, 0).into()).unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    }
}
