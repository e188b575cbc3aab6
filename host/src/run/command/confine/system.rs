//! What every confined command may read: what programs are made of, and cannot start without.
//!
//! A folder is granted with everything below it, so folders that hold more than that are not in
//! here: of `/etc`, single files; of `/proc` and `/sys`, how many processors and how much memory
//! there are; nothing of `/home`, `/opt`, `/run`, `/srv`, `/tmp` and `/var`. What is missing on a
//! system is passed over.

/// Read and run: programs and libraries.
pub(super) const RUN: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    // Distributions that keep everything in a store.
    "/gnu/store",
    "/nix/store",
    "/run/current-system/sw",
];

/// Read: what the C library, certificates' users and language runtimes are set up by.
pub(super) const READ: [&str; 41] = [
    // The loader.
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    // Time and language.
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/locale.conf",
    // Names of users, hosts and services.
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/resolv.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/networks",
    // Certificates, and not the keys that lie beside them.
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/etc/crypto-policies",
    "/etc/ca-certificates",
    // What the system is, and the programs that it chooses among.
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/alternatives",
    "/etc/mime.types",
    "/etc/inputrc",
    "/etc/gitconfig",
    // How large the machine is.
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/version",
    "/sys/devices/system/cpu",
];

/// Read and write: devices that are nobody's.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
