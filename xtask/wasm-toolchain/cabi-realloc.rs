//! `cabi_realloc`: how a host, or the preview1 adapter, gets memory inside a component.
//!
//! Weak, so that a guest with its own (made by wit-bindgen) keeps that one.
#![no_std]
#![feature(linkage)]

use core::ffi::c_void;
use core::ptr::null_mut;

unsafe extern "C" {
    fn realloc(memory: *mut c_void, size: usize) -> *mut c_void;
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void;
}

/// What malloc aligns to by itself.
const MALLOC_ALIGN: usize = 8;

#[linkage = "weak"]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cabi_realloc(
    memory: *mut c_void,
    old_size: usize,
    align: usize,
    new_size: usize,
) -> *mut c_void {
    if new_size == 0 {
        // Nothing is stored there, but the address must be aligned and not null.
        return align as *mut c_void;
    }
    let fresh = unsafe {
        match old_size {
            0 if align > MALLOC_ALIGN => aligned_alloc(align, new_size.next_multiple_of(align)),
            0 => realloc(null_mut(), new_size),
            _ => realloc(memory, new_size),
        }
    };
    if fresh.is_null() {
        core::arch::wasm32::unreachable();
    }
    fresh
}
