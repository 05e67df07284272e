//! The stream of a connection, as actix sees it. It hands out a little at a time, and fails when the
//! connection is overdue.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::{BURST, Connection, Doing, PROGRESS};

pub(crate) struct GuardedStream {
    stream: TcpStream,
    connection: Rc<Connection>,
    /// Bytes that were read but not handed out yet, because there is a request before them.
    ahead: Vec<u8>,
}

impl GuardedStream {
    pub(crate) const fn new(stream: TcpStream, connection: Rc<Connection>) -> Self {
        Self { stream, connection, ahead: Vec::new() }
    }

    pub(crate) const fn connection(&self) -> &Rc<Connection> {
        &self.connection
    }
}

impl Connection {
    fn remember(&self, reader: &std::task::Waker) {
        let mut known = self.reader.borrow_mut();
        if !known.as_ref().is_some_and(|known| known.will_wake(reader)) {
            *known = Some(reader.clone());
        }
    }

    fn require_time(&self) -> io::Result<()> {
        if self.is_overdue.get() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    /// Counts bytes that are handed out to actix.
    fn handed_out(&self, count: usize) {
        self.handed_out.set(self.handed_out.get() + count);
        match self.doing.get() {
            Doing::Resting if count > 0 => self.does(Doing::Sending),
            Doing::Resting | Doing::Sending | Doing::Answering | Doing::Reading | Doing::Stalling => {}
        }
    }

    /// The client does not take the response at the moment.
    fn stalls(&self) {
        match self.doing.get() {
            Doing::Stalling => {}
            Doing::Resting | Doing::Sending | Doing::Answering | Doing::Reading => {
                self.does(Doing::Stalling);
                self.taken.set(0);
            }
        }
    }

    /// Counts how much of a stalled response was taken. A client cannot hold the connection by taking a byte
    /// now and then.
    pub(super) fn takes(&self, count: usize, is_all: bool) {
        if is_all {
            self.does(Doing::Resting);
            return;
        }
        self.taken.set(self.taken.get() + count);
        if self.taken.get() >= PROGRESS {
            self.does(Doing::Stalling);
            self.taken.set(0);
        }
    }
}

/// How many of these bytes to hand out: all of them, or, if they have the ends of several heads, those up to
/// the first end. actix parses everything that it is given, and a parsed request takes eight kilobytes,
/// however small it was. In a body, the cut may be where no head ends. Then the rest just comes a moment
/// later.
fn one_head(bytes: &[u8]) -> usize {
    let lines = memchr::memchr_iter(b'\n', bytes);
    let mut ends = lines.filter_map(|end| match bytes[end + 1..] {
        [b'\n', ..] => Some(end + 2),
        [b'\r', b'\n', ..] => Some(end + 3),
        _ => None,
    });
    match (ends.next(), ends.next()) {
        (Some(first), Some(_)) => first,
        (Some(_) | None, None) | (None, Some(_)) => bytes.len(),
    }
}

impl AsyncRead for GuardedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let connection = &this.connection;
        connection.require_time()?;
        connection.remember(cx.waker());
        let handed_out = connection.handed_out.get();
        if handed_out >= BURST {
            if connection.is_busy() {
                connection.is_held_back.set(true);
            } else {
                // When this returns, actix parses what was handed out, and nothing has to wait. The next
                // burst comes after other tasks have had their turn.
                connection.handed_out.set(0);
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        let room = buffer.remaining().min(BURST - handed_out);
        let part = buffer.initialize_unfilled_to(room);
        let count = if this.ahead.is_empty() {
            let mut read = ReadBuf::new(part);
            match Pin::new(&mut this.stream).poll_read(cx, &mut read) {
                Poll::Ready(Ok(())) => read.filled().len(),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    if !connection.is_busy() {
                        connection.handed_out.set(0);
                    }
                    return Poll::Pending;
                }
            }
        } else {
            let count = room.min(this.ahead.len());
            part[..count].copy_from_slice(&this.ahead[..count]);
            this.ahead.drain(..count);
            count
        };
        let one = one_head(&part[..count]);
        if one < count {
            this.ahead.splice(..0, part[one..count].iter().copied());
            connection.handed_out.set(BURST);
        }
        connection.handed_out(one);
        buffer.advance(one);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for GuardedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        this.connection.require_time()?;
        match Pin::new(&mut this.stream).poll_write(cx, bytes) {
            Poll::Ready(written) => {
                let count = written?;
                if this.connection.doing.get() == Doing::Stalling {
                    this.connection.takes(count, count == bytes.len());
                }
                Poll::Ready(Ok(count))
            }
            Poll::Pending => {
                this.connection.stalls();
                Poll::Pending
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::one_head;

    #[test]
    fn f_05_of_several_requests_one_is_handed_out() {
        for (bytes, first) in [
            ("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"),
            ("GET / HTTP/1.1\n\nGET / HTTP/1.1\n\n", "GET / HTTP/1.1\n\n"),
            ("GET / HTTP/1.1\r\n\nGET / HTTP/1.1\n\r\nGET", "GET / HTTP/1.1\r\n\n"),
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /", "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /"),
            ("POST / HTTP/1.1\r\n\r\na=b\n", "POST / HTTP/1.1\r\n\r\na=b\n"),
            ("GET /", "GET /"),
            ("", ""),
        ] {
            assert_eq!(&bytes[..one_head(bytes.as_bytes())], first);
        }
    }
}
