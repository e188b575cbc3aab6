//! The meter of a guest's memories and tables.

use wasmtime::{ResourceLimiter, Result};

/// The most elements that one table may have; the largest compilers' tables stay well below.
const TABLE_ELEMENTS: usize = 100_000;

/// Counts a guest's linear memories as one sum, since a limit for each would be none for all:
/// a component may have many.
#[derive(Debug)]
pub(super) struct Meter {
    limit: usize,
    sum: usize,
    peak: usize,
    /// What the last request that was let through added, in case the machine refuses it.
    pending: usize,
    /// The sum that the guest was refused.
    refused: Option<usize>,
    refused_table: Option<usize>,
}

impl Meter {
    /// A meter that lets memories grow to `limit` bytes together.
    pub(super) fn new(limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            limit,
            sum: 0,
            peak: 0,
            pending: 0,
            refused: None,
            refused_table: None,
        }
    }

    /// The largest sum so far, in bytes.
    pub(super) fn peak(&self) -> u64 {
        self.peak as u64
    }

    /// The first sum in bytes that the guest was refused.
    pub(super) fn refused(&self) -> Option<u64> {
        self.refused.map(|bytes| bytes as u64)
    }

    /// The first number of table elements that the guest was refused.
    pub(super) fn refused_table(&self) -> Option<usize> {
        self.refused_table
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let added = desired.saturating_sub(current);
        let sum = self.sum.saturating_add(added);
        if sum > self.limit {
            self.refused.get_or_insert(sum);
            return Ok(false);
        }
        self.sum = sum;
        self.pending = added;
        self.peak = self.peak.max(sum);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> Result<()> {
        self.sum -= std::mem::take(&mut self.pending);
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > TABLE_ELEMENTS {
            self.refused_table.get_or_insert(desired);
            return Ok(false);
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        64
    }

    fn tables(&self) -> usize {
        64
    }

    fn memories(&self) -> usize {
        32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_counted_as_one_sum() {
        let mut meter = Meter::new(100);
        assert!(meter.memory_growing(0, 60, None).unwrap());
        assert!(meter.memory_growing(0, 40, None).unwrap());
        assert!(!meter.memory_growing(40, 41, None).unwrap());
        assert_eq!((meter.peak(), meter.refused()), (100, Some(101)));
    }

    #[test]
    fn what_the_machine_refuses_is_given_back() {
        let mut meter = Meter::new(100);
        assert!(meter.memory_growing(0, 90, None).unwrap());
        meter
            .memory_grow_failed(wasmtime::Error::msg("no memory"))
            .unwrap();
        assert!(meter.memory_growing(0, 100, None).unwrap());
        assert_eq!(meter.refused(), None);
    }

    #[test]
    fn a_table_has_a_bound() {
        let mut meter = Meter::new(100);
        assert!(meter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
        assert!(!meter.table_growing(0, TABLE_ELEMENTS + 1, None).unwrap());
        assert_eq!(meter.refused_table(), Some(TABLE_ELEMENTS + 1));
    }
}
