//! Time that goes by only while a guest sleeps, and then at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime_wasi::p2::Pollable;

/// The time of one run, in nanoseconds since its start.
#[derive(Default)]
pub(in crate::sandbox) struct VirtualTime(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    now: u64,
    /// The ends of the timers that the guest waits for at this moment, and how many end then.
    awaited: BTreeMap<u64, usize>,
}

impl VirtualTime {
    /// What the time is.
    pub(super) fn now(&self) -> u64 {
        self.inner().now
    }

    /// Lets time go by until then, if it is not past.
    pub(super) fn sleep_until(&self, end: u64) {
        let mut inner = self.inner();
        inner.now = inner.now.max(end);
    }

    /// A timer that ends in `nanoseconds`.
    pub(super) fn timer(self: &Arc<Self>, nanoseconds: u64) -> Timer {
        Timer {
            end: self.now().saturating_add(nanoseconds),
            yielded: false,
            time: Arc::clone(self),
        }
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One timer of a guest.
pub(super) struct Timer {
    end: u64,
    yielded: bool,
    time: Arc<VirtualTime>,
}

#[wasmtime_wasi::async_trait]
impl Pollable for Timer {
    /// Several things may be waited for at once. All are looked at once before time goes by, so
    /// that what is ready comes before what is only due later, and then the earliest timer ends.
    async fn ready(&mut self) {
        if self.end <= self.time.now() {
            // A guest that asks again and again must not keep its thread from others.
            if !std::mem::replace(&mut self.yielded, true) {
                tokio::task::yield_now().await;
            }
            return;
        }
        let awaited = Awaited::new(self);
        loop {
            tokio::task::yield_now().await;
            let mut inner = awaited.0.time.inner();
            let first = inner.awaited.keys().next().copied();
            if self.end <= inner.now || first.is_none_or(|first| self.end <= first) {
                inner.now = inner.now.max(self.end);
                return;
            }
        }
    }
}

/// A timer that is waited for, until it is dropped.
struct Awaited<'a>(&'a Timer);

impl<'a> Awaited<'a> {
    fn new(timer: &'a Timer) -> Self {
        *timer.time.inner().awaited.entry(timer.end).or_default() += 1;
        Self(timer)
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.time.inner();
        if let Some(count) = inner.awaited.get_mut(&self.0.end) {
            *count -= 1;
            if *count == 0 {
                inner.awaited.remove(&self.0.end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_earliest_timer_ends_first_whatever_the_order() {
        for order in [[5, 1, 3], [1, 3, 5], [3, 5, 1]] {
            let time = Arc::new(VirtualTime::default());
            let [mut a, mut b, mut c] = order.map(|end| time.timer(end));
            let ended = tokio::select! {
                biased;
                () = a.ready() => order[0],
                () = b.ready() => order[1],
                () = c.ready() => order[2],
            };
            assert_eq!((ended, time.now()), (1, 1), "{order:?}");
        }
    }

    #[tokio::test]
    async fn what_is_ready_comes_before_time_goes_by() {
        let time = Arc::new(VirtualTime::default());
        let mut timer = time.timer(u64::MAX);
        tokio::select! {
            biased;
            () = timer.ready() => unreachable!("time went by"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(time.now(), 0);
        timer.ready().await;
        assert_eq!(time.now(), u64::MAX);
    }
}
