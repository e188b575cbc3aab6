//! The meter of a guest's memories and tables.

use wasmtime::{ResourceLimiter, Result};

/// The most elements that one table may have; the largest compilers' tables stay well below.
const TABLE_ELEMENTS: usize = 100_000;

/// What an element of a table takes of the host's memory, in bytes.
const ELEMENT: usize = 16;

/// Counts a guest's linear memories and tables as one sum, since a limit for each would be none
/// for all: a component may have many.
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
    /// A meter that lets memories and tables grow to `limit` bytes together.
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

impl Meter {
    fn add(&mut self, added: usize) -> bool {
        let sum = self.sum.saturating_add(added);
        if sum > self.limit {
            self.refused.get_or_insert(sum);
            return false;
        }
        self.sum = sum;
        self.pending = added;
        self.peak = self.peak.max(sum);
        true
    }

    fn give_back(&mut self) {
        self.sum -= std::mem::take(&mut self.pending);
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        Ok(self.add(desired.saturating_sub(current)))
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> Result<()> {
        self.give_back();
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        if desired > TABLE_ELEMENTS {
            self.refused_table.get_or_insert(desired);
            return Ok(false);
        }
        Ok(self.add(desired.saturating_sub(current).saturating_mul(ELEMENT)))
    }

    fn table_grow_failed(&mut self, _: wasmtime::Error) -> Result<()> {
        self.give_back();
        Ok(())
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
    fn memories_and_tables_are_counted_as_one_sum() {
        let mut meter = Meter::new(100);
        assert!(meter.memory_growing(0, 28, None).unwrap());
        assert!(meter.table_growing(0, 2, None).unwrap());
        assert!(meter.memory_growing(0, 40, None).unwrap());
        assert!(!meter.memory_growing(40, 41, None).unwrap());
        assert_eq!((meter.peak(), meter.refused()), (100, Some(101)));
        assert!(!meter.table_growing(2, 3, None).unwrap());
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
        let mut meter = Meter::new(10_000_000);
        assert!(meter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
        assert!(!meter.table_growing(0, TABLE_ELEMENTS + 1, None).unwrap());
        assert_eq!(meter.refused_table(), Some(TABLE_ELEMENTS + 1));
    }
}
