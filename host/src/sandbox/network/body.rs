//! Bodies that are counted against what the run may send and receive.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};
use wasmtime_wasi_http::{Error, WasiBody};

use super::policy::Policy;

/// What a guest sends.
pub(super) struct Sent {
    body: WasiBody,
    policy: Arc<Policy>,
}

impl Sent {
    pub(super) fn new(body: WasiBody, policy: Arc<Policy>) -> Self {
        Self { body, policy }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(&mut self.body).poll_frame(cx).map(|frame| {
            frame.map(|frame| match &frame {
                Ok(data) if !self.policy.take_bytes(length(data)) => {
                    Err(Error::HttpRequestBodySize(Some(self.policy.most_bytes())))
                }
                _ => frame,
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a guest receives.
pub(super) struct Received {
    body: Incoming,
    policy: Arc<Policy>,
    /// How long the server may be silent.
    patience: Duration,
    silence: Pin<Box<Sleep>>,
}

impl Received {
    pub(super) fn new(body: Incoming, policy: Arc<Policy>, patience: Duration) -> Self {
        Self {
            body,
            policy,
            patience,
            silence: Box::pin(tokio::time::sleep(patience)),
        }
    }
}

impl Body for Received {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
            return self
                .silence
                .as_mut()
                .poll(cx)
                .map(|()| Some(Err(Error::ConnectionReadTimeout)));
        };
        // A wait beyond all time is one without end.
        if let Some(end) = Instant::now().checked_add(self.patience) {
            self.silence.as_mut().reset(end);
        }
        Poll::Ready(frame.map(|frame| match frame {
            Ok(data) if !self.policy.take_bytes(length(&data)) => {
                Err(Error::HttpResponseBodySize(Some(self.policy.most_bytes())))
            }
            Ok(data) => Ok(data),
            Err(error) => Err(Error::Hyper(error)),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The bytes of a frame; fields behind a body count with it.
fn length(frame: &Frame<Bytes>) -> usize {
    match (frame.data_ref(), frame.trailers_ref()) {
        (Some(data), _) => data.len(),
        (None, Some(fields)) => fields
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len())
            .sum(),
        (None, None) => 0,
    }
}
