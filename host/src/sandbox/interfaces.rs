//! The interfaces that a component may import, and what each takes.

use super::link::Offer;

/// The packages of WASI 0.2 that every component may import. Files, variables and sockets are
/// among them since language runtimes import those whether or not the hook uses them; they give
/// nothing until it is granted.
const ALWAYS: [&str; 6] = [
    "wasi:cli/",
    "wasi:io/",
    "wasi:clocks/",
    "wasi:random/",
    "wasi:filesystem/",
    "wasi:sockets/",
];

/// The hook's own `config`.
const CONFIG: &str = "wasi:config/store@0.2.0-rc.1";

/// What requests are sent with.
const HTTP: [&str; 2] = ["wasi:http/types", "wasi:http/outgoing-handler"];

/// What is kept from event to event.
const KEYVALUE: [&str; 3] = [
    "wasi:keyvalue/store@0.2.0-draft",
    "wasi:keyvalue/atomics@0.2.0-draft",
    "wasi:keyvalue/batch@0.2.0-draft",
];

/// All that a component may import, in words.
pub(super) const ALL: &str = "a component may import WASI 0.2's cli, io, clocks, random, filesystem and sockets, and `wasi:config/store@0.2.0-rc.1`; with `permissions.network` wasi:http 0.2 (types and outgoing-handler), and with `permissions.state` `wasi:keyvalue@0.2.0-draft` (store, atomics and batch)";

/// What becomes of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is linked.
    Offered,
    /// It is linked only for hooks that have this member of `permissions`.
    NotGranted(&'static str),
    /// The interface is known, in this version.
    OtherVersion(String),
    /// Nobody here knows it.
    Unknown,
}

/// What becomes of the import of this name where `offer` is granted.
pub(super) fn standing(name: &str, offer: Offer) -> Standing {
    let (interface, version) = name.split_once('@').unwrap_or((name, ""));
    let granted = |is: bool, grant| {
        if is {
            Standing::Offered
        } else {
            Standing::NotGranted(grant)
        }
    };
    if HTTP.contains(&interface) {
        return match is_0_2(version) {
            true => granted(offer.network, NETWORK),
            false => Standing::OtherVersion(format!("{interface}@0.2")),
        };
    }
    if ALWAYS.iter().any(|package| name.starts_with(package)) {
        return match is_0_2(version) {
            true => Standing::Offered,
            false => Standing::OtherVersion(format!("{interface}@0.2")),
        };
    }
    for offered in std::iter::once(CONFIG).chain(KEYVALUE) {
        if offered == name {
            return granted(name == CONFIG || offer.state, STATE);
        }
        if offered
            .split_once('@')
            .is_some_and(|(it, _)| it == interface)
        {
            return Standing::OtherVersion(offered.to_owned());
        }
    }
    Standing::Unknown
}

/// The member of `permissions` that lets `wasi:http` be linked.
pub(super) const NETWORK: &str = "\"network\": [\"HOST:PORT\"]";

/// The member of `permissions` that lets `wasi:keyvalue` be linked.
pub(super) const STATE: &str = "\"state\": true";

/// Whether a version is a release of WASI 0.2; each later one has all of the earlier ones.
fn is_0_2(version: &str) -> bool {
    version
        .strip_prefix("0.2.")
        .is_some_and(|patch| !patch.is_empty() && patch.bytes().all(|it| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Offer = Offer {
        network: false,
        state: false,
        sleepless: false,
    };

    #[test]
    fn standings() {
        let other = |offered: &str| Standing::OtherVersion(offered.into());
        for (name, nothing, all) in [
            ("wasi:cli/stdin@0.2.0", Standing::Offered, Standing::Offered),
            (
                "wasi:sockets/tcp@0.2.12",
                Standing::Offered,
                Standing::Offered,
            ),
            (
                "wasi:cli/stdin@0.2.0-rc-2023-11-10",
                other("wasi:cli/stdin@0.2"),
                other("wasi:cli/stdin@0.2"),
            ),
            (
                "wasi:io/poll",
                other("wasi:io/poll@0.2"),
                other("wasi:io/poll@0.2"),
            ),
            (CONFIG, Standing::Offered, Standing::Offered),
            (
                "wasi:config/store@0.2.0-draft",
                other(CONFIG),
                other(CONFIG),
            ),
            (
                "wasi:config/runtime@0.2.0-draft",
                Standing::Unknown,
                Standing::Unknown,
            ),
            (
                "wasi:http/types@0.2.6",
                Standing::NotGranted(NETWORK),
                Standing::Offered,
            ),
            (
                "wasi:http/types@0.1.0",
                other("wasi:http/types@0.2"),
                other("wasi:http/types@0.2"),
            ),
            (
                "wasi:http/incoming-handler@0.2.0",
                Standing::Unknown,
                Standing::Unknown,
            ),
            (KEYVALUE[1], Standing::NotGranted(STATE), Standing::Offered),
            (
                "wasi:keyvalue/store@0.2.0-draft2",
                other(KEYVALUE[0]),
                other(KEYVALUE[0]),
            ),
            (
                "wasi:keyvalue/watcher@0.2.0-draft",
                Standing::Unknown,
                Standing::Unknown,
            ),
            ("wasi:logging/logging", Standing::Unknown, Standing::Unknown),
        ] {
            assert_eq!(standing(name, NOTHING), nothing, "{name}");
            assert_eq!(standing(name, Offer::ALL), all, "{name}");
        }
    }
}
