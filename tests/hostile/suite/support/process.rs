//! What this process holds of the machine: memory, descriptors, threads, children.

use std::path::Path;
use std::time::{Duration, Instant};

/// How long what was used may take to be given back. Threads for file work stay for 10 s idle.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is held now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub descriptors: usize,
    pub threads: usize,
    pub children: usize,
}

impl Held {
    pub fn now() -> Self {
        let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
        Self {
            descriptors: count("/proc/self/fd"),
            threads: threads(),
            children: children(),
        }
    }

    /// Waits until no more is held than this.
    pub fn comes_back(self, what: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = Self::now();
            if now.descriptors <= self.descriptors
                && now.threads <= self.threads
                && now.children <= self.children
            {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{what}: {now:?} are held, {self:?} before: {:#?}",
                open_files()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// What the descriptors of this process lead to.
fn open_files() -> Vec<String> {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
    descriptors
        .filter_map(|descriptor| std::fs::read_link(descriptor.ok()?.path()).ok())
        .map(|target| target.display().to_string())
        .collect()
}

/// Waits until this process computes nothing: a guest that was given up on and never ended would.
pub fn comes_to_rest(what: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let before = processor_time();
        std::thread::sleep(Duration::from_millis(100));
        if processor_time() - before <= 2 {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{what}: something computes still"
        );
    }
}

/// What this process has used of processors, in hundredths of a second.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name, in brackets, may hold anything; the 14th and 15th fields are user and system time.
    let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split(' ').collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// The threads of this process, but for the few that load components, which stay for a while.
fn threads() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok())
        .filter(|name| name.trim_end() != "hookcell-load")
        .count()
}

/// The processes that this one started, ended ones that nobody waited for among them.
fn children() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    threads
        .filter_map(|thread| {
            // A thread may end meanwhile.
            std::fs::read_to_string(thread.ok()?.path().join("children")).ok()
        })
        .map(|children| children.split_ascii_whitespace().count())
        .sum()
}

/// Resident memory now, in bytes, and from now on its peak.
pub fn resident_from_now() -> u64 {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    status(Path::new("/proc/self/status"), "VmRSS:")
}

/// The peak of resident memory in bytes since [`resident_from_now`].
pub fn resident_peak() -> u64 {
    status(Path::new("/proc/self/status"), "VmHWM:")
}

fn status(file: &Path, name: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap();
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kibibytes << 10
}
