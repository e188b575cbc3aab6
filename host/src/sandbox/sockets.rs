//! Sockets: there for the runtimes that import them, never granted, and every use counted.
//!
//! Nothing of them exists on the host: a socket is refused where it would be made, so that a guest
//! cannot use up the host's own.

use wasmtime::component::{HasSelf, Linker, Resource};
use wasmtime_wasi::p2::bindings::sockets::ip_name_lookup::{self, ResolveAddressStream};
use wasmtime_wasi::p2::bindings::sockets::network::{
    self, ErrorCode, IpAddress, IpAddressFamily, Network,
};
use wasmtime_wasi::p2::bindings::sockets::{tcp_create_socket, udp_create_socket};
use wasmtime_wasi::p2::{DynPollable, SocketError, SocketResult, TcpSocket, UdpSocket};
use wasmtime_wasi::sockets::WasiSocketsView as _;

use super::store::ComponentState;

/// Puts these refusals in the place of WASI's.
pub(super) fn link_component(linker: &mut Linker<ComponentState>) -> wasmtime::Result<()> {
    type Own = HasSelf<ComponentState>;
    tcp_create_socket::add_to_linker::<_, Own>(linker, |state| state)?;
    udp_create_socket::add_to_linker::<_, Own>(linker, |state| state)?;
    ip_name_lookup::add_to_linker::<_, Own>(linker, |state| state)
}

impl ComponentState {
    /// There is no grant for sockets: only `wasi:http` has one.
    fn refused(&self, what: &str, code: ErrorCode) -> SocketError {
        self.provided.denials.note(what, None);
        code.into()
    }
}

/// How errors are told is left to WASI's own.
impl network::Host for ComponentState {
    fn convert_error_code(&mut self, error: SocketError) -> wasmtime::Result<ErrorCode> {
        self.sockets().convert_error_code(error)
    }

    fn network_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.sockets().network_error_code(error)
    }
}

impl network::HostNetwork for ComponentState {
    fn drop(&mut self, network: Resource<Network>) -> wasmtime::Result<()> {
        network::HostNetwork::drop(&mut self.sockets(), network)
    }
}

impl tcp_create_socket::Host for ComponentState {
    fn create_tcp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<TcpSocket>> {
        Err(self.refused(
            "sockets: it opens a TCP socket, which no hook can be granted",
            ErrorCode::AccessDenied,
        ))
    }
}

impl udp_create_socket::Host for ComponentState {
    async fn create_udp_socket(&mut self, _: IpAddressFamily) -> SocketResult<Resource<UdpSocket>> {
        Err(self.refused(
            "sockets: it opens a UDP socket, which no hook can be granted",
            ErrorCode::AccessDenied,
        ))
    }
}

impl ip_name_lookup::Host for ComponentState {
    fn resolve_addresses(
        &mut self,
        _: Resource<Network>,
        name: String,
    ) -> SocketResult<Resource<ResolveAddressStream>> {
        let what = format!("sockets: it looks up the address of `{name}`");
        Err(self.refused(&what, ErrorCode::PermanentResolverFailure))
    }
}

/// No stream of addresses ever is; these are what the interface has beside.
impl ip_name_lookup::HostResolveAddressStream for ComponentState {
    fn resolve_next_address(
        &mut self,
        _: Resource<ResolveAddressStream>,
    ) -> SocketResult<Option<IpAddress>> {
        Err(ErrorCode::InvalidState.into())
    }

    fn subscribe(
        &mut self,
        _: Resource<ResolveAddressStream>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        Err(wasmtime::Error::msg("there is no such stream"))
    }

    fn drop(&mut self, _: Resource<ResolveAddressStream>) -> wasmtime::Result<()> {
        Err(wasmtime::Error::msg("there is no such stream"))
    }
}
