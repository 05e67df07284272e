//! Sends long responses in pieces.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::web::Bytes;

/// How much of a response is copied into a connection's buffer at once. The buffer holds about as much.
pub(crate) const PIECE: usize = 16 * 1024;

/// Splits a long body into pieces. actix copies what it is given, so it would copy the whole body for every
/// client that does not read.
pub(crate) fn in_pieces(body: BoxBody) -> BoxBody {
    match body.size() {
        BodySize::Sized(size) if size > PIECE as u64 => match body.try_into_bytes() {
            Ok(bytes) => BoxBody::new(Pieces(bytes)),
            Err(body) => body,
        },
        BodySize::None | BodySize::Sized(_) | BodySize::Stream => body,
    }
}

/// The rest of a body. It does not implement `try_into_bytes`, because [`BoxBody::new`] would then turn it
/// back into one piece.
struct Pieces(Bytes);

impl MessageBody for Pieces {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.0.len() as u64)
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.0.is_empty() {
            return Poll::Ready(None);
        }
        let count = self.0.len().min(PIECE);
        Poll::Ready(Some(Ok(self.0.split_to(count))))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[actix_web::test]
    async fn f_05_a_long_body_comes_in_pieces_and_whole() {
        let bytes: Bytes = (0..40_000_u32).map(|number| number.to_le_bytes()[0]).collect::<Vec<_>>().into();
        let mut body = in_pieces(BoxBody::new(bytes.clone()));
        assert_eq!(body.size(), BodySize::Sized(40_000));
        let mut taken = Vec::new();
        while let Some(piece) = poll_fn(|cx| Pin::new(&mut body).poll_next(cx)).await {
            let piece = piece.unwrap();
            assert!(piece.len() <= PIECE);
            taken.extend_from_slice(&piece);
        }
        assert_eq!(taken, bytes);
    }
}
