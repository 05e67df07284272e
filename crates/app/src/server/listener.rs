//! The socket that the server listens on.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use listenfd::ListenFd;
use socket2::{Domain, SockRef, Socket, Type};

/// How many connections may wait to be accepted. The standard library asks for 128, which a burst of users
/// fills. The system's own limit (`net.core.somaxconn`) still applies.
const BACKLOG: i32 = 4_096;

/// The kernel doubles it for its own needs.
const SEND_BUFFER: usize = 64 * 1024;
const STALLED: Duration = Duration::from_secs(30);

/// Listens on an address.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // As the standard library does: connections that the last server closed must not keep the next one from
    // starting.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    limit(&SockRef::from(&socket))?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Takes the one socket that a supervisor handed over as sd_listen_fds(3) says, and its address. `None` if there is
/// none, or if they are for another process.
pub(super) fn handed_over() -> io::Result<Option<(TcpListener, SocketAddr)>> {
    let mut handed_over = ListenFd::from_env();
    if handed_over.len() > 1 {
        let count = handed_over.len();
        return Err(io::Error::other(format!("there are {count} sockets, and the server listens on one")));
    }
    let Some(listener) = handed_over.take_tcp_listener(0)? else { return Ok(None) };
    let address = listener.local_addr()?;
    limit(&SockRef::from(&listener))?;
    Ok(Some((listener, address)))
}

fn limit(socket: &SockRef<'_>) -> io::Result<()> {
    // Accepted connections inherit both. An answer that the other side does not read fills at most this much
    // of the kernel's memory. A connection whose other side reads nothing, or disappeared silently, ends,
    // even if the process has already closed it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(STALLED))?;
    Ok(())
}
