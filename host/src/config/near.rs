//! "Did you mean …?"

/// The known name that a wrong one is probably meant to be.
pub(super) fn nearest<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let bare = |name: &str| name.replace(['_', '-', '.', ' '], "").to_lowercase();
    let wrong = bare(&wrong[..wrong.floor_char_boundary(64)]);
    known
        .into_iter()
        .map(|name| {
            (
                strsim::normalized_damerau_levenshtein(&bare(name), &wrong),
                name,
            )
        })
        .filter(|(likeness, _)| *likeness >= 0.7)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

/// The same as help, if there is one.
pub(super) fn did_you_mean<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(wrong, known).map(|near| format!("did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["command", "component", "onFailure", "timeout", "PreToolUse"];
        for (wrong, near) in [
            ("comand", Some("command")),
            ("Timeout", Some("timeout")),
            ("on_failure", Some("onFailure")),
            ("onfailure", Some("onFailure")),
            ("pre-tool-use", Some("PreToolUse")),
            ("PreTolUse", Some("PreToolUse")),
            ("url", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, known), near, "{wrong}");
        }
    }
}
