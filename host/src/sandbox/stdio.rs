//! A guest's standard output and error: the head is kept, the rest counted, the guest never told.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use crate::outcome::Captured;

/// The most that a guest may hand over in one call.
const LARGEST_WRITE: usize = 64 << 10;

/// Keeps the first `cap` bytes of a stream and counts all. Clones are the same stream.
#[derive(Clone)]
pub(super) struct CappedOutput {
    cap: usize,
    captured: Arc<Mutex<Captured>>,
}

impl CappedOutput {
    /// A stream that keeps `cap` bytes.
    pub(super) fn new(cap: usize) -> Self {
        Self {
            cap,
            captured: Arc::default(),
        }
    }

    /// What was written so far, taken out of the stream.
    pub(super) fn take(&self) -> Captured {
        std::mem::take(&mut *self.captured.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, bytes: &[u8]) {
        let mut captured = self.captured.lock().unwrap_or_else(PoisonError::into_inner);
        captured.total += bytes.len() as u64;
        let room = self.cap - captured.bytes.len();
        captured
            .bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl IsTerminal for CappedOutput {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for CappedOutput {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for CappedOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(LARGEST_WRITE)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for CappedOutput {
    async fn ready(&mut self) {}
}

impl AsyncWrite for CappedOutput {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
