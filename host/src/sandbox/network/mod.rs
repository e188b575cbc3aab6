//! HTTP requests of a guest (`wasi:http`): only to the hosts that its hook names, a bounded number
//! of them, with bodies of a bounded size, and none outlives the run.
//!
//! What is checked is what is used: the name is looked up here, its addresses are checked, and the
//! connection is made to the very address that was. Redirects are answers like all others, and
//! variables that name a proxy are not looked at.

mod address;
mod body;
mod connect;
mod policy;
mod send;

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::Linker;
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use super::denials::Denials;
use super::store::ComponentState;
use crate::config::{Component, Limits};
use policy::Policy;

/// Bytes of all header fields of one message, with what they cost in memory.
const FIELDS: usize = 64 << 10;

/// The most that a guest hands over of a body in one call.
const CHUNK: usize = 64 << 10;

/// The HTTP client of one run.
pub(super) struct Network {
    context: WasiHttpCtx,
    client: Client,
}

impl Network {
    /// A client that does what a component is granted, until `deadline`.
    pub(super) fn new(component: &Component, deadline: Instant, denials: Denials) -> Self {
        let Limits {
            requests, bodies, ..
        } = component.limits;
        let mut context = WasiHttpCtx::new();
        context.set_field_size_limit(FIELDS);
        let granted = component.permissions.network.clone();
        let policy = Policy::new(granted, requests, bodies, deadline, denials);
        Self {
            context,
            client: Client(Arc::new(policy)),
        }
    }
}

/// Links what a guest sends requests with. What it would serve requests with is not there.
pub(super) fn link_component(linker: &mut Linker<ComponentState>) -> wasmtime::Result<()> {
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)
}

impl WasiHttpView for ComponentState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        let network = &mut self.provided.network;
        WasiHttpCtxView {
            hooks: &mut network.client,
            table: &mut self.table,
            ctx: &mut network.context,
        }
    }
}

struct Client(Arc<Policy>);

type Sending<T> = Box<dyn Future<Output = Result<T, Error>> + Send>;

impl WasiHttpHooks for Client {
    /// It is set from the address that was checked.
    fn set_host_header(&mut self) -> bool {
        false
    }

    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Sending<()>,
    ) -> Sending<(http::Response<WasiBody>, Sending<()>)> {
        let policy = Arc::clone(&self.0);
        Box::new(async move { send::send(policy, request, options.unwrap_or_default()).await })
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        CHUNK
    }
}
