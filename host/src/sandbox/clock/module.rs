//! preview1's way to sleep, for a clock that sleeping alone moves.

use wasmtime::{Caller, Extern, Linker, Memory};

use super::RunClock;
use crate::sandbox::store::ModuleState;

/// Sizes and places of preview1's `subscription` and `event`, as its ABI lays them out.
mod abi {
    pub(super) const SUBSCRIPTION: usize = 48;
    pub(super) const TAG: usize = 8;
    pub(super) const CLOCK_ID: usize = 16;
    pub(super) const TIMEOUT: usize = 24;
    pub(super) const CLOCK_FLAGS: usize = 40;
    pub(super) const EVENT: usize = 32;
    pub(super) const EVENT_TYPE: usize = 10;
    pub(super) const EVENT_BYTES: usize = 16;
}

const SUCCESS: i32 = 0;
const EINVAL: i32 = 28;

/// The most that one call may wait for: its work is not counted as fuel.
const MOST: u32 = 4096;

/// One thing that is waited for: its `userdata`, its kind, and when it is ready.
struct Subscription {
    userdata: [u8; 8],
    kind: u8,
    end: u64,
}

/// Puts a `poll_oneoff` that lets time go by at once in the place of preview1's, for guests whose
/// clock is fixed.
pub(in crate::sandbox) fn link_module(linker: &mut Linker<ModuleState>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "wasi_snapshot_preview1",
        "poll_oneoff",
        |mut caller: Caller<'_, ModuleState>,
         subscriptions: u32,
         events: u32,
         count: u32,
         ready: u32|
         -> wasmtime::Result<i32> {
            let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
                return Err(wasmtime::Error::msg("missing required memory export"));
            };
            if count == 0 || count > MOST {
                return Ok(EINVAL);
            }
            let RunClock::Fixed(time) = &caller.data().provided.clock else {
                return Err(wasmtime::Error::msg("linked for another clock"));
            };
            let time = std::sync::Arc::clone(time);
            let Some(all) = read(&memory, &caller, subscriptions, count, time.now())? else {
                return Ok(EINVAL);
            };
            let first = all.iter().map(|it| it.end).min().unwrap_or(0);
            time.sleep_until(first);
            let mut written = 0;
            for subscription in all.iter().filter(|it| it.end <= first) {
                let mut event = [0_u8; abi::EVENT];
                event[..8].copy_from_slice(&subscription.userdata);
                event[abi::EVENT_TYPE] = subscription.kind;
                if subscription.kind != 0 {
                    // Streams never wait here: there is something to read or room to write.
                    event[abi::EVENT_BYTES] = 1;
                }
                let place = events as usize + written * abi::EVENT;
                memory.write(&mut caller, place, &event)?;
                written += 1;
            }
            let written = u32::try_from(written).unwrap_or(count);
            memory.write(&mut caller, ready as usize, &written.to_le_bytes())?;
            Ok(SUCCESS)
        },
    )?;
    Ok(())
}

/// Reads what is waited for; `None` if one of it is no subscription. Files and streams are ready
/// at once.
fn read(
    memory: &Memory,
    caller: &Caller<'_, ModuleState>,
    at: u32,
    count: u32,
    now: u64,
) -> wasmtime::Result<Option<Vec<Subscription>>> {
    let mut all = Vec::with_capacity(count as usize);
    for index in 0..count as usize {
        let mut bytes = [0_u8; abi::SUBSCRIPTION];
        memory.read(caller, at as usize + index * abi::SUBSCRIPTION, &mut bytes)?;
        let number = |place: usize| {
            let mut number = [0_u8; 8];
            number.copy_from_slice(&bytes[place..place + 8]);
            u64::from_le_bytes(number)
        };
        let kind = bytes[abi::TAG];
        let end = match kind {
            0 => {
                let clock = u32::from_le_bytes([
                    bytes[abi::CLOCK_ID],
                    bytes[abi::CLOCK_ID + 1],
                    bytes[abi::CLOCK_ID + 2],
                    bytes[abi::CLOCK_ID + 3],
                ]);
                let timeout = number(abi::TIMEOUT);
                let absolute = bytes[abi::CLOCK_FLAGS] & 1 == 1;
                match (clock, absolute) {
                    (0 | 1, false) => now.saturating_add(timeout),
                    (0, true) => timeout.saturating_sub(super::START * 1_000_000_000),
                    (1, true) => timeout,
                    _ => return Ok(None),
                }
            }
            1 | 2 => now,
            _ => return Ok(None),
        };
        let mut userdata = [0_u8; 8];
        userdata.copy_from_slice(&bytes[..8]);
        all.push(Subscription {
            userdata,
            kind,
            // What is past is ready now.
            end: end.max(now),
        });
    }
    Ok(Some(all))
}
