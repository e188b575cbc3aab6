//! What std may call and a wasi-libc of 2022 does not have: each answers "not supported", which is
//! what a hook in a sandbox without threads and sockets would be told anyway.
//!
//! All are weak: a libc that has the real one wins.
#![no_std]
#![feature(linkage)]

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;

const ENOTSUP: c_int = 58;
/// getaddrinfo's "the name cannot be resolved, and trying again will not help".
const EAI_FAIL: c_int = -4;

unsafe extern "C" {
    static mut errno: c_int;
}

/// Declares functions that set `errno` and return -1.
macro_rules! not_supported {
    ($($name:ident($($argument:ty),*);)*) => { $(
        #[linkage = "weak"]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($(_: $argument),*) -> c_int {
            unsafe { errno = ENOTSUP };
            -1
        }
    )* };
}

/// Declares functions that return one value and do nothing.
macro_rules! always {
    ($($name:ident($($argument:ty),*) = $value:expr;)*) => { $(
        #[linkage = "weak"]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($(_: $argument),*) -> c_int {
            $value
        }
    )* };
}

not_supported! {
    chmod(*const c_char, u32);
    fchmod(c_int, u32);
    socket(c_int, c_int, c_int);
    connect(c_int, *const c_void, u32);
    bind(c_int, *const c_void, u32);
    listen(c_int, c_int);
    setsockopt(c_int, c_int, c_int, *const c_void, u32);
    getsockname(c_int, *mut c_void, *mut u32);
    getpeername(c_int, *mut c_void, *mut u32);
    recvfrom(c_int, *mut c_void, usize, c_int, *mut c_void, *mut u32);
    sendto(c_int, *const c_void, usize, c_int, *const c_void, u32);
}

always! {
    pthread_attr_init(*mut c_void) = 0;
    pthread_attr_setstacksize(*mut c_void, usize) = 0;
    pthread_attr_destroy(*mut c_void) = 0;
    pthread_create(*mut c_void, *const c_void, *const c_void, *mut c_void) = ENOTSUP;
    pthread_join(*mut c_void, *mut c_void) = ENOTSUP;
    pthread_detach(*mut c_void) = ENOTSUP;
    getaddrinfo(*const c_char, *const c_char, *const c_void, *mut c_void) = EAI_FAIL;
}

#[linkage = "weak"]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn freeaddrinfo(_: *mut c_void) {}

#[linkage = "weak"]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gai_strerror(_: c_int) -> *const c_char {
    c"not supported".as_ptr()
}

#[linkage = "weak"]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realpath(_: *const c_char, _: *mut c_char) -> *mut c_char {
    unsafe { errno = ENOTSUP };
    null_mut()
}
