//! How much time and memory compiling may take: more for more code, and never without bound.

use std::time::Duration;

/// What one compilation may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// Processor time of all threads together: 5 s and 8 s for each MiB of code, at most 120 s.
    /// The largest guests of known toolchains, Python and JavaScript with 6 to 9 MiB of code, need
    /// 24 to 28 of the 56 to 75 s that they have.
    pub(super) time: Duration,
    /// Address space in bytes: 1 GiB and 96 bytes for each byte of code, at most 8 GiB.
    pub(super) memory: u64,
}

impl Budget {
    /// The budget for this many bytes of function bodies; what else is in a file adds nothing, so
    /// that padding cannot buy time.
    pub(super) fn of(code_bytes: u64) -> Self {
        let mebibytes = code_bytes as f64 / f64::from(1 << 20);
        Self {
            // The kernel counts whole seconds.
            time: Duration::from_secs((5.0 + 8.0 * mebibytes).min(120.0).round() as u64),
            memory: code_bytes
                .saturating_mul(96)
                .saturating_add(1 << 30)
                .min(8 << 30),
        }
    }

    /// How long is waited for it: a machine that is busy with other things gives a compiler less
    /// than one processor, and that is not the component's fault.
    pub(super) fn patience(&self) -> Duration {
        self.time * 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_code_has_more_time_and_memory_up_to_a_bound() {
        for (code, time, memory) in [
            (0, 5, 1 << 30),
            (1, 5, (1 << 30) + 96),
            (150_000, 6, (1 << 30) + 96 * 150_000),
            (1 << 20, 13, (1 << 30) + (96 << 20)),
            (6 << 20, 53, (1 << 30) + 6 * (96 << 20)),
            (39 << 20, 120, (1 << 30) + 39 * (96 << 20)),
            (u64::MAX, 120, 8 << 30),
        ] {
            let budget = Budget::of(code);
            assert_eq!(budget.time, Duration::from_secs(time), "{code}");
            assert_eq!(budget.patience(), Duration::from_secs(3 * time), "{code}");
            assert_eq!(budget.memory, memory, "{code}");
        }
    }
}
