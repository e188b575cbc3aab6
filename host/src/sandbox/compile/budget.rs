//! How much time and memory compiling may take: more for more code, and never without bound.

use std::time::Duration;

/// What one compilation may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Budget {
    /// Wall time: 5 s and 3 s for each MiB of code, at most 120 s. The largest guests of known
    /// toolchains, 18 MiB of Python, need 20 s of the 59 that they have.
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
            time: Duration::from_secs_f64((5.0 + 3.0 * mebibytes).min(120.0)),
            memory: code_bytes
                .saturating_mul(96)
                .saturating_add(1 << 30)
                .min(8 << 30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_code_has_more_time_and_memory_up_to_a_bound() {
        for (code, time, memory) in [
            (0, 5.0, 1 << 30),
            (1 << 20, 8.0, (1 << 30) + (96 << 20)),
            (18 << 20, 59.0, (1 << 30) + 18 * (96 << 20)),
            (39 << 20, 120.0, (1 << 30) + 39 * (96 << 20)),
            (u64::MAX, 120.0, 8 << 30),
        ] {
            let budget = Budget::of(code);
            assert_eq!(budget.time.as_secs_f64(), time, "{code}");
            assert_eq!(budget.memory, memory, "{code}");
        }
    }
}
