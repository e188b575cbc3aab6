//! The random numbers that a guest is given.

use bytes::Bytes;
use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};
use wasmtime_wasi::WasiCtxBuilder;

/// Gives a guest numbers that depend on its own bytes and on the event's alone.
///
/// Whoever knows both knows the numbers: they are good for hash tables and for tests, and no secret
/// may be made of them.
pub(super) fn seed(digest: [u8; 32], event: &Bytes, context: &mut WasiCtxBuilder) {
    let seed: [u8; 32] = Sha256::new()
        .chain_update(digest)
        .chain_update(event)
        .finalize()
        .into();
    // One seed, and a stream of its own for each use.
    let stream = |number| {
        let mut numbers = ChaCha20Rng::from_seed(seed);
        numbers.set_stream(number);
        numbers
    };
    let mut third = stream(2);
    let insecure_seed = u128::from(third.next_u64()) << 64 | u128::from(third.next_u64());
    context
        .secure_random(stream(0))
        .insecure_random(stream(1))
        .insecure_random_seed(insecure_seed);
}
