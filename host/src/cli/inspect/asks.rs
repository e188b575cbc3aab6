//! What a file asks for, in plain words, the most powerful first.

use serde::Serialize;

use crate::sandbox::shape::{Kind, Shape};

/// One thing that a file may do as far as it is granted.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Ask {
    /// What it imports: interfaces, or functions of WASI preview1.
    pub(super) imports: Vec<String>,
    /// What these are for.
    pub(super) meaning: &'static str,
    /// The member of `permissions` that grants it, if there is one.
    pub(super) grant: Option<&'static str>,
    /// Whether it does not run without that.
    pub(super) required: bool,
}

/// What the beginning of a name means.
struct Meaning {
    /// Beginnings of names of interfaces.
    interfaces: &'static [&'static str],
    /// Beginnings of names of functions of preview1.
    functions: &'static [&'static str],
    meaning: &'static str,
    grant: Option<&'static str>,
    required: bool,
}

/// The most powerful first. What nothing fits comes before all of these.
const MEANINGS: [Meaning; 12] = [
    Meaning {
        interfaces: &["wasi:http/types", "wasi:http/outgoing-handler"],
        functions: &[],
        meaning: "HTTP requests, only to the hosts that `permissions.network` names",
        grant: Some("\"network\": [\"HOST:PORT\"]"),
        required: true,
    },
    Meaning {
        interfaces: &["wasi:sockets/"],
        functions: &["sock_"],
        meaning: "network connections: none can be made, and no grant is for them",
        grant: None,
        required: false,
    },
    Meaning {
        interfaces: &["wasi:filesystem/"],
        functions: &["path_", "fd_prestat", "fd_readdir"],
        meaning: "files, only in the folders that `permissions.filesystem` grants",
        grant: Some("\"filesystem\": [{\"path\": \"${workspace}\", \"access\": \"read\"}]"),
        required: false,
    },
    Meaning {
        interfaces: &["wasi:keyvalue/"],
        functions: &[],
        meaning: "a store of its own that is kept from event to event",
        grant: Some("\"state\": true"),
        required: true,
    },
    Meaning {
        interfaces: &["wasi:cli/environment"],
        functions: &["environ_"],
        meaning: "variables, only those that `permissions.environment` names, and its arguments",
        grant: Some("\"environment\": [\"NAME\"]"),
        required: false,
    },
    Meaning {
        interfaces: &["wasi:config/"],
        functions: &[],
        meaning: "its own `config` from hooks.json",
        grant: None,
        required: false,
    },
    Meaning {
        interfaces: &["wasi:clocks/wall-clock"],
        functions: &["clock_"],
        meaning: "the time, as `permissions.clock` says",
        grant: None,
        required: false,
    },
    Meaning {
        interfaces: &["wasi:clocks/"],
        functions: &["poll_oneoff"],
        meaning: "time passing, and sleeping within its timeout",
        grant: None,
        required: false,
    },
    Meaning {
        interfaces: &["wasi:random/"],
        functions: &["random_get"],
        meaning: "random numbers, as `permissions.random` says",
        grant: None,
        required: false,
    },
    Meaning {
        interfaces: &["wasi:cli/exit"],
        functions: &["proc_"],
        meaning: "ending with an exit code",
        grant: None,
        required: false,
    },
    Meaning {
        interfaces: &["wasi:cli/stdin", "wasi:cli/stdout", "wasi:cli/stderr"],
        functions: &["fd_", "args_"],
        meaning: "its arguments, the event, the decision, diagnostics",
        grant: None,
        required: false,
    },
    Meaning {
        interfaces: &["wasi:cli/", "wasi:io/"],
        functions: &["sched_yield"],
        meaning: "the machinery of streams; there is no terminal",
        grant: None,
        required: false,
    },
];

/// What a file asks for. What is not offered comes first.
pub(super) fn asks(shape: &Shape) -> Vec<Ask> {
    let mut not_offered = Vec::new();
    let mut found: Vec<Vec<String>> = MEANINGS.iter().map(|_| Vec::new()).collect();
    for (name, functions) in &shape.imports {
        match shape.kind {
            Kind::Component => match place(name, |it| it.interfaces) {
                Some(place) => found[place].push(name.clone()),
                None => not_offered.push(name.clone()),
            },
            Kind::Module if name == "wasi_snapshot_preview1" => {
                for function in functions {
                    match place(function, |it| it.functions) {
                        Some(place) => found[place].push(function.clone()),
                        None => not_offered.push(format!("{name} {function}")),
                    }
                }
            }
            Kind::Module => not_offered.push(name.clone()),
        }
    }
    let first = Ask {
        imports: not_offered,
        meaning: "not offered",
        grant: None,
        required: false,
    };
    let others = found.into_iter().zip(&MEANINGS).map(|(imports, it)| Ask {
        imports,
        meaning: it.meaning,
        grant: it.grant,
        required: it.required,
    });
    std::iter::once(first)
        .chain(others)
        .filter(|ask| !ask.imports.is_empty())
        .collect()
}

fn place(name: &str, beginnings: impl Fn(&Meaning) -> &'static [&'static str]) -> Option<usize> {
    MEANINGS
        .iter()
        .position(|it| beginnings(it).iter().any(|start| name.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sandbox::shape::ExitCodes;

    fn shape(kind: Kind, imports: &[(&str, &[&str])]) -> Shape {
        Shape {
            kind,
            imports: imports
                .iter()
                .map(|(name, functions)| {
                    let functions = functions.iter().map(|it| (*it).to_owned()).collect();
                    ((*name).to_owned(), functions)
                })
                .collect::<BTreeMap<_, _>>(),
            exports: Vec::new(),
            exit_codes: ExitCodes::Any,
            code_bytes: 0,
        }
    }

    #[test]
    fn the_worst_comes_first() {
        let asks = asks(&shape(
            Kind::Component,
            &[
                ("a:b/c", &[]),
                ("wasi:cli/environment@0.2.0", &[]),
                ("wasi:cli/stdin@0.2.0", &[]),
                ("wasi:filesystem/types@0.2.0", &[]),
                ("wasi:http/incoming-handler@0.2.0", &[]),
                ("wasi:http/types@0.2.0", &[]),
                ("wasi:keyvalue/store@0.2.0-draft", &[]),
            ],
        ));
        let said: Vec<_> = asks
            .iter()
            .map(|it| (it.imports.join(" "), it.grant))
            .collect();
        let said: Vec<_> = said
            .iter()
            .map(|(name, grant)| (name.as_str(), *grant))
            .collect();
        assert_eq!(
            said,
            [
                ("a:b/c wasi:http/incoming-handler@0.2.0", None),
                (
                    "wasi:http/types@0.2.0",
                    Some("\"network\": [\"HOST:PORT\"]")
                ),
                (
                    "wasi:filesystem/types@0.2.0",
                    Some("\"filesystem\": [{\"path\": \"${workspace}\", \"access\": \"read\"}]")
                ),
                ("wasi:keyvalue/store@0.2.0-draft", Some("\"state\": true")),
                (
                    "wasi:cli/environment@0.2.0",
                    Some("\"environment\": [\"NAME\"]")
                ),
                ("wasi:cli/stdin@0.2.0", None),
            ]
        );
        let required: Vec<bool> = asks.iter().map(|it| it.required).collect();
        assert_eq!(required, [false, true, false, true, false, false]);
    }

    #[test]
    fn a_module_is_told_by_its_functions() {
        let asks = asks(&shape(
            Kind::Module,
            &[(
                "wasi_snapshot_preview1",
                &["fd_write", "path_open", "environ_get", "proc_exit", "odd"],
            )],
        ));
        let said: Vec<String> = asks.iter().map(|it| it.imports.join(" ")).collect();
        assert_eq!(
            said,
            [
                "wasi_snapshot_preview1 odd",
                "path_open",
                "environ_get",
                "proc_exit",
                "fd_write"
            ]
        );
    }
}
