//! What a hook may touch: nothing, unless granted here.

use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;

/// What a component may touch (`permissions`): nothing, unless granted here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Folders, with everything below them.
    pub filesystem: Vec<FilesystemGrant>,
    /// Names of variables that the component sees with the host's values.
    pub environment: Vec<String>,
    /// Where it may send HTTP requests.
    pub network: Vec<NetworkGrant>,
    /// Whether it has a key-value store, kept from event to event.
    pub state: bool,
    /// Which clock it sees.
    pub clock: Clock,
    /// Which random numbers it is given.
    pub random: Random,
}

/// One host that a component may send HTTP requests to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkGrant {
    /// The host's name in lower case, or its address; one of version 6 without its brackets.
    pub host: String,
    /// The port, 1 to 65535.
    pub port: u16,
}

impl NetworkGrant {
    /// Reads `host:port`, the host being a name, an address of version 4, or one of version 6 in
    /// brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let port = port_number(port)?;
        let host = match host.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(address) => address.parse::<std::net::Ipv6Addr>().ok()?.to_string(),
            None if host.parse::<std::net::Ipv4Addr>().is_ok() => host.to_owned(),
            None => host_name(host)?,
        };
        Some(Self { host, port })
    }
}

impl fmt::Display for NetworkGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// A port in decimal digits, 1 to 65535.
pub(super) fn port_number(text: &str) -> Option<u16> {
    let digits = text.bytes().all(|it| it.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0)
}

/// A name of letters, digits, hyphens and dots, which is no address in disguise (`127.1`, `0x7f`).
fn host_name(text: &str) -> Option<String> {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'-' || it == b'_')
    };
    let last = text.rsplit('.').next()?;
    let is_name = text.len() <= 253
        && text.split('.').all(label)
        && !last.starts_with(|c: char| c.is_ascii_digit());
    is_name.then(|| text.to_ascii_lowercase())
}

/// Which clock a component sees (`permissions.clock`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Clock {
    /// `real`: the machine's, as fine as it is. The default.
    #[default]
    Real,
    /// `coarse`: the machine's, in steps that are too long to observe other programs with.
    Coarse,
    /// `fixed`: the same at each run, moved on by sleeping alone, so that nothing depends on when
    /// the hook runs.
    Fixed,
}

/// Which random numbers a component is given (`permissions.random`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Random {
    /// `real`: the machine's. The default.
    #[default]
    Real,
    /// `seeded`: numbers that depend on the component and the event alone. No secret may be made
    /// of them.
    Seeded,
}

/// One granted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilesystemGrant {
    /// The folder as written, `${workspace}`, `${home}` and `~` not yet expanded: the workspace
    /// is that of the event.
    pub path: String,
    /// What may be done below it.
    pub access: Access,
    /// Patterns of what may not be touched below it, beside those that never may.
    pub deny: Vec<String>,
}

/// What may be done in a granted folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Access {
    /// `read`: open, list, read.
    Read,
    /// `write`: all of `read`, and create, write, rename, delete.
    Write,
}
