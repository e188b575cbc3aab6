//! What the program that confines says to the host, in a pipe of their own.

use std::fs::File;
use std::io::{self, PipeReader, Write as _};

use serde::{Deserialize, Serialize};

/// As much as a pipe holds; a report is much shorter.
const MOST: usize = 64 << 10;

/// One line of what is said.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Report {
    /// The limits hold, and the command is started next.
    #[serde(rename_all = "camelCase")]
    Confined {
        /// What the kernel cannot limit.
        not_enforced: Vec<String>,
    },
    /// Why the command is not run.
    Unavailable(String),
    /// The system did not start the command, for this error.
    NotStarted(i32),
}

impl Report {
    /// Writes the line.
    pub(super) fn send(&self, mut pipe: &File) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        pipe.write_all(&line)
    }
}

/// All that was said so far. Nothing is waited for: whoever could still write has exited.
pub(super) fn read(pipe: PipeReader) -> Vec<Report> {
    let mut said = vec![0; MOST];
    let mut length = 0;
    if rustix::io::ioctl_fionbio(&pipe, true).is_ok() {
        while let Ok(read @ 1..) = rustix::io::read(&pipe, &mut said[length..]) {
            length += read;
        }
    }
    said[..length]
        .split(|&byte| byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn what_is_sent_is_read_and_its_end_not_waited_for() {
        let (reader, writer) = io::pipe().unwrap();
        let writer = File::from(OwnedFd::from(writer));
        let reports = [
            Report::Confined {
                not_enforced: vec!["a".into(), "b\nc".into()],
            },
            Report::NotStarted(2),
            Report::Unavailable("because".into()),
        ];
        for report in &reports {
            report.send(&writer).unwrap();
        }
        assert_eq!(read(reader), reports);
        drop(writer);
    }

    #[test]
    fn nothing_else_is_a_report() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer
            .write_all(b"confined\n{}\n{\"confined\":{}}\n\"confined\"\n\xff\n{\"not-started\":1}")
            .unwrap();
        assert_eq!(read(reader), [Report::NotStarted(1)]);
    }
}
