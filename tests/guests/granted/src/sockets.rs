//! Sockets, which no hook is granted.

use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::ip_name_lookup::resolve_addresses;
use wasip2::sockets::network::IpAddressFamily;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp_create_socket::create_udp_socket;

use crate::unknown;

pub fn perform(name: &str, value: &str) {
    let made = match (name, value) {
        ("socket", "tcp") => create_tcp_socket(IpAddressFamily::Ipv4).map(drop),
        ("socket", "udp") => create_udp_socket(IpAddressFamily::Ipv6).map(drop),
        ("lookup", name) => resolve_addresses(&instance_network(), name).map(drop),
        _ => unknown(value),
    };
    println!("{made:?}");
}
