//! The start file of a command, in place of the one in Debian's wasi-libc.
//!
//! That one leaves the constructors (which fetch the preopened folders) to the linker, and the
//! linker leaves them out as soon as some other object names `__wasm_call_ctors`, as the glue of
//! wit-bindgen does. Called by name, they always run.
#![no_std]

use core::ffi::c_int;

unsafe extern "C" {
    fn __wasm_call_ctors();
    fn __main_void() -> c_int;
    fn __wasm_call_dtors();
    fn _Exit(code: c_int) -> !;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn _start() {
    unsafe {
        __wasm_call_ctors();
        let code = __main_void();
        __wasm_call_dtors();
        // A return is exit 0; anything else has to be said.
        if code != 0 {
            _Exit(code);
        }
    }
}
