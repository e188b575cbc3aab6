//! One output of a command: its head kept, all of it counted.

use std::os::fd::AsFd;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::outcome::Captured;

/// How much is read at once, and what a pipe holds where the system does not say.
const CHUNK: usize = 64 << 10;

/// What is read from one pipe.
pub(super) struct Capture<P> {
    /// `None` once the pipe has come to its end.
    pipe: Option<P>,
    limit: usize,
    captured: Captured,
}

impl<P: AsFd> Capture<P> {
    /// Will keep at most `limit` bytes of `pipe`.
    pub(super) fn new(pipe: Option<P>, limit: usize) -> Self {
        Self {
            pipe,
            limit,
            captured: Captured::default(),
        }
    }

    /// What was kept, once the process has exited and [`Capture::fill`] is dropped.
    ///
    /// What the process wrote is in the pipe by now, so it is at most as much as the pipe holds,
    /// and lies before anything that others write after it. Exactly that much is read, and nothing
    /// waited for: a job in the background may hold the pipe open, or fill it for ever.
    pub(super) fn finish(mut self) -> Captured {
        let Some(pipe) = &self.pipe else {
            return self.captured;
        };
        let mut left = capacity(pipe);
        let mut chunk = vec![0; CHUNK];
        while left > 0 {
            let most = left.min(CHUNK);
            match rustix::io::read(pipe, &mut chunk[..most]) {
                Ok(0) => break,
                Ok(read) => {
                    keep(&mut self.captured, self.limit, &chunk[..read]);
                    left -= read;
                }
                Err(rustix::io::Errno::INTR) => {}
                // The pipe is empty (the runtime has made it non-blocking), or broken.
                Err(_) => break,
            }
        }
        self.captured
    }
}

impl<P: AsyncRead + Unpin> Capture<P> {
    /// Reads until everybody who could write has closed the pipe. Nothing is lost if the future is
    /// dropped before that.
    pub(super) async fn fill(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut chunk = vec![0; CHUNK];
        while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
            keep(&mut self.captured, self.limit, &chunk[..read]);
        }
        self.pipe = None;
    }
}

fn keep(captured: &mut Captured, limit: usize, bytes: &[u8]) {
    let room = limit.saturating_sub(captured.bytes.len());
    captured
        .bytes
        .extend_from_slice(&bytes[..bytes.len().min(room)]);
    captured.total += bytes.len() as u64;
}

/// How many bytes the pipe can hold; a process may have enlarged it.
fn capacity(pipe: &impl AsFd) -> usize {
    #[cfg(target_os = "linux")]
    if let Ok(size) = rustix::pipe::fcntl_getpipe_size(pipe) {
        return size;
    }
    let _ = pipe;
    CHUNK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_kept_and_everything_counted() {
        let mut captured = Captured::default();
        for part in ["abc", "", "defg", "hij"] {
            keep(&mut captured, 5, part.as_bytes());
        }
        assert_eq!(
            captured,
            Captured {
                bytes: b"abcde".to_vec(),
                total: 10
            }
        );
        let mut nothing = Captured::default();
        keep(&mut nothing, 0, b"abc");
        assert_eq!((nothing.bytes.len(), nothing.total), (0, 3));
    }

    #[tokio::test]
    async fn what_is_in_the_pipe_is_kept_and_its_end_not_waited_for() {
        use std::io::Write as _;
        for size in [64 << 10, 1 << 20] {
            let (reader, mut writer) = std::io::pipe().expect("a pipe");
            #[cfg(target_os = "linux")]
            rustix::pipe::fcntl_setpipe_size(&writer, size).expect("the size");
            let size = capacity(&writer);
            writer.write_all(&vec![b'x'; size]).expect("room");
            let pipe = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into());
            let captured = Capture::new(Some(pipe.expect("a pipe")), 3).finish();
            assert_eq!((captured.bytes.len(), captured.total), (3, size as u64));
            drop(writer);
        }
    }

    #[test]
    fn an_endless_writer_cannot_hold_the_result() {
        let endless = std::fs::File::open("/dev/zero").expect("zeros");
        let captured = Capture::new(Some(endless), 3).finish();
        assert_eq!((captured.bytes.len(), captured.total), (3, CHUNK as u64));
    }
}
