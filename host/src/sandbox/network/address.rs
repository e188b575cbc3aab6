//! Which addresses are anybody's: a name that leads elsewhere leads into the user's own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What keeps an address from being one of the public Internet, in plain words; `None` if nothing
/// does.
pub(super) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

/// The special-purpose registry of version 4.
fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    Some(match address.octets() {
        [0, ..] => "no address",
        [127, ..] => "an address of this machine",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "an address of a private network",
        [169, 254, ..] => "a link-local address",
        [100, 64..=127, ..] => "an address of a provider's own network",
        [192, 0, 0, _] | [192, 88, 99, _] => "an address of a protocol",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "an address for documentation",
        [198, 18..=19, ..] => "an address for benchmarks",
        [224..=239, ..] => "a multicast address",
        [255, 255, 255, 255] => "the broadcast address",
        [240..=255, ..] => "a reserved address",
        _ => return None,
    })
}

/// The special-purpose registry of version 6. Addresses that stand for one of version 4 are what
/// that one is.
fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let embedded = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        not_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "no address",
        [0, 0, 0, 0, 0, 0, 0, 1] => "an address of this machine",
        // IPv4-mapped, the same translated by a router (NAT64), and 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] => return embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return embedded(high, low),
        [0x2002, high, low, ..] => return embedded(high, low),
        [0x2001, 0, ..] => "an address of a tunnel",
        [0x2001, 0x1..=0x1ff, ..] => "an address of a protocol",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => "an address for documentation",
        [0xfc00..=0xfdff, ..] => "an address of a private network",
        [0xfe80..=0xfebf, ..] => "a link-local address",
        [0xfec0..=0xfeff, ..] => "an address of a private network",
        [0xff00..=0xffff, ..] => "a multicast address",
        [0x2000..=0x3fff, ..] => return None,
        _ => "a reserved address",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(address: &str) -> Option<&'static str> {
        not_public(address.parse().unwrap())
    }

    #[test]
    fn every_special_range_of_version_4_ends_where_it_ends() {
        for (first, last, before, after) in [
            ("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0")),
            (
                "10.0.0.0",
                "10.255.255.255",
                Some("9.255.255.255"),
                Some("11.0.0.0"),
            ),
            (
                "100.64.0.0",
                "100.127.255.255",
                Some("100.63.255.255"),
                Some("100.128.0.0"),
            ),
            (
                "127.0.0.0",
                "127.255.255.255",
                Some("126.255.255.255"),
                Some("128.0.0.0"),
            ),
            (
                "169.254.0.0",
                "169.254.255.255",
                Some("169.253.255.255"),
                Some("169.255.0.0"),
            ),
            (
                "172.16.0.0",
                "172.31.255.255",
                Some("172.15.255.255"),
                Some("172.32.0.0"),
            ),
            (
                "192.0.0.0",
                "192.0.0.255",
                Some("191.255.255.255"),
                Some("192.0.1.0"),
            ),
            (
                "192.0.2.0",
                "192.0.2.255",
                Some("192.0.1.255"),
                Some("192.0.3.0"),
            ),
            (
                "192.88.99.0",
                "192.88.99.255",
                Some("192.88.98.255"),
                Some("192.88.100.0"),
            ),
            (
                "192.168.0.0",
                "192.168.255.255",
                Some("192.167.255.255"),
                Some("192.169.0.0"),
            ),
            (
                "198.18.0.0",
                "198.19.255.255",
                Some("198.17.255.255"),
                Some("198.20.0.0"),
            ),
            (
                "198.51.100.0",
                "198.51.100.255",
                Some("198.51.99.255"),
                Some("198.51.101.0"),
            ),
            (
                "203.0.113.0",
                "203.0.113.255",
                Some("203.0.112.255"),
                Some("203.0.114.0"),
            ),
            (
                "224.0.0.0",
                "239.255.255.255",
                Some("223.255.255.255"),
                None,
            ),
            ("240.0.0.0", "255.255.255.254", None, None),
            ("255.255.255.255", "255.255.255.255", None, None),
        ] {
            assert!(class(first).is_some(), "{first}");
            assert!(class(last).is_some(), "{last}");
            for public in [before, after].into_iter().flatten() {
                assert_eq!(class(public), None, "{public}");
            }
        }
        assert_eq!(class("169.254.169.254"), Some("a link-local address"));
        assert_eq!(class("255.255.255.255"), Some("the broadcast address"));
        assert_eq!(class("8.8.8.8"), None);
    }

    #[test]
    fn every_special_range_of_version_6_ends_where_it_ends() {
        for special in [
            "::",
            "::1",
            "::2",
            "::127.0.0.1",
            "::8.8.8.8",
            "64:ff9b:1::1",
            "100::1",
            "200::1",
            "1fff:ffff::",
            "2001::1",
            "2001:1::1",
            "2001:10::1",
            "2001:20::1",
            "2001:1ff:ffff::",
            "2001:db8::1",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            "3fff::",
            "3fff:fff::1",
            "4000::",
            "5f00::1",
            "fbff::",
            "fc00::1",
            "fd12:3456:789a::1",
            "fdff:ffff::",
            "fe00::",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "feff::1",
            "ff02::1",
            "ffff:ffff::",
        ] {
            assert!(class(special).is_some(), "{special}");
        }
        for public in [
            "2000::1",
            "2001:200::1",
            "2001:db7:ffff::",
            "2001:db9::",
            "2606:4700:4700::1111",
            "2a00:1450:4001:800::200e",
            "3ffe:ffff::",
            "3fff:1000::",
        ] {
            assert_eq!(class(public), None, "{public}");
        }
    }

    #[test]
    fn an_address_of_version_4_in_disguise_is_what_it_is() {
        for (plain, mapped, translated, sixtofour) in [
            (
                "127.0.0.1",
                "::ffff:127.0.0.1",
                "64:ff9b::7f00:1",
                "2002:7f00:1::1",
            ),
            (
                "10.1.2.3",
                "::ffff:10.1.2.3",
                "64:ff9b::10.1.2.3",
                "2002:a01:203::",
            ),
            (
                "169.254.169.254",
                "::ffff:a9fe:a9fe",
                "64:ff9b::a9fe:a9fe",
                "2002:a9fe:a9fe::",
            ),
            (
                "192.168.0.1",
                "::ffff:c0a8:1",
                "64:ff9b::c0a8:1",
                "2002:c0a8:1:ffff::1",
            ),
            ("0.0.0.0", "::ffff:0:0", "64:ff9b::", "2002::"),
            (
                "224.0.0.1",
                "::ffff:224.0.0.1",
                "64:ff9b::e000:1",
                "2002:e000:1::",
            ),
        ] {
            let what = class(plain);
            assert!(what.is_some(), "{plain}");
            for disguise in [mapped, translated, sixtofour] {
                assert_eq!(class(disguise), what, "{disguise}");
            }
        }
        for public in ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"] {
            assert_eq!(class(public), None, "{public}");
        }
    }
}
