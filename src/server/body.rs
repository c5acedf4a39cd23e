//! Reading a delivery's body within bounds: its own, and one over all requests together.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::WEBHOOK_BYTES;

/// The bytes that all requests may hold together.
#[derive(Debug)]
pub(super) struct Bodies {
    room: Arc<Semaphore>,
    patience: Duration,
}

/// A body, and the room that it takes up for as long as it lives.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body has more than {WEBHOOK_BYTES} bytes")]
    TooLarge,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the body broke off")]
    BrokenOff,
    #[error("too many bodies at once; deliver it again")]
    NoRoom,
}

impl BodyError {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BrokenOff => StatusCode::BAD_REQUEST,
            Self::NoRoom => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl Bodies {
    pub(super) fn new(bytes: usize, patience: Duration) -> Self {
        Self { room: Arc::new(Semaphore::new(bytes)), patience }
    }

    /// Reads a whole body. A length that is declared too large is refused unread; room is taken as
    /// bytes arrive, so that slow senders hold only what they sent.
    pub(super) async fn read(&self, headers: &HeaderMap, body: Body) -> Result<Held, BodyError> {
        let declared = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        if declared.is_some_and(|length| length > WEBHOOK_BYTES) {
            return Err(BodyError::TooLarge);
        }
        tokio::time::timeout(self.patience, self.collect(body))
            .await
            .unwrap_or(Err(BodyError::TooSlow))
    }

    async fn collect(&self, body: Body) -> Result<Held, BodyError> {
        let mut room: Option<OwnedSemaphorePermit> = None;
        let mut whole = BytesMut::new();
        let mut chunks = body.into_data_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| BodyError::BrokenOff)?;
            if whole.len() + chunk.len() > WEBHOOK_BYTES {
                return Err(BodyError::TooLarge);
            }
            let size = u32::try_from(chunk.len()).map_err(|_| BodyError::TooLarge)?;
            let more = Arc::clone(&self.room)
                .try_acquire_many_owned(size)
                .map_err(|_| BodyError::NoRoom)?;
            match &mut room {
                Some(room) => room.merge(more),
                None => room = Some(more),
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(Held { bytes: whole.freeze(), _room: room })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    fn chunked(sizes: &[usize]) -> Body {
        let chunks: Vec<_> =
            sizes.iter().map(|size| Ok::<_, std::io::Error>(vec![b' '; *size])).collect();
        Body::from_stream(stream::iter(chunks))
    }

    async fn read(bodies: &Bodies, body: Body) -> Result<usize, BodyError> {
        bodies.read(&HeaderMap::new(), body).await.map(|held| held.bytes.len())
    }

    #[tokio::test]
    async fn the_cap_itself_fits_and_one_byte_more_does_not() {
        let bodies = Bodies::new(2 * WEBHOOK_BYTES, Duration::from_secs(60));
        let half = WEBHOOK_BYTES / 2;
        assert_eq!(read(&bodies, chunked(&[half, half])).await, Ok(WEBHOOK_BYTES));
        assert_eq!(read(&bodies, chunked(&[half, half, 1])).await, Err(BodyError::TooLarge));
        assert_eq!(read(&bodies, chunked(&[])).await, Ok(0));
    }

    #[tokio::test]
    async fn bodies_share_their_room_and_give_it_back() {
        let bodies = Bodies::new(10, Duration::from_secs(60));
        let held = bodies.read(&HeaderMap::new(), chunked(&[3, 3])).await.unwrap();
        assert_eq!(read(&bodies, chunked(&[2, 3])).await, Err(BodyError::NoRoom));
        assert_eq!(read(&bodies, chunked(&[4])).await, Ok(4));
        drop(held);
        assert_eq!(read(&bodies, chunked(&[10])).await, Ok(10));
    }

    #[tokio::test]
    async fn a_body_that_does_not_arrive_is_given_up() {
        let bodies = Bodies::new(10, Duration::from_millis(1));
        let body = Body::from_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>());
        assert_eq!(read(&bodies, body).await, Err(BodyError::TooSlow));
    }
}
