//! What uses something up: the stack, memory, time, random bytes.

use std::hint::black_box;

/// Ends at an instruction that traps.
pub fn trap() -> ! {
    #[cfg(target_arch = "wasm32")]
    core::arch::wasm32::unreachable();
    #[cfg(not(target_arch = "wasm32"))]
    std::process::abort()
}

pub fn spin() -> ! {
    loop {
        black_box(());
    }
}

/// Calls itself without end, and keeps nothing in memory, so that the host's stack ends first.
pub fn stack() -> ! {
    fn deeper(level: u64) -> u64 {
        if level == u64::MAX {
            return 0;
        }
        // What is done behind the call keeps it from becoming a loop.
        (deeper(level + 1) ^ level).rotate_left(1)
    }
    std::process::exit(deeper(u64::from(std::process::id())) as i32)
}

/// Takes a mebibyte after the other, writes to all of it, and traps when there is no more.
pub fn memory() -> ! {
    const SIZE: usize = 1 << 20;
    // A program of its own would bring the machine down instead.
    while cfg!(target_arch = "wasm32") {
        let mut block = Vec::new();
        if block.try_reserve_exact(SIZE).is_err() {
            break;
        }
        block.resize(SIZE, 1_u8);
        std::mem::forget(black_box(block));
    }
    trap()
}

/// Asks for nearly all of the address space at once.
pub fn memory_is_refused() -> bool {
    #[cfg(target_arch = "wasm32")]
    return core::arch::wasm32::memory_grow::<0>(60_000) == usize::MAX;
    #[cfg(not(target_arch = "wasm32"))]
    true
}

/// Asks the host for random bytes, all in one call, and returns how many came.
pub fn random_bytes(count: u64) -> usize {
    random(count).len()
}

/// Asks the host for random bytes, all in one call.
#[cfg(all(target_os = "wasi", target_env = "p2"))]
pub fn random(count: u64) -> Vec<u8> {
    wasip2::random::random::get_random_bytes(count)
}

/// Asks the host for random bytes, all in one call.
#[cfg(all(target_os = "wasi", not(target_env = "p2")))]
pub fn random(count: u64) -> Vec<u8> {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        fn random_get(buffer: *mut u8, length: usize) -> u16;
    }
    let mut bytes = vec![0_u8; count as usize];
    // SAFETY: the host writes at most `length` bytes, which the vector owns.
    let error = unsafe { random_get(bytes.as_mut_ptr(), bytes.len()) };
    if error == 0 { bytes } else { Vec::new() }
}

/// The machine's own device.
#[cfg(not(target_os = "wasi"))]
pub fn random(count: u64) -> Vec<u8> {
    use std::io::Read;

    let mut bytes = vec![0_u8; count as usize];
    let read =
        std::fs::File::open("/dev/urandom").and_then(|mut device| device.read_exact(&mut bytes));
    if read.is_ok() { bytes } else { Vec::new() }
}
