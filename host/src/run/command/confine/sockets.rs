//! Which sockets a confined command can make, by a filter on its system calls.
//!
//! Landlock limits the ports of TCP alone: with UDP, MPTCP or a raw socket a command could talk to
//! anybody, and through a Unix socket it could have programs started that are not confined, by the
//! session's service manager or by docker. A socket that is not made does none of that.

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

/// The system calls that are looked at: the one that makes sockets, and the one that leads to
/// another way to make them.
#[cfg(target_arch = "x86_64")]
const SOCKET: i64 = 41;
#[cfg(not(target_arch = "x86_64"))]
const SOCKET: i64 = 198;
const IO_URING_SETUP: i64 = 425;

/// A second set of numbers for the same calls, which some kernels of x86-64 know.
#[cfg(target_arch = "x86_64")]
const SECOND: &[i64] = &[0, 0x4000_0000];
#[cfg(not(target_arch = "x86_64"))]
const SECOND: &[i64] = &[0];

/// Families of addresses.
const IPV4: u64 = 2;
const IPV6: u64 = 10;
/// Asks the kernel which addresses this machine has, which programs do before they connect.
const NETLINK: u64 = 16;

/// Kinds of sockets: streams (TCP), and datagrams (UDP), without which no name is resolved. The
/// bits above the lowest four are flags.
const KIND: u64 = 0xf;
const STREAM: u64 = 1;
const DATAGRAM: u64 = 2;

/// The protocols of both: whichever is usual, or named.
const PROTOCOLS: [u64; 3] = [0, 6, 17];

/// Permission denied, and not implemented, which programs take as a sign to do without.
const EACCES: u32 = 13;
const ENOSYS: u32 = 38;

/// Limits this process to no sockets, or to those of TCP and UDP if there are `ports`.
pub(super) fn limit(ports: &[u16]) -> Result<(), String> {
    let filters = [
        (SOCKET, refused(!ports.is_empty()), EACCES),
        (IO_URING_SETUP, Ok(Vec::new()), ENOSYS),
    ];
    for (call, rules, errno) in filters {
        let program = rules.and_then(|rules| filter(call, rules, errno));
        let program = program.map_err(|error| error.to_string())?;
        seccompiler::apply_filter(&program).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn filter(call: i64, rules: Vec<SeccompRule>, errno: u32) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(
        SECOND
            .iter()
            .map(|bit| (call | bit, rules.clone()))
            .collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()
}

/// The sockets that are refused: one rule that fits is enough, and no rules fit everything.
fn refused(some: bool) -> Result<Vec<SeccompRule>, BackendError> {
    if !some {
        return Ok(Vec::new());
    }
    let is_not = |argument, value| condition(argument, SeccompCmpOp::Ne, value);
    let mut rules = vec![
        SeccompRule::new(vec![
            is_not(0, IPV4)?,
            is_not(0, IPV6)?,
            is_not(0, NETLINK)?,
        ])?,
        SeccompRule::new(
            [Ok(is_not(0, NETLINK)?)]
                .into_iter()
                .chain(PROTOCOLS.map(|protocol| is_not(2, protocol)))
                .collect::<Result<_, _>>()?,
        )?,
    ];
    for kind in (0..=KIND).filter(|&kind| kind != STREAM && kind != DATAGRAM) {
        rules.push(SeccompRule::new(vec![
            is_not(0, NETLINK)?,
            condition(1, SeccompCmpOp::MaskedEq(KIND), kind)?,
        ])?);
    }
    Ok(rules)
}

fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
