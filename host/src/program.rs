//! The hookcell program, which a host starts for what it must not do in its own process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of the program.
const NAME: &str = "hookcell";

/// The variable that names it.
const VARIABLE: &str = "HOOKCELL_PROGRAM";

/// Whether the running program is hookcell.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Where the hookcell program is: named, or by default found as
/// [`HostBuilder::program`](crate::HostBuilder::program) says.
#[derive(Debug, Clone, Default)]
pub struct Program(Option<PathBuf>);

impl Program {
    /// The one at `path`, which is taken as it is.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Some(path.into()))
    }

    /// Says that the running program is hookcell.
    pub(crate) fn is_running() {
        IS_RUNNING.store(true, Ordering::Relaxed);
    }

    /// The program's path.
    ///
    /// # Errors
    ///
    /// Where it was looked for.
    pub(crate) fn find(&self) -> Result<PathBuf, String> {
        if let Some(path) = &self.0 {
            return Ok(path.clone());
        }
        if IS_RUNNING.load(Ordering::Relaxed) {
            // The very file that runs, though another version may have been put in its place.
            let itself = Path::new("/proc/self/exe");
            return if itself.exists() {
                Ok(itself.to_owned())
            } else {
                std::env::current_exe()
                    .map_err(|error| format!("hookcell cannot find itself: {error}"))
            };
        }
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            return Ok(path.into());
        }
        let running = std::env::current_exe().ok();
        let beside = running
            .as_deref()
            .and_then(Path::parent)
            .map(Path::to_owned);
        let on_path = std::env::var_os("PATH").unwrap_or_default();
        beside
            .into_iter()
            .chain(std::env::split_paths(&on_path))
            .map(|folder| folder.join(NAME))
            .find(|path| path.is_absolute() && path.is_file())
            .ok_or_else(|| {
                format!(
                    "the program `{NAME}` is needed, and it is neither beside this program nor on `PATH`; install it, or name it in `{VARIABLE}`"
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_named_is_taken_as_it_is() {
        assert_eq!(Program::at("/x/hookcell").find(), Ok("/x/hookcell".into()));
    }
}
