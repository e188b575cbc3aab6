//! The patterns of `deny`: what may not be touched below a granted folder.

/// Whether `text` can be a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    let has_parent = text.split('/').any(|part| part == "..");
    !text.trim_matches('/').is_empty()
        && !text.contains('\0')
        && !text.starts_with('!')
        && !has_parent
}
