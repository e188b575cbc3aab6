use super::*;

fn deny(patterns: &[&str]) -> Deny {
    Deny::new(
        &patterns
            .iter()
            .map(|it| (*it).to_owned())
            .collect::<Vec<_>>(),
    )
}

fn hides(patterns: &[&str], path: &str) -> bool {
    deny(patterns).hides(path, false).is_some()
}

fn protects(path: &str) -> Option<Reason> {
    deny(&[]).protects(path, false, true)
}

#[test]
fn every_default_is_a_pattern() {
    for pattern in [HIDDEN, ALLOWED, PROTECTED].concat() {
        assert!(is_pattern(pattern), "{pattern}");
        assert!(
            !pattern.contains('/') || pattern.starts_with("**/"),
            "{pattern} would hold at the granted folder alone"
        );
    }
}

#[test]
fn what_is_no_pattern_is_refused_and_denies_everything() {
    for text in [
        "", "/", "//", "!x", "..", "a/../b", "./a", "a//b", "a\0", "[a", "a\\", "a//",
    ] {
        assert!(!is_pattern(text), "{text:?}");
        assert!(hides(&[text], "b"), "{text:?}");
    }
    for text in [
        "*.pem",
        "secrets/",
        "/config/keys",
        "**",
        "a/**/b",
        "a?[0-9]",
        "é",
    ] {
        assert!(is_pattern(text), "{text:?}");
    }
}

#[test]
fn a_name_fits_at_any_depth_and_everything_below_it() {
    for path in ["key", "a/key", "a/b/key", "key/x", "a/key/b/c"] {
        assert!(hides(&["key"], path), "{path}");
    }
    for path in ["keys", "a/keyring", "ke", "a"] {
        assert!(!hides(&["key"], path), "{path}");
    }
    assert!(hides(&["*.pem"], "a/b.pem"));
    assert!(!hides(&["*.pem"], "a/b.pem2"));
}

#[test]
fn a_slash_holds_a_pattern_at_the_granted_folder() {
    for pattern in ["/config/keys", "config/keys"] {
        assert!(hides(&[pattern], "config/keys"));
        assert!(hides(&[pattern], "config/keys/a"));
        assert!(!hides(&[pattern], "a/config/keys"));
        assert!(!hides(&[pattern], "config"));
    }
    assert!(hides(&["/a"], "a"));
    assert!(!hides(&["/a"], "b/a"));
}

#[test]
fn stars_cross_folders_only_as_two() {
    assert!(hides(&["a/**/b"], "a/b"));
    assert!(hides(&["a/**/b"], "a/x/y/b"));
    assert!(!hides(&["a/*/b"], "a/x/y/b"));
    assert!(!hides(&["/*.txt"], "a/b.txt"));
    assert!(hides(&["a/**"], "a/b"));
    assert!(!hides(&["a/**"], "a"));
    assert!(hides(&["**/x/y"], "a/x/y"));
}

#[test]
fn a_trailing_slash_is_for_folders() {
    let deny = deny(&["secrets/", "/a/b/"]);
    assert_eq!(deny.hides("x/secrets", true), Some(Reason::Own));
    assert_eq!(deny.hides("x/secrets", false), None);
    assert_eq!(deny.hides("x/secrets/file", false), Some(Reason::Own));
    assert_eq!(deny.hides("a/b", true), Some(Reason::Own));
    assert_eq!(deny.hides("x/a/b", true), None);
}

#[test]
fn braces_and_escapes_are_those_of_gitignore() {
    assert!(hides(&["{a,b}"], "{a,b}"));
    assert!(!hides(&["{a,b}"], "a"));
    assert!(hides(&["\\*"], "*"));
    assert!(!hides(&["\\*"], "a"));
    assert!(hides(&["[{]"], "{"));
}

#[test]
fn case_and_what_filesystems_leave_out_make_no_difference() {
    for path in [".ENV", ".Env", ".e\u{200d}nv", "a/.SSH/x", ".\u{17f}sh"] {
        assert_eq!(
            deny(&[]).hides(path, false),
            Some(Reason::Default),
            "{path}"
        );
    }
    assert!(hides(&["Straße"], "STRASSE"));
    // The Kelvin sign is a k to filesystems that fold case.
    assert_eq!(protects(".hoo\u{212a}cell/x"), Some(Reason::Default));
}

#[test]
fn defaults_hold_at_any_depth() {
    for path in [
        ".env",
        "a/.env",
        ".env.production",
        ".ssh/config",
        "home/.aws/credentials",
        "id_ed25519",
    ] {
        assert_eq!(
            deny(&[]).hides(path, false),
            Some(Reason::Default),
            "{path}"
        );
    }
    for path in [
        ".env.example",
        "a/.env.SAMPLE",
        ".envx",
        ".aws/config",
        "id_rsa.pub",
    ] {
        assert_eq!(deny(&[]).hides(path, false), None, "{path}");
    }
    assert_eq!(
        deny(&[]).hides(".env/.env.example", false),
        Some(Reason::Default),
        "an allowed name in a hidden folder"
    );
    assert_eq!(
        deny(&[".env.example"]).hides(".env.example", false),
        Some(Reason::Own)
    );
    for path in [
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".hookcell/hooks.json",
        ".mcp.json",
    ] {
        assert_eq!(protects(path), Some(Reason::Default), "{path}");
        assert_eq!(deny(&[]).hides(path, false), None, "{path} may be read");
    }
    for path in ["src/main.rs", ".hookcell/tool-use.log"] {
        assert_eq!(protects(path), None, "{path}");
    }
    for path in [".hookcell", ".hookcell/x.wasm", ".hookcell/a/b.log"] {
        assert_eq!(protects(path), Some(Reason::Default), "{path}");
    }
}

#[test]
fn a_path_may_be_asked_about_without_what_it_lies_in() {
    let deny = deny(&["key"]);
    for (path, expected) in [
        ("key", Some(Reason::Own)),
        ("a/KEY", Some(Reason::Own)),
        ("key/a", None),
        ("a/.env", Some(Reason::Default)),
        (".env/a", None),
        (".env.example", None),
    ] {
        assert_eq!(deny.hides_exactly(path, false), expected, "{path}");
    }
}

#[test]
fn what_leads_to_a_denied_path_stays_where_it_is() {
    assert_eq!(protects("a/.aws"), Some(Reason::Default));
    assert_eq!(
        deny(&[]).protects(".aws", true, false),
        None,
        "it may be made"
    );
    assert_eq!(protects("a"), None);
    let deny = deny(&["/a/b/c", "/x/**/y", "name"]);
    for path in ["a", "a/b", "A/B", "x", "x/1", "x/1/2"] {
        assert_eq!(deny.protects(path, true, true), Some(Reason::Own), "{path}");
    }
    for path in ["b", "a/x", "a/b/d", "y"] {
        assert_eq!(deny.protects(path, true, true), None, "{path}");
    }
}

#[test]
fn the_defaults_are_all_in_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
    let documentation = std::fs::read_to_string(path).unwrap();
    for pattern in [HIDDEN, ALLOWED, PROTECTED].concat() {
        let shown = format!("`{}`", pattern.strip_prefix("**/").unwrap_or(pattern));
        assert!(documentation.contains(&shown), "{shown}");
    }
}
