//! Standard input, output and error.

use std::io::{self, Read, Write};

const CHUNK: usize = 64 << 10;

pub fn stdout(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    refused("stdout", written);
}

pub fn stderr(bytes: &[u8]) {
    refused("stderr", io::stderr().write_all(bytes));
}

/// A stream that takes no more ends the guest, with a code that no test uses otherwise.
fn refused(stream: &str, written: io::Result<()>) {
    if let Err(error) = written {
        let _ = writeln!(io::stderr(), "scripted-guest: {stream}: {:?}", error.kind());
        crate::exit(98);
    }
}

pub fn repeat(count: u64, write: impl Fn(&[u8])) {
    let chunk = [b'x'; CHUNK];
    let mut left = count;
    while left > 0 {
        let size = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        write(&chunk[..size]);
        left -= size as u64;
    }
}

pub fn read_stdin(mut take: impl FnMut(&[u8])) {
    let mut stdin = io::stdin().lock();
    let mut chunk = vec![0; CHUNK];
    loop {
        match stdin.read(&mut chunk) {
            Ok(0) => return,
            Ok(size) => take(&chunk[..size]),
            Err(error) => return stderr(format!("stdin: {:?}\n", error.kind()).as_bytes()),
        }
    }
}

pub fn count_stdin() {
    let mut count = 0;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    read_stdin(|bytes| {
        count += bytes.len();
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    });
    stderr(format!("{count} {hash:016x}\n").as_bytes());
}
