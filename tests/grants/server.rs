//! An HTTP server on this machine, which answers as a test says.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// One server; each connection is answered once, on a thread of its own.
pub struct Server {
    port: u16,
    seen: Receiver<Seen>,
}

/// What a server saw.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// A request: its first line, its `Host`, and the bytes of its body.
    Request(String, String, usize),
    /// The client closed the connection while it was being answered.
    Gone,
}

impl Server {
    /// A server that answers each request by writing to the connection.
    pub fn new(answer: fn(&mut TcpStream) -> std::io::Result<()>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, seen) = channel();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (connection, tell) = (connection.unwrap(), tell.clone());
                std::thread::spawn(move || serve(connection, &tell, answer));
            }
        });
        Self { port, seen }
    }

    /// A server that answers with this text.
    pub fn saying(text: &'static str) -> Self {
        assert_eq!(text, "hello", "one text is enough");
        Self::new(|stream| stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"))
    }

    /// Its address with its port.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next thing that it saw, which must come soon.
    pub fn next(&self) -> Seen {
        self.seen.recv_timeout(Duration::from_secs(20)).unwrap()
    }

    /// How many requests it saw that nobody asked about.
    pub fn rest(&self) -> usize {
        self.seen
            .try_iter()
            .filter(|seen| matches!(seen, Seen::Request(..)))
            .count()
    }
}

fn serve(
    connection: TcpStream,
    tell: &Sender<Seen>,
    answer: fn(&mut TcpStream) -> std::io::Result<()>,
) {
    connection
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let field = |name: &str| {
        lines.iter().find_map(|line| {
            let (it, value) = line.split_once(": ")?;
            it.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    let body = if field("transfer-encoding").is_some() {
        chunks(&mut reader)
    } else {
        0
    };
    let host = field("host").unwrap_or_default();
    // A test that has seen enough is not waiting any more.
    let _ = tell.send(Seen::Request(lines[0].clone(), host, body));
    let mut writer = connection;
    if answer(&mut writer).is_err() {
        let _ = tell.send(Seen::Gone);
    }
    let _ = writer.shutdown(Shutdown::Write);
    let mut end = Vec::new();
    let _ = reader.read_to_end(&mut end);
}

/// The length of a body that comes in chunks.
fn chunks(reader: &mut BufReader<TcpStream>) -> usize {
    let mut sum = 0;
    loop {
        let mut size = String::new();
        if reader.read_line(&mut size).unwrap_or(0) == 0 {
            return sum;
        }
        let Ok(size) = usize::from_str_radix(size.trim_end(), 16) else {
            return sum;
        };
        let mut chunk = vec![0; size + 2];
        if reader.read_exact(&mut chunk).is_err() || size == 0 {
            return sum;
        }
        sum += size;
    }
}
