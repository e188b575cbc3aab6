//! The guests that are kept, built, in the repository: one table.

/// What the compiler makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A component of WASI 0.2.
    Component,
    /// A core module of WASI preview 1.
    Module,
}

impl Target {
    /// All that a toolchain must be able to build for.
    pub const ALL: [Self; 2] = [Self::Component, Self::Module];

    /// The compiler's name for it.
    pub fn triple(self) -> &'static str {
        match self {
            Self::Component => "wasm32-wasip2",
            Self::Module => "wasm32-wasip1",
        }
    }
}

/// One built file, and what it is built from.
#[derive(Clone, Copy, Debug)]
pub struct Guest {
    /// The package, which has one binary of its own name.
    pub package: &'static str,
    /// What it is compiled for.
    pub target: Target,
    /// The built file, from the root of the repository.
    pub file: &'static str,
}

/// Every guest.
pub const GUESTS: [Guest; 7] = [
    plugin(
        "block-dangerous-commands",
        "plugins/block-dangerous-commands/block-dangerous-commands.wasm",
    ),
    plugin("log-tool-use", "plugins/log-tool-use/log-tool-use.wasm"),
    plugin(
        "inject-git-context",
        "plugins/inject-git-context/inject-git-context.wasm",
    ),
    plugin(
        "require-summary",
        "plugins/require-summary/require-summary.wasm",
    ),
    Guest {
        package: "scripted-guest",
        target: Target::Component,
        file: "tests/guests/scripted/scripted.component.wasm",
    },
    Guest {
        package: "scripted-guest",
        target: Target::Module,
        file: "tests/guests/scripted/scripted.module.wasm",
    },
    Guest {
        package: "granted-guest",
        target: Target::Component,
        file: "tests/guests/granted/granted.component.wasm",
    },
];

const fn plugin(package: &'static str, file: &'static str) -> Guest {
    Guest {
        package,
        target: Target::Component,
        file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository;

    #[test]
    fn every_plugin_is_in_the_table() {
        let plugins = repository::root().unwrap().join("plugins");
        for entry in std::fs::read_dir(plugins).unwrap() {
            let folder = entry.unwrap().path();
            if !folder.join("Cargo.toml").is_file() {
                continue;
            }
            let name = folder.file_name().unwrap().to_str().unwrap();
            let file = format!("plugins/{name}/{name}.wasm");
            assert!(
                GUESTS.iter().any(|guest| guest.file == file),
                "{file} is not in the table of guests"
            );
        }
    }

    #[test]
    fn no_two_guests_have_one_file() {
        for (position, guest) in GUESTS.iter().enumerate() {
            assert!(
                GUESTS[position + 1..]
                    .iter()
                    .all(|other| other.file != guest.file),
                "{} is in the table twice",
                guest.file
            );
        }
    }
}
