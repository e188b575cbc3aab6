//! What a run may do with the network, and what is left of it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::Uri;
use http::uri::Scheme;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime_wasi_http::Error;

use super::address::not_public;
use crate::config::NetworkGrant;
use crate::sandbox::denials::Denials;

/// How many connections one run may have at once; each costs a descriptor and some buffers.
const CONNECTIONS: usize = 16;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    /// Whether the connection is encrypted.
    pub(super) tls: bool,
    /// A name in lower case, or an address without brackets.
    pub(super) host: String,
    /// The port, as written or the scheme's own.
    pub(super) port: u16,
    /// Whether the port is the scheme's own.
    default_port: bool,
}

impl Destination {
    /// The destination of a request.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        let authority = uri.authority()?;
        // What stands before an `@` is there to make a reader take it for the host.
        if authority.as_str().contains('@') {
            return None;
        }
        let tls = match uri.scheme()? {
            scheme if *scheme == Scheme::HTTPS => true,
            scheme if *scheme == Scheme::HTTP => false,
            _ => return None,
        };
        let own = if tls { 443 } else { 80 };
        let host = authority.host();
        // What stands behind the host is a port, or a mistake that must not mean the default one.
        let port = match authority.as_str().get(host.len()..)? {
            "" => own,
            rest => rest.strip_prefix(':')?.parse().ok()?,
        };
        let host = match host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(address) => address.parse::<std::net::Ipv6Addr>().ok()?.to_string(),
            None => host.to_ascii_lowercase(),
        };
        let destination = Self {
            tls,
            host,
            port,
            default_port: port == own,
        };
        (!destination.host.is_empty() && port != 0).then_some(destination)
    }

    /// The value of the `Host` header field.
    pub(super) fn host_field(&self) -> String {
        let grant = self.as_grant().to_string();
        match grant.rsplit_once(':') {
            Some((host, _)) if self.default_port => host.to_owned(),
            _ => grant,
        }
    }

    fn as_grant(&self) -> NetworkGrant {
        NetworkGrant {
            host: self.host.clone(),
            port: self.port,
        }
    }
}

/// What a run may do, and what is left of it.
pub(super) struct Policy {
    granted: Vec<NetworkGrant>,
    most_requests: u64,
    requests: AtomicU64,
    most_bytes: u64,
    bytes: AtomicU64,
    connections: Arc<Semaphore>,
    deadline: Instant,
    denials: Denials,
}

impl Policy {
    pub(super) fn new(
        granted: Vec<NetworkGrant>,
        requests: u64,
        bodies: u64,
        deadline: Instant,
        denials: Denials,
    ) -> Self {
        Self {
            granted,
            most_requests: requests,
            requests: AtomicU64::new(requests),
            most_bytes: bodies,
            bytes: AtomicU64::new(bodies),
            connections: Arc::new(Semaphore::new(CONNECTIONS)),
            deadline,
            denials,
        }
    }

    /// Lets one more request go there, or says why not.
    pub(super) fn admit(&self, destination: &Destination) -> Result<OwnedSemaphorePermit, Error> {
        let asked = destination.as_grant();
        if !self.grants(&asked) {
            self.denials.note(
                &format!("network: a request to {asked}"),
                Some(&format!("\"network\": [\"{asked}\"]")),
            );
            return Err(Error::HttpRequestDenied);
        }
        if !take(&self.requests, 1) {
            self.denials.note(
                &format!(
                    "network: more than {} requests in one run; raise `limits.requests`",
                    self.most_requests
                ),
                None,
            );
            return Err(Error::HttpRequestDenied);
        }
        Arc::clone(&self.connections)
            .try_acquire_owned()
            .map_err(|_| {
                let what = format!("network: more than {CONNECTIONS} connections at once");
                self.denials.note(&what, None);
                Error::ConnectionLimitReached
            })
    }

    fn grants(&self, asked: &NetworkGrant) -> bool {
        let address = asked.host.parse::<IpAddr>().ok();
        self.granted.iter().any(|granted| {
            granted.port == asked.port
                && match address {
                    // One address may be written in several ways.
                    Some(address) => granted.host.parse() == Ok(address),
                    None => granted.host == asked.host,
                }
        })
    }

    /// Those of a destination's addresses that may be connected to: the public ones, and those
    /// that are named as addresses.
    pub(super) fn permitted(
        &self,
        destination: &Destination,
        addresses: &[IpAddr],
    ) -> Result<Vec<SocketAddr>, Error> {
        let mut permitted = Vec::new();
        let mut refused = None;
        for &address in addresses {
            let named = NetworkGrant {
                host: address.to_string(),
                port: destination.port,
            };
            match not_public(address) {
                Some(why) if !self.grants(&named) => refused = refused.or(Some((named, why))),
                _ => permitted.push(SocketAddr::new(address, destination.port)),
            }
        }
        match refused {
            Some((named, why)) if permitted.is_empty() => {
                let asked = destination.as_grant();
                self.denials.note(
                    &format!(
                        "network: a request to {asked}, which is {}: {why}, to be named itself",
                        named.host
                    ),
                    Some(&format!("\"network\": [\"{asked}\", \"{named}\"]")),
                );
                Err(Error::DestinationIpProhibited)
            }
            None if permitted.is_empty() => Err(Error::DestinationNotFound),
            _ => Ok(permitted),
        }
    }

    /// Takes this many bytes from what bodies may still have.
    pub(super) fn take_bytes(&self, bytes: usize) -> bool {
        let left = take(&self.bytes, bytes as u64);
        if !left {
            // What did not fit is gone too: no smaller piece gets through behind a larger one.
            self.bytes.store(0, Ordering::Relaxed);
            let most = bytesize::ByteSize::b(self.most_bytes).display().iec();
            self.denials.note(
                &format!("network: bodies of more than {most} in one run; raise `limits.bodies`"),
                None,
            );
        }
        left
    }

    /// The size that bodies may have.
    pub(super) fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Whether bodies have used up all that they may have.
    pub(super) fn is_used_up(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) == 0
    }

    /// What a guest asked to wait at most, within what is left of the run.
    pub(super) fn patience(&self, asked: Option<Duration>) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        asked.map_or(left, |asked| asked.min(left))
    }

    /// Tells of something else that kept a request from being sent.
    pub(super) fn tell(&self, what: &str) {
        self.denials.note(what, None);
    }
}

/// Takes from what is left, all or nothing.
fn take(left: &AtomicU64, amount: u64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(amount)
    })
    .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(uri: &str) -> Option<(bool, String, u16, String)> {
        let it = Destination::of(&uri.parse().ok()?)?;
        Some((it.tls, it.host.clone(), it.port, it.host_field()))
    }

    #[test]
    fn destinations() {
        let is = |uri: &str, tls: bool, host: &str, port: u16, field: &str| {
            assert_eq!(
                destination(uri),
                Some((tls, host.into(), port, field.into())),
                "{uri}"
            );
        };
        is(
            "http://Example.COM/x",
            false,
            "example.com",
            80,
            "example.com",
        );
        is(
            "https://example.com",
            true,
            "example.com",
            443,
            "example.com",
        );
        is(
            "http://example.com:80/",
            false,
            "example.com",
            80,
            "example.com",
        );
        is(
            "http://example.com:443/",
            false,
            "example.com",
            443,
            "example.com:443",
        );
        is(
            "https://a_b.example:8443/",
            true,
            "a_b.example",
            8443,
            "a_b.example:8443",
        );
        is("http://[::1]:8080/", false, "::1", 8080, "[::1]:8080");
        is("http://[0:0::1]/", false, "::1", 80, "[::1]");
        for wrong in [
            "/path",
            "ftp://example.com/",
            "http://user@example.com/",
            "http://granted.example:80@example.com/",
            "http://example.com:0/",
            "http://example.com:/",
            "http://example.com:65536/",
            "http://[::1%25lo]/",
        ] {
            assert_eq!(destination(wrong), None, "{wrong}");
        }
    }

    fn policy(granted: &[(&str, u16)], requests: u64, bodies: u64) -> (Policy, Denials) {
        let denials = Denials::default();
        let granted = granted
            .iter()
            .map(|(host, port)| NetworkGrant {
                host: (*host).into(),
                port: *port,
            })
            .collect();
        let deadline = Instant::now() + Duration::from_secs(60);
        let policy = Policy::new(granted, requests, bodies, deadline, denials.clone());
        (policy, denials)
    }

    fn admit(policy: &Policy, uri: &str) -> bool {
        let destination = Destination::of(&uri.parse().unwrap()).unwrap();
        policy.admit(&destination).is_ok()
    }

    #[test]
    fn only_what_is_named_is_admitted() {
        let (policy, denials) = policy(&[("example.com", 443), ("::1", 80)], 100, 0);
        for named in [
            "https://example.com/",
            "https://EXAMPLE.com:443",
            "http://[0::1]",
        ] {
            assert!(admit(&policy, named), "{named}");
        }
        assert_eq!(denials.take(), []);
        for other in [
            "http://example.com/",
            "https://example.com:8443/",
            "https://example.com./",
            "https://www.example.com/",
            "https://evil-example.com/",
            "http://[::2]/",
            "http://127.0.0.1:443/",
        ] {
            assert!(!admit(&policy, other), "{other}");
        }
        let denied = denials.take();
        assert_eq!(denied[0].what, "network: a request to example.com:80");
        assert_eq!(
            denied[0].grant.as_deref(),
            Some("\"network\": [\"example.com:80\"]")
        );
        assert_eq!(
            denied[5].grant.as_deref(),
            Some("\"network\": [\"[::2]:80\"]")
        );
        assert_eq!(denied.len(), 7);
    }

    #[test]
    fn requests_connections_and_bytes_are_counted() {
        let (policy, denials) = policy(&[("a", 80)], 20, 100);
        let destination = Destination::of(&"http://a/".parse().unwrap()).unwrap();
        let held: Vec<_> = (0..CONNECTIONS)
            .map(|_| policy.admit(&destination).unwrap())
            .collect();
        assert!(matches!(
            policy.admit(&destination),
            Err(Error::ConnectionLimitReached)
        ));
        drop(held);
        for _ in CONNECTIONS + 1..20 {
            assert!(admit(&policy, "http://a/"));
        }
        assert!(!admit(&policy, "http://a/"));
        assert!(policy.take_bytes(60));
        assert!(!policy.is_used_up());
        assert!(!policy.take_bytes(41));
        assert!(!policy.take_bytes(1));
        assert!(policy.is_used_up());
        let denied: Vec<_> = denials.take().into_iter().map(|it| it.what).collect();
        assert_eq!(
            denied,
            [
                "network: more than 16 connections at once",
                "network: more than 20 requests in one run; raise `limits.requests`",
                "network: bodies of more than 100 B in one run; raise `limits.bodies`",
            ]
        );
    }

    #[test]
    fn addresses_that_are_not_public_are_connected_to_only_if_they_are_named() {
        let (policy, denials) = policy(&[("a", 80), ("10.0.0.1", 80), ("10.0.0.2", 81)], 1, 1);
        let destination = Destination::of(&"http://a/".parse().unwrap()).unwrap();
        let permitted = |addresses: &[&str]| {
            let addresses: Vec<IpAddr> = addresses.iter().map(|it| it.parse().unwrap()).collect();
            policy.permitted(&destination, &addresses)
        };
        let public: SocketAddr = "8.8.8.8:80".parse().unwrap();
        let named: SocketAddr = "10.0.0.1:80".parse().unwrap();
        assert_eq!(permitted(&["127.0.0.1", "8.8.8.8"]).unwrap(), [public]);
        assert_eq!(permitted(&["10.0.0.1", "10.0.0.2"]).unwrap(), [named]);
        assert_eq!(denials.take(), []);
        assert!(matches!(
            permitted(&["10.0.0.2", "::1"]),
            Err(Error::DestinationIpProhibited)
        ));
        assert!(matches!(permitted(&[]), Err(Error::DestinationNotFound)));
        let denied = denials.take();
        assert_eq!(
            denied[0].what,
            "network: a request to a:80, which is 10.0.0.2: an address of a private network, to be named itself"
        );
        assert_eq!(
            denied[0].grant.as_deref(),
            Some("\"network\": [\"a:80\", \"10.0.0.2:80\"]")
        );
        assert_eq!(denied.len(), 1);
    }
}
