//! How many guests run at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Guests of one host at once, unless its builder says otherwise.
pub const DEFAULT: usize = 128;

/// The part of all turns that the guests of one component may have at once: one that hangs on
/// every event must not keep others from running.
const PART: usize = 4;

/// The turns of one host's guests.
#[derive(Debug)]
pub struct Turns {
    most: usize,
    all: Arc<Semaphore>,
    of_one: Mutex<HashMap<[u8; 32], Arc<Semaphore>>>,
}

/// The right to run, for as long as it lives.
#[derive(Debug)]
pub(super) struct Turn {
    _of_one: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl Turns {
    /// At most `most` guests at once, and at least 1; a quarter of them of one component.
    pub fn new(most: usize) -> Self {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            most,
            all: Arc::new(Semaphore::new(most)),
            of_one: Mutex::default(),
        }
    }

    /// Waits for a turn of the component with this digest, until `deadline`.
    ///
    /// # Errors
    ///
    /// What it waited for in vain.
    pub(super) async fn take(&self, digest: [u8; 32], deadline: Instant) -> Result<Turn, String> {
        let most_of_one = (self.most / PART).max(1);
        let of_one = {
            let mut of_one = self.of_one.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(most_of_one));
            Arc::clone(of_one.entry(digest).or_insert_with(new))
        };
        let wait = async {
            // The component's own first: those that wait for it take nobody else's turn.
            let mine = of_one.acquire_owned().await;
            (mine, Arc::clone(&self.all).acquire_owned().await)
        };
        match tokio::time::timeout_at(deadline.into(), wait).await {
            Ok((Ok(of_one), Ok(of_all))) => Ok(Turn {
                _of_one: of_one,
                _of_all: of_all,
            }),
            _ => Err(format!(
                "no guest ended to make room for it: {} may run at once, {most_of_one} of them of one component",
                self.most
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn one_component_has_a_part_of_the_turns_and_others_the_rest() {
        let turns = Turns::new(8);
        let soon = || Instant::now() + Duration::from_millis(20);
        let mut held = Vec::new();
        for _ in 0..2 {
            held.push(turns.take([1; 32], soon()).await.unwrap());
        }
        assert_eq!(
            turns.take([1; 32], soon()).await.unwrap_err(),
            "no guest ended to make room for it: 8 may run at once, 2 of them of one component"
        );
        for other in 2..5 {
            for _ in 0..2 {
                held.push(turns.take([other; 32], soon()).await.unwrap());
            }
        }
        assert!(turns.take([9; 32], soon()).await.is_err());
        held.pop();
        assert!(turns.take([9; 32], soon()).await.is_ok());
    }
}
