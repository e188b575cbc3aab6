//! `network`, against real servers on this machine.

use std::io::Write as _;
use std::time::{Duration, Instant};

use hookcell::outcome::FailureKind;
use serde_json::{Value, json};

use crate::server::{Seen, Server};
use crate::{GRANTED, denied, run};

/// A hook that may send requests there.
fn granted(hosts: &[&str]) -> Value {
    json!({"permissions": {"network": hosts, "state": true}})
}

fn with(mut hook: Value, key: &str, value: Value) -> Value {
    hook[key] = value;
    hook
}

#[tokio::test]
async fn a_named_address_is_reached_and_the_request_is_what_was_asked() {
    let server = Server::saying("hello");
    let address = server.address();
    let url = format!("get=http://{address}/path?query=1");
    let record = run(GRANTED, &[&url], granted(&[&address])).await;
    assert_eq!(record.stdout, "200 hello\n", "{record:?}");
    assert_eq!(denied(&record), []);
    let request = "GET /path?query=1 HTTP/1.1".to_owned();
    assert_eq!(server.next(), Seen::Request(request, address, 0));
    assert_eq!(server.rest(), 0);
}

#[tokio::test]
async fn what_is_not_named_is_denied_counted_and_never_connected_to() {
    let server = Server::saying("hello");
    let address = server.address();
    let url = format!("get=http://{address}/");
    let other = format!("127.0.0.1:{}", server.port() ^ 1);
    let record = run(
        GRANTED,
        &[&url, &url],
        granted(&[&other, "example.com:443"]),
    )
    .await;
    let error = "error: ErrorCode::HttpRequestDenied\n";
    assert_eq!(record.stdout, error.repeat(2));
    assert_eq!(
        denied(&record),
        [(format!("network: a request to {address}").as_str(), 2)]
    );
    assert_eq!(
        record.denied[0].grant.as_deref(),
        Some(format!("\"network\": [\"{address}\"]").as_str())
    );
    assert!(record.failure.is_none());
    assert_eq!(server.rest(), 0);
}

#[tokio::test]
async fn a_name_that_leads_to_this_machine_is_refused_unless_the_address_is_named_too() {
    let server = Server::saying("hello");
    let name = format!("localhost:{}", server.port());
    let url = format!("get=http://{name}/");
    let record = run(GRANTED, &[&url], granted(&[&name])).await;
    assert_eq!(record.stdout, "error: ErrorCode::DestinationIpProhibited\n");
    let what = &record.denied[0].what;
    assert!(
        what.starts_with(&format!("network: a request to {name}, which is "))
            && what.ends_with(": an address of this machine, to be named itself"),
        "{what}"
    );
    assert_eq!(server.rest(), 0);
    let record = run(GRANTED, &[&url], granted(&[&name, &server.address()])).await;
    assert_eq!(record.stdout, "200 hello\n");
    let request = "GET / HTTP/1.1".to_owned();
    assert_eq!(server.next(), Seen::Request(request, name, 0));
}

#[tokio::test]
async fn an_address_written_otherwise_is_not_the_named_one() {
    let server = Server::saying("hello");
    let hook = || granted(&[&server.address()]);
    for host in [
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "127.0.0.1.",
        "localhost",
    ] {
        let url = format!("get=http://{host}:{}/", server.port());
        let record = run(GRANTED, &[&url], hook()).await;
        assert_eq!(
            record.stdout, "error: ErrorCode::HttpRequestDenied\n",
            "{host}"
        );
    }
    for (host, error) in [
        ("user@127.0.0.1", "HttpRequestUriInvalid"),
        ("127.0.0.1:80@127.0.0.1", "HttpRequestUriInvalid"),
    ] {
        let url = format!("get=http://{host}:{}/", server.port());
        let record = run(GRANTED, &[&url], hook()).await;
        assert!(
            record.stdout == format!("error: ErrorCode::{error}\n")
                || record.stdout == "error: not a request\n",
            "{host}: {record:?}"
        );
    }
    assert_eq!(server.rest(), 0);
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_all_others() {
    let target = Server::saying("hello");
    let server = Server::new(|stream| {
        let head =
            "HTTP/1.1 302 Found\r\nlocation: http://example.com/\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(head.as_bytes())
    });
    let hook = granted(&[&server.address(), &target.address()]);
    let url = format!("head=http://{}/", server.address());
    let record = run(GRANTED, &[&url], hook).await;
    assert_eq!(
        record.stdout,
        "302 location: http://example.com/ content-length: 0\n"
    );
    assert!(matches!(server.next(), Seen::Request(..)));
    assert_eq!((server.rest(), target.rest()), (0, 0));
}

#[tokio::test]
async fn a_body_that_drips_ends_with_the_hook() {
    let server = Server::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(b".")?;
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let hook = with(granted(&[&server.address()]), "timeout", json!(1));
    let started = Instant::now();
    let record = run(
        GRANTED,
        &[&format!("get=http://{}/", server.address())],
        hook,
    )
    .await;
    assert_eq!(record.failure.unwrap().kind, FailureKind::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(15));
    assert!(matches!(server.next(), Seen::Request(..)));
    assert_eq!(server.next(), Seen::Gone);
}

#[tokio::test]
async fn a_connection_ends_with_the_run_that_made_it() {
    let server = Server::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nx")?;
        let until = Instant::now() + Duration::from_secs(15);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
            stream.write_all(b"x")?;
        }
        Ok(())
    });
    for request in ["hold", "abandon"] {
        let url = format!("{request}=http://{}/", server.address());
        // Long enough that the request arrives, whoever waits for its answer.
        let args = [url.as_str(), "sleep=500"];
        let record = run(GRANTED, &args, granted(&[&server.address()])).await;
        assert!(record.success, "{record:?}");
        assert!(matches!(server.next(), Seen::Request(..)), "{request}");
        assert_eq!(server.next(), Seen::Gone, "{request}");
    }
}

#[tokio::test]
async fn bodies_are_held_to_their_limit_in_both_directions() {
    let server = Server::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        stream.write_all(&vec![b'x'; 100_000])
    });
    let hook = |bodies: u64| {
        with(
            granted(&[&server.address()]),
            "limits",
            json!({"bodies": bodies}),
        )
    };
    let url = format!("count=http://{}/", server.address());
    let record = run(GRANTED, &[&url], hook(100_000)).await;
    assert_eq!(
        (record.stdout.as_str(), denied(&record)),
        ("100000\n", vec![])
    );
    let record = run(GRANTED, &[&url], hook(99_999)).await;
    assert_eq!(
        record.stdout,
        "error: HTTP response body size exceeds limit: 99999 bytes\n"
    );
    let what = "network: bodies of more than 97.7 KiB in one run; raise `limits.bodies`";
    assert_eq!(denied(&record), [(what, 1)]);
    // The limit is for all bodies together.
    let record = run(GRANTED, &[&url, &url], hook(150_000)).await;
    assert_eq!(
        record.stdout,
        "100000\nerror: HTTP response body size exceeds limit: 150000 bytes\n"
    );
    let answer = Server::saying("hello");
    let hook = |bodies: u64| {
        with(
            granted(&[&answer.address()]),
            "limits",
            json!({"bodies": bodies}),
        )
    };
    let url = format!("post=50000=http://{}/", answer.address());
    let record = run(GRANTED, &[&url], hook(50_005)).await;
    assert_eq!(record.stdout, "200 hello\n", "{record:?}");
    let request = "POST / HTTP/1.1".to_owned();
    assert_eq!(
        answer.next(),
        Seen::Request(request, answer.address(), 50_000)
    );
    let record = run(GRANTED, &[&url], hook(20_000)).await;
    assert_eq!(
        record.stdout,
        "error: ErrorCode::HttpRequestBodySize(Some(20000))\n"
    );
    assert_eq!(record.denied.len(), 1, "{record:?}");
}

#[tokio::test]
async fn requests_and_connections_are_counted() {
    let server = Server::saying("hello");
    let hook = |requests: u64| {
        with(
            granted(&[&server.address()]),
            "limits",
            json!({"requests": requests}),
        )
    };
    let url = format!("times=5=http://{}/", server.address());
    let record = run(GRANTED, &[&url], hook(3)).await;
    assert_eq!(record.stdout, "3\n");
    let what = "network: more than 3 requests in one run; raise `limits.requests`";
    assert_eq!(denied(&record), [(what, 2)]);
    let silent = Server::new(|stream| {
        std::thread::sleep(Duration::from_secs(2));
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
    });
    let url = format!("together=20=http://{}/", silent.address());
    let hook = with(
        granted(&[&silent.address()]),
        "limits",
        json!({"requests": 100}),
    );
    let record = run(GRANTED, &[&url], hook).await;
    assert_eq!(record.stdout, "16\n");
    assert_eq!(
        denied(&record),
        [("network: more than 16 connections at once", 4)]
    );
}

#[tokio::test]
async fn answers_that_are_none_are_errors_of_the_guest() {
    let servers = [
        (Server::new(|_| Ok(())), "ErrorCode::HttpProtocolError"),
        (
            Server::new(|stream| stream.write_all(b"SSH-2.0-server\r\n\r\n")),
            "ErrorCode::HttpProtocolError",
        ),
        (
            Server::new(|stream| {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello")
            }),
            "hyper error: error reading a body from connection",
        ),
    ];
    for (server, error) in servers {
        let url = format!("get=http://{}/", server.address());
        let record = run(GRANTED, &[&url], granted(&[&server.address()])).await;
        assert_eq!(record.stdout, format!("error: {error}\n"));
    }
    // A head that does not end.
    let server = Server::new(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
        for number in 0..100_000 {
            write!(stream, "field-{number}: {}\r\n", "x".repeat(100))?;
        }
        Ok(())
    });
    let url = format!("get=http://{}/", server.address());
    let record = run(GRANTED, &[&url], granted(&[&server.address()])).await;
    assert_eq!(record.stdout, "error: ErrorCode::HttpProtocolError\n");
    // Nobody listens, and somebody who speaks no TLS.
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let url = format!("get=http://{closed}/");
    let record = run(GRANTED, &[&url], granted(&[&closed])).await;
    assert_eq!(record.stdout, "error: ErrorCode::ConnectionRefused\n");
    let plain = Server::saying("hello");
    let url = format!("get=https://{}/", plain.address());
    let record = run(GRANTED, &[&url], granted(&[&plain.address()])).await;
    assert_eq!(record.stdout, "error: ErrorCode::TlsProtocolError\n");
}

#[tokio::test]
async fn a_tunnel_is_refused() {
    let server = Server::saying("hello");
    let url = format!("method=CONNECT=http://{}/", server.address());
    let record = run(GRANTED, &[&url], granted(&[&server.address()])).await;
    assert_eq!(
        record.stdout,
        "error: ErrorCode::HttpRequestMethodInvalid\n"
    );
    assert_eq!(server.rest(), 0);
}

#[tokio::test]
async fn without_its_grant_a_component_does_not_load_and_the_failure_says_what_to_add() {
    for (permissions, lines) in [
        (json!({}), "{\"network\": [\"HOST:PORT\"], \"state\": true}"),
        (
            json!({"network": []}),
            "{\"network\": [\"HOST:PORT\"], \"state\": true}",
        ),
        (json!({"network": ["a:1"]}), "{\"state\": true}"),
        (json!({"state": true}), "{\"network\": [\"HOST:PORT\"]}"),
    ] {
        let record = run(GRANTED, &[], json!({"permissions": permissions})).await;
        let failure = record.failure.unwrap();
        assert_eq!(failure.kind, FailureKind::UnknownImport);
        assert!(
            failure
                .message
                .ends_with(&format!("; add `\"permissions\": {lines}` to the hook")),
            "{failure}"
        );
    }
}
