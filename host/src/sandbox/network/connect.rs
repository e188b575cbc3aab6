//! From a destination to a connection: its name is looked up, its addresses are checked, and one of
//! those is connected to.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use wasmtime_wasi_http::Error;

use super::policy::{Destination, Policy};

/// Name lookups of all guests at once: each holds a thread until the system answers, whether or
/// not anybody still waits for it.
static LOOKUPS: Semaphore = Semaphore::const_new(8);

/// How many of a name's addresses are tried.
const ADDRESSES: usize = 8;

/// A connection, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Connects to one of the destination's addresses that may be connected to.
pub(super) async fn connect(
    policy: &Policy,
    destination: &Destination,
) -> Result<Box<dyn Stream>, Error> {
    let addresses = addresses(&destination.host).await?;
    let mut last = None;
    for address in policy.permitted(destination, &addresses)? {
        match TcpStream::connect(address).await {
            // Small requests are not held back to be sent together.
            Ok(stream) => {
                let _ = stream.set_nodelay(true);
                return if destination.tls {
                    encrypt(policy, destination, stream).await
                } else {
                    Ok(Box::new(stream))
                };
            }
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or(Error::DestinationNotFound, Error::Connect))
}

async fn addresses(host: &str) -> Result<Vec<IpAddr>, Error> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    let not_found = |rcode: String| Error::DnsError {
        rcode: Some(rcode),
        info_code: None,
    };
    let lookup = LOOKUPS
        .acquire()
        .await
        .map_err(|error| not_found(error.to_string()))?;
    let host = host.to_owned();
    let looked_up = tokio::task::spawn_blocking(move || {
        let _lookup = lookup;
        let found = (host.as_str(), 0).to_socket_addrs()?;
        Ok::<_, io::Error>(found.map(|it| it.ip()).take(ADDRESSES).collect::<Vec<_>>())
    });
    let mut found = looked_up
        .await
        .map_err(|error| not_found(error.to_string()))?
        .map_err(|error| not_found(error.to_string()))?;
    found.dedup();
    Ok(found)
}

async fn encrypt(
    policy: &Policy,
    destination: &Destination,
    stream: TcpStream,
) -> Result<Box<dyn Stream>, Error> {
    let name = ServerName::try_from(destination.host.clone())
        .map_err(|error| Error::Tls(io::Error::other(error)))?;
    let client = tokio::task::spawn_blocking(client)
        .await
        .map_err(|error| Error::Tls(io::Error::other(error)))?
        .map_err(|why| {
            policy.tell(&format!("network: no https request can be checked: {why}"));
            Error::Tls(io::Error::other(why))
        })?;
    let stream = TlsConnector::from(client)
        .connect(name, stream)
        .await
        .map_err(Error::Tls)?;
    Ok(Box::new(stream))
}

/// The client's side of TLS, with the certificate authorities that the system trusts. They are read
/// once; a system that has none may have some later.
fn client() -> Result<Arc<ClientConfig>, String> {
    static CLIENT: Mutex<Option<Arc<ClientConfig>>> = Mutex::new(None);
    let mut kept = CLIENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(client) = &*kept {
        return Ok(Arc::clone(client));
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        return Err(found.errors.first().map_or_else(
            || {
                "the system has no certificate authorities; install its `ca-certificates`"
                    .to_owned()
            },
            |error| format!("the system's certificate authorities cannot be read: {error}"),
        ));
    }
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let client = Arc::new(client);
    *kept = Some(Arc::clone(&client));
    Ok(client)
}
