//! The processes of a session, as `/proc` shows them.
//!
//! # Why no signal hits a stranger
//!
//! A member may exit, be waited for by its own parent, and its id be given to another process between
//! the look at it and the signal. So it is held by a descriptor (`pidfd`) first, then looked at
//! again by its id, then signalled through the descriptor. If the id was given away in between,
//! either the second look is at the new owner, and the signal goes to the descriptor of one who is
//! gone; or the descriptor is the new owner's, and so is the look, which finds another session.
//! That the session's own id is not given away is the caller's to see to ([`super::leader`]).

use rustix::process::{Pid, Signal};

/// A process of a session.
pub(super) struct Member {
    id: Pid,
    session: i32,
    /// The id of its group.
    pub(super) group: i32,
    /// Whether it has not exited yet; one that has may still have to be waited for.
    pub(super) is_alive: bool,
}

#[cfg(target_os = "linux")]
impl Member {
    fn look(id: Pid) -> Option<Self> {
        let text = std::fs::read(format!("/proc/{id}/stat")).ok()?;
        let (state, group, session) = parse(&text)?;
        Some(Self {
            id,
            session,
            group,
            is_alive: !matches!(state, b'Z' | b'X'),
        })
    }

    /// Sends a signal; `false` if the process is gone, or must not be signalled.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let Ok(descriptor) = pidfd_open(self.id, PidfdFlags::empty()) else {
            return false;
        };
        let now = Self::look(self.id);
        now.is_some_and(|now| now.session == self.session)
            && pidfd_send_signal(descriptor, signal).is_ok()
    }
}

/// State, group and session in the text of `/proc/…/stat`: `123 (name) S 1 123 123 …`.
#[cfg(target_os = "linux")]
fn parse(text: &[u8]) -> Option<(u8, i32, i32)> {
    // The name is the process's to choose, and may hold anything.
    let after_name = text.rsplit(|&byte| byte == b')').next()?;
    let mut fields = after_name.trim_ascii().split(|&byte| byte == b' ');
    let state = *fields.next()?.first()?;
    let mut number = || str::from_utf8(fields.next()?).ok()?.parse().ok();
    let _parent: i32 = number()?;
    Some((state, number()?, number()?))
}

/// All members of a session, those that have exited and were not waited for among them. Nobody
/// where `/proc` is missing, or shows the processes of another container.
#[cfg(target_os = "linux")]
pub(super) fn members(session: Pid) -> impl Iterator<Item = Member> {
    let session = session.as_raw_nonzero().get();
    let own = std::fs::read_link("/proc/self");
    let trusted = own.is_ok_and(|own| own.as_os_str() == std::process::id().to_string().as_str());
    let entries = trusted.then(|| std::fs::read_dir("/proc"));
    let entries = entries.into_iter().flatten().flatten().flatten();
    entries
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter_map(Member::look)
        .filter(move |member| member.session == session)
}

// Without such a `/proc` the group of the leader is all that is ended.

#[cfg(not(target_os = "linux"))]
impl Member {
    pub(super) fn signal(&self, _signal: Signal) -> bool {
        false
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn members(_session: Pid) -> impl Iterator<Item = Member> {
    std::iter::empty()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_a_member_until_it_was_waited_for_and_alive_until_it_has_exited() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("cat");
        let id = Pid::from_child(&child);
        let session = rustix::process::getsid(None).expect("a session");
        let find = || members(session).find(|member| member.id == id);
        let member = find().expect("it is there");
        assert!(member.is_alive);
        assert!(member.signal(Signal::KILL));
        while find().expect("it is not waited for").is_alive {
            std::thread::yield_now();
        }
        child.wait().expect("its status");
        assert!(find().is_none());
        assert!(!member.signal(Signal::KILL));
    }

    #[test]
    fn a_process_of_another_session_is_not_signalled() {
        let mut member = Member::look(rustix::process::getpid()).expect("this process");
        member.session += 1;
        assert!(!member.signal(Signal::KILL));
    }

    #[test]
    fn a_process_may_have_any_name() {
        assert_eq!(parse(b"12 (a) R 1 2 3) S 1 12 7 0 -1"), Some((b'S', 12, 7)));
        assert_eq!(parse(b"12 (\xff\n()) Z 0 0 0 0"), Some((b'Z', 0, 0)));
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"12 (sh) S 1 2"), None);
    }
}
