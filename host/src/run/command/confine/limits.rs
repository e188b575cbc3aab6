//! Limits of the system's for every process of a confined command (`setrlimit`).
//!
//! The number of processes is not among them: that limit is one for the user and not for the
//! command, so it would either hold nothing or keep the user's other programs from starting.

use std::time::Duration;

use rustix::io::Result;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Policy;

/// The most files that a process may have open.
const OPEN_FILES: u64 = 1024;

/// The longest file that may be written, in bytes.
const FILE_SIZE: u64 = 1 << 30;

/// A timeout longer than this bounds no processor time.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// The seconds of processor time of a process that may run for `timeout`: as much as it could use
/// of all processors until then, and a second more. So this ends only a process that has escaped
/// from being ended at its timeout.
pub(super) fn cpu(timeout: Duration) -> Option<u64> {
    if timeout > LONGEST {
        return None;
    }
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    Some((timeout.as_secs() + 2).saturating_mul(processors))
}

/// Sets all limits except that of memory.
pub(super) fn apply(policy: &Policy) -> Result<()> {
    lower(Resource::Core, 0)?;
    lower(Resource::Nofile, OPEN_FILES)?;
    lower(Resource::Fsize, FILE_SIZE)?;
    match policy.cpu {
        Some(seconds) => lower(Resource::Cpu, seconds),
        None => Ok(()),
    }
}

/// Sets the limit of memory, which holds for this process too.
pub(super) fn apply_memory(policy: &Policy) -> Result<()> {
    match policy.memory {
        Some(bytes) => lower(Resource::As, bytes),
        None => Ok(()),
    }
}

/// Sets a limit for good, unless a lower one is set.
fn lower(resource: Resource, to: u64) -> Result<()> {
    let most = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    let old = getrlimit(resource);
    setrlimit(
        resource,
        Rlimit {
            current: most(old.current),
            maximum: most(old.maximum),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_more_than_the_timeout_and_never_overflows() {
        let processors = std::thread::available_parallelism().map_or(1, |it| it.get() as u64);
        assert_eq!(cpu(Duration::ZERO), Some(2 * processors));
        assert_eq!(cpu(Duration::from_millis(1500)), Some(3 * processors));
        assert_eq!(cpu(Duration::from_secs(60)), Some(62 * processors));
        assert_eq!(cpu(Duration::MAX), None);
    }
}
