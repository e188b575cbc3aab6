//! What kernels other than Linux enforce: nothing.

use super::Policy;

/// Gives up nothing.
///
/// # Errors
///
/// Always, unless the policy is content with what there is.
pub(super) fn confine(policy: &Policy) -> Result<Vec<&'static str>, String> {
    if policy.best_effort {
        return Ok(vec!["files", "network", "privileges"]);
    }
    Err(format!(
        "{} cannot confine a command, only Linux can (6.7 or newer, with Landlock); to run it here with no more than limits on its resources and variables, write `\"bestEffort\": true` in `sandbox`",
        std::env::consts::OS
    ))
}
