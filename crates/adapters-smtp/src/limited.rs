//! A connection that takes only so much from the other side.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// More than all that a server says while it takes many mails.
const MOST: usize = 1 << 20;
/// More than any reply, and than what a server sends at once while TLS begins.
const MOST_AT_ONCE: usize = 32 * 1024;

/// A stream that fails when the server has sent [`MOST`] bytes, or [`MOST_AT_ONCE`] without being asked anything. The reader of
/// replies keeps a line without end in memory, and reads a reply again from its beginning with every line of it.
#[derive(Debug)]
pub(crate) struct Limited {
    stream: TcpStream,
    left: usize,
    left_at_once: usize,
}

impl Limited {
    pub(crate) const fn new(stream: TcpStream) -> Self {
        Self { stream, left: MOST, left_at_once: MOST_AT_ONCE }
    }
}

impl AsyncTokioStream for Limited {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

impl AsyncRead for Limited {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 || self.left_at_once == 0 {
            return Poll::Ready(Err(io::Error::other("the server sends too much")));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let read = buffer.filled().len().saturating_sub(before);
        self.left = self.left.saturating_sub(read);
        self.left_at_once = self.left_at_once.saturating_sub(read);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Limited {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.left_at_once = MOST_AT_ONCE;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
