//! The network: connections to the granted ports, and no other socket.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use hookcell::config::Sandbox;

use crate::{bare, confined, needs_landlock, python, said};

/// A listener that greets whoever connects.
fn greeter() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream
                .write_all(b"hello")
                .and_then(|()| stream.read(&mut [0]));
        }
    });
    port
}

fn with_ports(ports: &[u16]) -> Sandbox {
    Sandbox {
        ports: ports.to_vec(),
        ..Sandbox::default()
    }
}

#[tokio::test]
async fn only_granted_ports_can_be_connected_to() {
    needs_landlock!();
    let (granted, other) = (greeter(), greeter());
    let script = format!(
        "import socket
for port in ({granted}, {other}):
    try:
        print(socket.create_connection(('127.0.0.1', port)).recv(5).decode())
    except OSError as error:
        print(error.errno)
for port in (0, {granted}):
    try:
        socket.socket().bind(('127.0.0.1', port))
        print('bound')
    except OSError as error:
        print(error.errno)
"
    );
    // Both listen, for whoever is not confined. 13 is EACCES, 98 that somebody else has the port.
    assert_eq!(
        python(&script).run().await.stdout.bytes,
        b"hello\nhello\nbound\n98\n"
    );
    let hook = confined(python(&script), with_ports(&[granted]));
    assert_eq!(said(&hook, 0).await.0, "hello\n13\n13\n13\n");
    assert_eq!(said(&bare(python(&script)), 0).await.0, "13\n13\n13\n13\n");
}

#[tokio::test]
async fn a_granted_port_opens_no_other_way() {
    needs_landlock!();
    let (granted, other) = (greeter(), greeter());
    // To connect in the call that sends, and to listen without having been bound.
    let script = format!(
        "import socket
def attempt(what):
    try:
        print(what())
    except OSError as error:
        print(error.errno)
def sent(how, port):
    stream = socket.socket()
    if how == 'sendto':
        stream.sendto(b'x', socket.MSG_FASTOPEN, ('127.0.0.1', port))
    else:
        stream.sendmsg([b'x'], [], socket.MSG_FASTOPEN, ('127.0.0.1', port))
    return stream.recv(5).decode()
for how in ('sendto', 'sendmsg'):
    for port in ({granted}, {other}):
        attempt(lambda: sent(how, port))
attempt(lambda: socket.socket().listen())
stream = socket.create_connection(('127.0.0.1', {granted}))
stream.sendmsg([b'x'])
print(stream.recv(5).decode())
"
    );
    let free = python(&script).run().await.stdout.bytes;
    assert_eq!(
        String::from_utf8_lossy(&free),
        "hello\nhello\nhello\nhello\nNone\nhello\n"
    );
    let hook = confined(python(&script), with_ports(&[granted]));
    assert_eq!(said(&hook, 0).await.0, "13\n13\n13\n13\n13\nhello\n");
}

/// Makes one socket of each kind, and says what came of it.
const KINDS: &str = "import socket
for kind in (
    (2, 1, 0), (2, 1, 6), (10, 1, 0), (10, 1 | 0o2004000, 0),  # TCP
    (2, 2, 0), (10, 2, 17),                                    # UDP
    (16, 3, 0), (16, 2, 0),                                    # netlink
    (1, 1, 0), (1, 2, 0), (1, 5, 0),                           # Unix
    (2, 1, 262), (2, 1, 132), (2, 2, 136),                     # MPTCP, SCTP, UDP-Lite
    (2, 3, 1), (2, 3, 255), (17, 3, 768), (40, 1, 0), (38, 5, 0),  # raw, packets, machines, crypto
):
    try:
        socket.socket(*kind)
        print(*kind, 'made')
    except OSError as error:
        print(*kind, error.errno)
a, b = socket.socketpair()
a.send(b'pair')
print(b.recv(4).decode())
";

#[tokio::test]
async fn without_a_port_there_are_no_sockets() {
    needs_landlock!();
    let (stdout, _) = said(&bare(python(KINDS)), 0).await;
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!((lines.len(), lines[19]), (20, "pair"));
    for line in &lines[..19] {
        assert!(line.ends_with(" 13"), "{line}");
    }
}

#[tokio::test]
async fn with_a_port_there_are_those_that_a_connection_by_name_needs() {
    needs_landlock!();
    let (stdout, _) = said(&confined(python(KINDS), with_ports(&[443])), 0).await;
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!((lines.len(), lines[19]), (20, "pair"));
    for (index, line) in lines[..19].iter().enumerate() {
        // IPv6 may be switched off (97).
        let is_made = line.ends_with(" made") || line.starts_with("10 ") && line.ends_with(" 97");
        assert_eq!(is_made, index < 8, "{line}");
        assert_eq!(line.ends_with(" 13"), index >= 8, "{line}");
    }
}

#[tokio::test]
async fn there_is_no_way_around_the_call_for_sockets() {
    needs_landlock!();
    // io_uring_setup; 38 is ENOSYS, and without a sandbox it is another error, or none.
    let script = "import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 1, None), ctypes.get_errno())";
    for sandbox in [with_ports(&[]), with_ports(&[443])] {
        assert_eq!(
            said(&confined(python(script), sandbox), 0).await.0,
            "-1 38\n"
        );
    }
}

#[tokio::test]
async fn unix_sockets_cannot_be_reached() {
    needs_landlock!();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let name = format!("hookcell-test-{}", std::process::id());
    let _by_path = UnixListener::bind(&path).unwrap();
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _by_name = UnixListener::bind_addr(&address).unwrap();
    let script = format!(
        "import socket
for address in ({:?}, '\\0{name}'):
    try:
        socket.socket(socket.AF_UNIX).connect(address)
        print('connected')
    except OSError as error:
        print(error.errno)
",
        path.to_str().unwrap()
    );
    assert_eq!(
        python(&script).run().await.stdout.bytes,
        b"connected\nconnected\n"
    );
    for sandbox in [with_ports(&[]), with_ports(&[443])] {
        assert_eq!(
            said(&confined(python(&script), sandbox), 0).await.0,
            "13\n13\n"
        );
    }
}
