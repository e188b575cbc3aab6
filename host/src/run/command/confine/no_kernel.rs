//! What kernels other than Linux enforce: nothing.

use super::Policy;

/// Why no command can be confined under this kernel.
pub(crate) fn lacking() -> Option<String> {
    Some(format!(
        "{} cannot confine a command, only Linux can (6.7 or newer, with Landlock); to run it with no more than limits on its resources and variables, write `\"bestEffort\": true` in `sandbox`",
        std::env::consts::OS
    ))
}

/// Gives up nothing.
///
/// # Errors
///
/// Always, unless the policy is content with what there is.
pub(super) fn confine(policy: &Policy) -> Result<Vec<&'static str>, String> {
    match lacking() {
        Some(why) if !policy.best_effort => Err(why),
        _ => Ok(vec!["files", "sockets", "privileges"]),
    }
}
