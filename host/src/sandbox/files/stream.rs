//! The streams of a component's files: what is written is counted, and a file that is read or
//! written through a stream counts as open.

use std::sync::Arc;

use bytes::Bytes;
use rustix::io::Errno;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, InputStream, OutputStream, Pollable, StreamError, StreamResult,
};

use super::budget::{Budget, Share};
use super::fault::Fault;
use crate::sandbox::denials::Denials;

/// A file that is read.
pub(super) struct Reading {
    pub(super) inner: DynInputStream,
    pub(super) _share: Arc<Share>,
}

#[async_trait]
impl Pollable for Reading {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[async_trait]
impl InputStream for Reading {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.read(size)
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        self.inner.blocking_read(size).await
    }

    fn skip(&mut self, size: usize) -> StreamResult<usize> {
        self.inner.skip(size)
    }

    async fn blocking_skip(&mut self, size: usize) -> StreamResult<usize> {
        self.inner.blocking_skip(size).await
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}

/// A file that is written.
pub(super) struct Writing {
    pub(super) inner: DynOutputStream,
    pub(super) budget: Budget,
    pub(super) denials: Denials,
    pub(super) _share: Arc<Share>,
}

impl Writing {
    fn spend(&self, bytes: &Bytes) -> StreamResult<()> {
        self.budget.write(bytes.len() as u64).map_err(|fault| {
            let errno = match fault {
                Fault::System(errno) => errno,
                Fault::Denied(errno, denial) => {
                    self.denials.note(&denial.what, denial.grant.as_deref());
                    errno
                }
            };
            StreamError::LastOperationFailed(error(errno))
        })
    }
}

/// An error that the component can ask the code of.
fn error(errno: Errno) -> wasmtime::Error {
    std::io::Error::from(errno).into()
}

#[async_trait]
impl Pollable for Writing {
    async fn ready(&mut self) {
        self.inner.ready().await;
    }
}

#[async_trait]
impl OutputStream for Writing {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.spend(&bytes)?;
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.inner.flush()
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        self.inner.check_write()
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.spend(&bytes)?;
        self.inner.blocking_write_and_flush(bytes).await
    }

    async fn cancel(&mut self) {
        self.inner.cancel().await;
    }
}
