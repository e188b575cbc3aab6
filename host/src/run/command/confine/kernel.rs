//! What Linux enforces: Landlock for files, TCP ports and signals, a filter for sockets, and no way
//! to new privileges.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort,
    PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetStatus, Scope, make_bitflags,
};
use rustix::fs::FileType;

use super::{Policy, capabilities, sockets, system};

/// The version of Landlock whose rights are asked for. Newer ones may have more, and what those
/// would keep from working is not known yet.
const VERSION: ABI = ABI::V7;

const TCP: BitFlags<AccessNet> = make_bitflags!(AccessNet::{BindTcp | ConnectTcp});

/// Something that not every kernel can limit.
struct Feature {
    /// What is limited.
    what: &'static str,
    /// The first version of Linux that can.
    since: &'static str,
    /// Whether a sandbox without it is none.
    is_needed: bool,
    is_there: fn() -> bool,
}

const FEATURES: [Feature; 4] = [
    Feature {
        what: "files",
        since: "5.13, with Landlock enabled",
        is_needed: true,
        is_there: || asked().handle_access(AccessFs::from_all(ABI::V1)).is_ok(),
    },
    Feature {
        what: "the truncation of files",
        since: "6.2",
        is_needed: true,
        is_there: || asked().handle_access(AccessFs::Truncate).is_ok(),
    },
    Feature {
        what: "TCP ports",
        since: "6.7",
        is_needed: true,
        is_there: || asked().handle_access(TCP).is_ok(),
    },
    Feature {
        what: "signals to other processes",
        since: "6.12",
        is_needed: false,
        is_there: || asked().scope(Scope::Signal).is_ok(),
    },
];

/// A set of rules that the kernel is asked whether it can keep.
fn asked() -> Ruleset {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
}

fn missing() -> Vec<&'static Feature> {
    FEATURES.iter().filter(|it| !(it.is_there)()).collect()
}

/// Why no command can be confined under this kernel, if none can.
pub(crate) fn lacking() -> Option<String> {
    complaint(&missing())
}

/// Gives up everything that `policy` does not grant, for good, for this process and all that it
/// starts. Returns what the kernel cannot limit.
///
/// # Errors
///
/// Why the command must not be run.
pub(super) fn confine(policy: &Policy) -> Result<Vec<&'static str>, String> {
    let missing = missing();
    if !policy.best_effort
        && let Some(message) = complaint(&missing)
    {
        return Err(message);
    }
    let mut not_enforced: Vec<&str> = missing.iter().map(|it| it.what).collect();
    let status = restrict(policy)?;
    if !status.no_new_privs {
        return Err("the kernel lets it gain privileges".to_owned());
    }
    let is_enforced = status.ruleset != RulesetStatus::NotEnforced;
    if is_enforced == not_enforced.contains(&"files") {
        return Err(format!("Landlock is {:?}", status.ruleset));
    }
    capabilities::give_up()
        .map_err(|error| format!("the privileges of root cannot be given up: {error}"))?;
    match sockets::limit(&policy.ports) {
        Ok(()) => {}
        Err(_) if policy.best_effort => not_enforced.push("sockets other than of TCP"),
        Err(error) => {
            return Err(format!("sockets cannot be limited: {error}; {BEST_EFFORT}"));
        }
    }
    Ok(not_enforced)
}

const BEST_EFFORT: &str =
    "to run it with what protection there is, write `\"bestEffort\": true` in `sandbox`";

/// Why a command must not be run that needs what is missing.
fn complaint(missing: &[&Feature]) -> Option<String> {
    let needed: Vec<String> = missing
        .iter()
        .filter(|it| it.is_needed)
        .map(|it| format!("{} (Linux {})", it.what, it.since))
        .collect();
    (!needed.is_empty()).then(|| {
        format!(
            "this kernel cannot limit {}; {BEST_EFFORT}",
            needed.join(", ")
        )
    })
}

/// Gives up files, ports, signals and the way to new privileges, as far as the kernel can.
fn restrict(policy: &Policy) -> Result<RestrictionStatus, String> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(VERSION))
        .and_then(|it| it.handle_access(TCP))
        .and_then(|it| it.scope(Scope::from_all(VERSION)))
        .and_then(Ruleset::create)
        .map_err(said)?;
    let run = AccessFs::from_read(VERSION);
    let read = make_bitflags!(AccessFs::{ReadFile | ReadDir});
    let device = make_bitflags!(AccessFs::{ReadFile | WriteFile});
    // Nobody makes devices, or gives them commands.
    let write =
        AccessFs::from_all(VERSION) & !make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev});

    for (paths, rights) in [
        (&system::RUN[..], run),
        (&system::READ, read),
        (&system::DEVICES, device),
    ] {
        for path in paths {
            if let Ok(file) = PathFd::new(path) {
                rules = rules.add_rule(rule(file, rights)?).map_err(said)?;
            }
        }
    }
    for (paths, rights) in [(&policy.read, run), (&policy.write, write)] {
        for path in paths {
            let file = PathFd::new(path).map_err(said)?;
            rules = rules.add_rule(rule(file, rights)?).map_err(said)?;
        }
    }
    for &port in &policy.ports {
        let port = NetPort::new(port, AccessNet::ConnectTcp);
        rules = rules.add_rule(port).map_err(said)?;
    }
    rules.restrict_self().map_err(said)
}

/// Grants these rights at a file, or as many as a file can have.
fn rule(file: PathFd, rights: BitFlags<AccessFs>) -> Result<PathBeneath<PathFd>, String> {
    let mode = rustix::fs::fstat(&file).map_err(said)?.st_mode;
    let possible = if FileType::from_raw_mode(mode).is_dir() {
        AccessFs::from_all(VERSION)
    } else {
        AccessFs::from_file(VERSION)
    };
    Ok(PathBeneath::new(file, rights & possible))
}

fn said(error: impl std::error::Error) -> String {
    let mut said = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_said = cause.to_string();
        if !said.ends_with(&cause_said) {
            said = format!("{said}: {cause_said}");
        }
        next = cause.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(what: &[&str]) -> Vec<&'static Feature> {
        let is_missing = |feature: &&Feature| what.contains(&feature.what);
        FEATURES.iter().filter(is_missing).collect()
    }

    #[test]
    fn what_is_needed_and_missing_is_named_with_the_way_out() {
        assert_eq!(complaint(&without(&[])), None);
        assert_eq!(complaint(&without(&["signals to other processes"])), None);
        assert_eq!(
            complaint(&without(&["TCP ports", "signals to other processes"])).as_deref(),
            Some(
                "this kernel cannot limit TCP ports (Linux 6.7); to run it with what protection \
                 there is, write `\"bestEffort\": true` in `sandbox`"
            )
        );
        assert_eq!(
            complaint(&without(&["files", "the truncation of files", "TCP ports"])).as_deref(),
            Some(
                "this kernel cannot limit files (Linux 5.13, with Landlock enabled), the truncation \
                 of files (Linux 6.2), TCP ports (Linux 6.7); to run it with what protection there \
                 is, write `\"bestEffort\": true` in `sandbox`"
            )
        );
    }
}
