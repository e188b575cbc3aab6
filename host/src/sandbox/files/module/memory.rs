//! What a module hands over in its memory, as far as one call takes it.

use wasmtime_wasi::p1::types::{self, Ciovec, Iovec};
use wiggle::{GuestMemory, GuestPtr};

use super::Result;

/// The most bytes that one call reads or writes of a file; programs go on where it ended.
const LARGEST_PIECE: u32 = 1 << 20;

/// The most pieces that one call reads or writes, as on Linux.
const MOST_PIECES: u32 = 1024;

/// The longest path that is read out of a module's memory at all.
const LONGEST_PATH: u32 = 64 << 10;

pub(super) fn text(memory: &GuestMemory<'_>, text: GuestPtr<str>) -> Result<String> {
    if text.len() > LONGEST_PATH {
        return Err(types::Errno::Nametoolong.into());
    }
    Ok(memory.as_cow_str(text)?.into_owned())
}

/// The first of the pieces that is not empty, or as much of it as one call takes.
pub(super) fn first_piece(memory: &GuestMemory<'_>, pieces: GuestPtr<[Ciovec]>) -> Result<Vec<u8>> {
    if pieces.len() > MOST_PIECES {
        return Err(types::Errno::Inval.into());
    }
    for piece in pieces.iter() {
        let piece = memory.read(piece?)?;
        if piece.buf_len > 0 {
            return Ok(memory.to_vec(piece.buf.as_array(piece.buf_len.min(LARGEST_PIECE)))?);
        }
    }
    Ok(Vec::new())
}

pub(super) fn first_place(
    memory: &GuestMemory<'_>,
    pieces: GuestPtr<[Iovec]>,
) -> Result<GuestPtr<[u8]>> {
    if pieces.len() > MOST_PIECES {
        return Err(types::Errno::Inval.into());
    }
    for piece in pieces.iter() {
        let piece = memory.read(piece?)?;
        if piece.buf_len > 0 {
            return Ok(piece.buf.as_array(piece.buf_len.min(LARGEST_PIECE)));
        }
    }
    Ok(GuestPtr::new((0, 0)))
}
