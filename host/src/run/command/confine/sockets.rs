//! Which sockets a confined command can make, and what it can do with them, by a filter on its
//! system calls.
//!
//! Landlock limits the ports that TCP connects to and is bound to, and that leaves ways around it:
//!
//! * with UDP, MPTCP or a raw socket a command could talk to anybody, and through a Unix socket it
//!   could have programs started that are not confined, by the session's service manager or by
//!   docker: such sockets are not made;
//! * TCP can connect in the call that sends (`MSG_FASTOPEN`), and can listen without having been
//!   bound: neither is let through.

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule,
};

/// The numbers of the system calls that are looked at.
#[cfg(target_arch = "x86_64")]
mod number {
    pub(super) const SOCKET: i64 = 41;
    pub(super) const SENDTO: i64 = 44;
    pub(super) const SENDMSG: i64 = 46;
    pub(super) const LISTEN: i64 = 50;
    pub(super) const SENDMMSG: i64 = 307;
    /// Every call has a second number, which some kernels know, and some of these a third.
    pub(super) const OTHERS: &[(i64, i64)] = &[(46, 518), (307, 538)];
    pub(super) const SECOND: Option<i64> = Some(0x4000_0000);
}
#[cfg(not(target_arch = "x86_64"))]
mod number {
    pub(super) const SOCKET: i64 = 198;
    pub(super) const LISTEN: i64 = 201;
    pub(super) const SENDTO: i64 = 206;
    pub(super) const SENDMSG: i64 = 211;
    pub(super) const SENDMMSG: i64 = 269;
    pub(super) const OTHERS: &[(i64, i64)] = &[];
    pub(super) const SECOND: Option<i64> = None;
}

/// It can do all of this without the calls for it. Its number is the same everywhere.
const IO_URING_SETUP: i64 = 425;

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

/// A flag of the calls that send.
const MSG_FASTOPEN: u64 = 0x2000_0000;

/// Permission denied, and not implemented, which programs take as a sign to do without.
const EACCES: u32 = 13;
const ENOSYS: u32 = 38;

/// Limits this process to no sockets, or to those of TCP and UDP if there are `ports`.
///
/// # Errors
///
/// What the kernel says.
pub(super) fn limit(ports: &[u16]) -> Result<(), String> {
    apply(!ports.is_empty()).map_err(|error| error.to_string())
}

fn apply(some: bool) -> Result<(), seccompiler::Error> {
    let sockets = if some { other_sockets()? } else { Vec::new() };
    let flag = |argument| -> Result<_, BackendError> {
        let is_set = SeccompCmpOp::MaskedEq(MSG_FASTOPEN);
        let condition = condition(argument, is_set, MSG_FASTOPEN)?;
        Ok(vec![SeccompRule::new(vec![condition])?])
    };
    let denied = vec![
        (number::SOCKET, sockets),
        (number::LISTEN, Vec::new()),
        (number::SENDTO, flag(3)?),
        (number::SENDMSG, flag(2)?),
        (number::SENDMMSG, flag(3)?),
    ];
    seccompiler::apply_filter(&filter(denied, EACCES)?)?;
    seccompiler::apply_filter(&filter(vec![(IO_URING_SETUP, Vec::new())], ENOSYS)?)
}

/// A filter that refuses the calls that one of their rules fits; no rules fit always.
fn filter(calls: Vec<(i64, Vec<SeccompRule>)>, errno: u32) -> Result<BpfProgram, BackendError> {
    let numbers = |call: i64| {
        let others = number::OTHERS.iter().filter(move |it| it.0 == call);
        let all = [call].into_iter().chain(others.map(|it| it.1));
        all.flat_map(|it| [Some(it), number::SECOND.map(|bit| it | bit)])
            .flatten()
    };
    let rules = calls
        .into_iter()
        .flat_map(|(call, rules)| numbers(call).map(move |number| (number, rules.clone())))
        .collect();
    SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()
}

/// The rules that fit all sockets but those of TCP, UDP and netlink.
fn other_sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let is_not = |argument, value| condition(argument, SeccompCmpOp::Ne, value);
    let families = [IPV4, IPV6, NETLINK].map(|family| is_not(0, family));
    let protocols = PROTOCOLS.map(|protocol| is_not(2, protocol));
    let protocols = [is_not(0, NETLINK)].into_iter().chain(protocols);
    let mut rules = vec![
        SeccompRule::new(families.into_iter().collect::<Result<_, _>>()?)?,
        SeccompRule::new(protocols.collect::<Result<_, _>>()?)?,
    ];
    for kind in (0..=KIND).filter(|&kind| kind != STREAM && kind != DATAGRAM) {
        let is_kind = condition(1, SeccompCmpOp::MaskedEq(KIND), kind)?;
        rules.push(SeccompRule::new(vec![is_not(0, NETLINK)?, is_kind])?);
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
