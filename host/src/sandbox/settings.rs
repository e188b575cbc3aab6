//! A hook's `config` object as `wasi:config`, for guests that do not read `HOOKCELL_CONFIG`.
//!
//! wasmtime's own implementation of this interface gives all settings in an order that differs from
//! run to run, so that no hook could be a function of its event. This one keeps the names' order.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::value::RawValue;
use wasmtime::component::{HasSelf, Linker};

use super::store::ComponentState;
use bindings::wasi::config::store::{self, Error, Host};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/deps/config.wit",
        world: "wasi:config/imports",
        imports: { default: trappable },
    });
}

/// The settings of one run, read when they are first asked for.
#[derive(Debug, Default)]
pub(super) struct Settings {
    config: Option<String>,
    members: OnceLock<BTreeMap<String, String>>,
}

impl Settings {
    /// The members of an object that is given as JSON text, which was read before.
    pub(super) fn new(config: Option<&str>) -> Self {
        Self {
            config: config.map(str::to_owned),
            members: OnceLock::new(),
        }
    }

    fn members(&self) -> &BTreeMap<String, String> {
        self.members.get_or_init(|| {
            let members: BTreeMap<String, &RawValue> = self
                .config
                .as_ref()
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_default();
            members
                .into_iter()
                .map(|(name, value)| match serde_json::from_str(value.get()) {
                    Ok(text) => (name, text),
                    // No string: a number keeps all its digits this way.
                    Err(_) => (name, value.get().to_owned()),
                })
                .collect()
        })
    }
}

impl Host for ComponentState {
    fn get(&mut self, key: String) -> wasmtime::Result<Result<Option<String>, Error>> {
        Ok(Ok(self.provided.settings.members().get(&key).cloned()))
    }

    fn get_all(&mut self) -> wasmtime::Result<Result<Vec<(String, String)>, Error>> {
        let settings = self.provided.settings.members();
        Ok(Ok(settings
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()))
    }
}

/// Links `wasi:config`.
pub(super) fn link_component(linker: &mut Linker<ComponentState>) -> wasmtime::Result<()> {
    store::add_to_linker::<_, HasSelf<ComponentState>>(linker, |state| state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_is_a_setting() {
        let settings = Settings::new(Some(
            r#"{"b": "text", "a": {"x": [1, 2.50]}, "n": null, "t": true, "": 7}"#,
        ));
        let all: Vec<(&str, &str)> = settings
            .members()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            all,
            [
                ("", "7"),
                ("a", r#"{"x": [1, 2.50]}"#),
                ("b", "text"),
                ("n", "null"),
                ("t", "true")
            ]
        );
        assert!(Settings::new(None).members().is_empty());
    }
}
