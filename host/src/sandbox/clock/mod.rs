//! The clock that a guest sees: the machine's, one in steps, or one that sleeping alone moves.
//!
//! Steps hide how long a single memory access or system call took, which is what clocks are
//! measured with to learn about other programs. A fixed clock makes a run repeatable: with seeded
//! random numbers the hook is then a function of its event.

mod module;
mod virtual_time;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wasmtime::component::{HasSelf, Linker, Resource};
use wasmtime_wasi::clocks::WasiClocksView as _;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::{self, Host};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtxBuilder};

use super::store::ComponentState;
use crate::config::Clock;

pub(super) use module::link_module;
use virtual_time::VirtualTime;

/// The step of a coarse clock, in nanoseconds: 10 ms, ten thousand times as long as what an attack
/// on caches or branch predictors has to tell apart.
const STEP: u64 = 10_000_000;

/// What the fixed clock shows at the start of a run, in seconds since 1970: the start of 2000. Some
/// programs take 1970 for a clock that was never set.
const START: u64 = 946_684_800;

/// The clock of one run.
pub(super) enum RunClock {
    Real,
    Coarse(Coarse),
    Fixed(Arc<VirtualTime>),
}

impl RunClock {
    /// A clock for one run, put into its context.
    pub(super) fn new(clock: Clock, context: &mut WasiCtxBuilder) -> Self {
        match clock {
            Clock::Real => Self::Real,
            Clock::Coarse => {
                let coarse = Coarse(Instant::now());
                context.wall_clock(coarse).monotonic_clock(coarse);
                Self::Coarse(coarse)
            }
            Clock::Fixed => {
                let time = Arc::new(VirtualTime::default());
                context
                    .wall_clock(FixedClock(Arc::clone(&time)))
                    .monotonic_clock(FixedClock(Arc::clone(&time)));
                Self::Fixed(time)
            }
        }
    }
}

/// A clock in steps of [`STEP`], which began with the run.
#[derive(Clone, Copy)]
pub(super) struct Coarse(Instant);

impl Coarse {
    fn fine(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// How long to sleep for `nanoseconds` from `now` on, so that the end falls on a step: a short timer
/// would be a fine clock again.
fn to_a_step(now: u64, nanoseconds: u64) -> u64 {
    now.saturating_add(nanoseconds)
        .checked_next_multiple_of(STEP)
        .map_or(u64::MAX, |end| end - now)
}

impl HostMonotonicClock for Coarse {
    fn resolution(&self) -> u64 {
        STEP
    }

    fn now(&self) -> u64 {
        self.fine() / STEP * STEP
    }
}

impl HostWallClock for Coarse {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(STEP)
    }

    fn now(&self) -> Duration {
        // A machine whose clock is before 1970 shows 1970.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        now - Duration::from_nanos(u64::from(now.subsec_nanos()) % STEP)
    }
}

/// A clock that shows a run's own time.
struct FixedClock(Arc<VirtualTime>);

impl HostMonotonicClock for FixedClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        self.0.now()
    }
}

impl HostWallClock for FixedClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        Duration::from_secs(START).saturating_add(Duration::from_nanos(self.0.now()))
    }
}

/// Puts timers that keep to the run's clock in the place of WASI's.
pub(super) fn link_component(linker: &mut Linker<ComponentState>) -> wasmtime::Result<()> {
    monotonic_clock::add_to_linker::<_, HasSelf<ComponentState>>(linker, |state| state)
}

impl Host for ComponentState {
    fn now(&mut self) -> wasmtime::Result<u64> {
        self.clocks().now()
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        self.clocks().resolution()
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let duration = when.saturating_sub(self.clocks().now()?);
        self.subscribe_duration(duration)
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<DynPollable>> {
        match &self.provided.clock {
            RunClock::Real => self.clocks().subscribe_duration(duration),
            RunClock::Coarse(_) if duration == 0 => self.clocks().subscribe_duration(0),
            RunClock::Coarse(coarse) => {
                let duration = to_a_step(coarse.fine(), duration);
                self.clocks().subscribe_duration(duration)
            }
            RunClock::Fixed(time) => {
                let timer = self.table.push(time.timer(duration))?;
                wasmtime_wasi::p2::subscribe(&mut self.table, timer)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_clock_shows_whole_steps_and_its_timers_end_on_them() {
        let clock = Coarse(Instant::now() - Duration::from_micros(123_456));
        assert_eq!(HostMonotonicClock::now(&clock) % STEP, 0);
        assert!(HostMonotonicClock::now(&clock) >= 120_000_000);
        assert_eq!(HostWallClock::now(&clock).subsec_nanos() % 10_000_000, 0);
        assert_eq!(HostMonotonicClock::resolution(&clock), STEP);
        for (now, asked, sleep) in [
            (0, 1, STEP),
            (0, STEP, STEP),
            (3, STEP, 2 * STEP - 3),
            (STEP - 1, 1, 1),
            (STEP - 1, 2, STEP + 1),
            (7, u64::MAX, u64::MAX),
        ] {
            assert_eq!(to_a_step(now, asked), sleep, "{asked} from {now} on");
        }
    }

    #[test]
    fn a_fixed_clock_begins_with_2000_and_moves_by_sleeping() {
        let time = Arc::new(VirtualTime::default());
        let clock = FixedClock(Arc::clone(&time));
        assert_eq!(HostMonotonicClock::now(&clock), 0);
        assert_eq!(HostWallClock::now(&clock), Duration::from_secs(946_684_800));
        time.sleep_until(1_500_000_000);
        assert_eq!(HostMonotonicClock::now(&clock), 1_500_000_000);
        assert_eq!(
            HostWallClock::now(&clock),
            Duration::from_millis(946_684_801_500)
        );
    }
}
