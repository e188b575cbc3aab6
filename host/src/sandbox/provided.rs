//! What the host provides to one run beside WASI's own context.

use std::time::Instant;

use wasmtime_wasi::WasiCtxBuilder;

use super::clock::RunClock;
use super::denials::Denials;
use super::network::Network;
use super::random;
use super::run::Request;
use super::settings::Settings;
use super::state;
use crate::config::Random;

/// What one run is provided with.
pub(super) struct Provided {
    /// Counts what it is not.
    pub(super) denials: Denials,
    pub(super) clock: RunClock,
    pub(super) settings: Settings,
    pub(super) network: Network,
    /// Its store, if it is granted one.
    pub(super) store: Option<state::Store>,
}

impl Provided {
    /// What a guest of this digest is granted for this event, until `deadline`. Clock and random
    /// numbers go into its context; its store is still to be opened.
    pub(super) fn new(
        request: &Request<'_>,
        digest: [u8; 32],
        deadline: Instant,
        denials: &Denials,
        context: &mut WasiCtxBuilder,
    ) -> Self {
        let component = request.component;
        if component.permissions.random == Random::Seeded {
            random::seed(digest, request.payload, context);
        }
        Self {
            denials: denials.clone(),
            clock: RunClock::new(component.permissions.clock, context),
            settings: Settings::new(component.config.as_deref()),
            network: Network::new(component, deadline, denials.clone()),
            store: None,
        }
    }
}
