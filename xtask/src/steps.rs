//! Steps in order, the first failure being the last step; with the time that each took.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::say;

/// A run of steps.
pub struct Steps {
    started: Instant,
    finished: Vec<Finished>,
}

struct Finished {
    name: &'static str,
    took: Duration,
    passed: bool,
}

impl Steps {
    /// Runs `steps` and tells, whatever came of it, what was done and how long it took.
    pub fn all(steps: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let mut these = Self {
            started: Instant::now(),
            finished: Vec::new(),
        };
        let result = steps(&mut these);
        these.summarise();
        result
    }

    /// Runs one step.
    pub fn run<T>(&mut self, name: &'static str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        say::step(self.started.elapsed(), name);
        let step_started = Instant::now();
        let result = step();
        self.finished.push(Finished {
            name,
            took: step_started.elapsed(),
            passed: result.is_ok(),
        });
        result.with_context(|| format!("the step \"{name}\" failed"))
    }

    fn summarise(&self) {
        say::step(self.started.elapsed(), "summary");
        for finished in &self.finished {
            let verdict = if finished.passed { "passed" } else { "FAILED" };
            say::summary_line(verdict, finished.took, finished.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failing_step_is_named_and_ends_the_run() {
        let mut reached = Vec::new();
        let result = Steps::all(|steps| {
            steps.run("first", || {
                reached.push("first");
                Ok(())
            })?;
            steps.run("second", || -> Result<()> { bail!("no such luck") })?;
            steps.run("third", || {
                reached.push("third");
                Ok(())
            })
        });
        assert_eq!(
            format!("{:#}", result.unwrap_err()),
            "the step \"second\" failed: no such luck"
        );
        assert_eq!(reached, ["first"]);
    }
}
