//! A connection that accepts only so much data from the server.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The most bytes that we read from one connection: more than a server sends while it accepts many mails.
const MOST: usize = 1 << 20;
/// The most bytes that we read at once: more than any reply, and more than a server sends while TLS starts.
const MOST_AT_ONCE: usize = 32 * 1024;

/// A stream that fails when the server has sent [`MOST`] bytes in total, or [`MOST_AT_ONCE`] without a
/// request. The limits are needed because the reader of replies keeps an endless line in memory, and parses a
/// reply again from its start with every new line.
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
            return Poll::Ready(Err(io::Error::other("the server sent too much")));
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
