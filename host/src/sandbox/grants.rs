//! What a component may see beyond its own streams: granted variables.

use wasmtime_wasi::WasiCtxBuilder;

use crate::config::Permissions;

/// Adds the granted variables to a guest's context. Granted folders are [`super::files`]' affair.
pub(super) fn apply(permissions: &Permissions, context: &mut WasiCtxBuilder) {
    for name in &permissions.environment {
        if let Some(value) = std::env::var_os(name) {
            context.env(name, value.to_string_lossy());
        }
    }
}
