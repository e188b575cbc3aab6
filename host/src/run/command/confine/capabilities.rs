//! The privileges of root, given up.
//!
//! Landlock limits root like anybody else, but root can do what has nothing to do with files: load
//! a module into the kernel, and be out. One privilege is kept, to read and write whatever the
//! ownership of a file says: it opens nothing that is not granted, and without it a hook in a
//! container could often not read its own project.

use caps::errors::CapsError;
use caps::{CapSet, Capability, CapsHashSet};

/// Gives up all capabilities but [`Capability::CAP_DAC_OVERRIDE`], which is kept if it is there.
pub(super) fn give_up() -> Result<(), CapsError> {
    let permitted = caps::read(None, CapSet::Permitted)?;
    let kept: CapsHashSet = permitted
        .into_iter()
        .filter(|&it| it == Capability::CAP_DAC_OVERRIDE)
        .collect();
    caps::set(None, CapSet::Effective, &kept)?;
    caps::set(None, CapSet::Permitted, &kept)?;
    caps::clear(None, CapSet::Inheritable)
}
