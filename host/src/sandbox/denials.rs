//! What one run of a guest tried and was not granted.

use std::sync::{Arc, Mutex, PoisonError};

use crate::outcome::Denied;
use crate::text;

/// How many different denials of one run are told; the uses beyond them are counted as one.
const MOST: usize = 16;

/// Counts denied uses. Clones count together.
#[derive(Debug, Clone, Default)]
pub(super) struct Denials(Arc<Mutex<Vec<Denied>>>);

impl Denials {
    /// Counts one use of `what`, which `grant`, a member of `permissions`, would have granted.
    pub(super) fn note(&self, what: &str, grant: Option<&str>) {
        let what = text::one_line(what, 300);
        let mut denied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = denied.iter_mut().find(|known| known.what == what) {
            known.count += 1;
            return;
        }
        if denied.len() == MOST
            && let Some(last) = denied.last_mut()
        {
            if last.grant.is_some() || last.what != OTHERS {
                *last = Denied {
                    what: OTHERS.into(),
                    count: last.count,
                    grant: None,
                };
            }
            last.count += 1;
            return;
        }
        denied.push(Denied {
            what,
            count: 1,
            grant: grant.map(|grant| text::one_line(grant, 300)),
        });
    }

    /// All that was counted, in the order of the first use.
    pub(super) fn take(&self) -> Vec<Denied> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What the uses beyond [`MOST`] are told as.
const OTHERS: &str = "other things";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_uses_are_counted_and_different_ones_told_up_to_a_bound() {
        let denials = Denials::default();
        denials.note("a", Some("\"x\": true"));
        denials.clone().note("a", None);
        for name in 0..1000 {
            denials.note(&format!("b{name}\u{1b}"), None);
        }
        let denied = denials.take();
        assert_eq!(denied.len(), MOST);
        assert_eq!((&*denied[0].what, denied[0].count), ("a", 2));
        assert_eq!(denied[0].grant.as_deref(), Some("\"x\": true"));
        assert_eq!(denied[1].what, "b0\\u{1b}");
        assert_eq!((&*denied[15].what, denied[15].count), (OTHERS, 986));
        assert_eq!(denied.iter().map(|it| it.count).sum::<u64>(), 1002);
    }
}
