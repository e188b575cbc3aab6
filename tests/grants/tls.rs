//! Encrypted requests: the server must be the one that was named, by an authority that is trusted.
//!
//! The folder `tls` has a certificate for 127.0.0.1 until 2120, its key, which is nobody's secret,
//! and the authority that signed it, whose key is gone.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, Stream};

use crate::{GRANTED, without_folders};

const CERTIFICATE: &[u8] = include_bytes!("tls/server.cert.der");
const KEY: &[u8] = include_bytes!("tls/server.key.der");
const AUTHORITY: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/grants/tls/authority.pem"
);

/// Answers every request with `hello`, encrypted; returns its port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = Stream::new(&mut session, &mut connection);
            // A client that does not trust the certificate ends it here.
            if stream.read(&mut [0; 4096]).is_ok() {
                let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
                stream.write_all(answer).unwrap();
                let _ = stream.flush();
            }
        }
    });
    port
}

/// What the guest says of a request to this host, where this file has all trusted authorities.
fn answer(host: &str, port: u16, authorities: &str) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let event = folder.path().join("event.json");
    std::fs::write(&event, r#"{"hook_event_name": "PreToolUse"}"#).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_hookcell"))
        .args(["test", GRANTED, "--state", "--json", "--event"])
        .arg(&event)
        .args(["--network", &format!("{host}:{port}")])
        .args(["--network", &format!("127.0.0.1:{port}")])
        .args(["--arg", &format!("get=https://{host}:{port}/")])
        .env("SSL_CERT_FILE", authorities)
        .env("HOOKCELL_STATE_DIRECTORY", folder.path().join("kept"))
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let mut decision: Value = serde_json::from_slice(&output.stdout).unwrap();
    let record = &mut decision["records"][0];
    without_folders(record);
    assert_eq!(record["success"], true, "{record}");
    (
        record["stdout"].as_str().unwrap().to_owned(),
        record["denied"].clone(),
    )
}

#[test]
fn a_server_must_prove_that_it_is_the_one_that_was_named() {
    let port = server();
    let trusted = answer("127.0.0.1", port, AUTHORITY);
    assert_eq!(trusted, ("200 hello\n".into(), Value::Array(Vec::new())));
    let refused = "error: ErrorCode::TlsProtocolError\n";
    // The certificate is for the address alone.
    assert_eq!(answer("localhost", port, AUTHORITY).0, refused);
    let (said, denied) = answer("127.0.0.1", port, "/dev/null");
    assert_eq!(said, refused);
    assert_eq!(
        denied[0]["what"],
        "network: no https request can be checked: the system has no certificate authorities; \
         install its `ca-certificates`"
    );
}
