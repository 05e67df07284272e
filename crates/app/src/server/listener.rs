//! The socket that the server listens on.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Socket, Type};

/// How many connections may wait to be accepted. std asks for 128, which a burst of people fills; the system's own limit
/// (`net.core.somaxconn`) still holds.
const BACKLOG: i32 = 4_096;

/// Listens on an address.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // As std does: connections that the last server closed must not keep the next one from starting.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
