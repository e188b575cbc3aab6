//! SECURITY.md: every threat names its test, and every test that it names is there.
#![allow(
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

use std::path::Path;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The text of all Rust files below a folder.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_row_of_the_threat_model_names_tests_that_exist() {
    let mut text = String::new();
    for folder in ["tests", "host/src"] {
        sources(&Path::new(REPOSITORY).join(folder), &mut text);
    }
    let security = std::fs::read_to_string(format!("{REPOSITORY}/SECURITY.md")).unwrap();
    let rows: Vec<Vec<&str>> = security
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .skip(2)
        .collect();
    assert!(rows.len() >= 20, "{} rows", rows.len());
    for row in rows {
        let names: Vec<&str> = row[3]
            .split(',')
            .map(|name| name.trim().trim_matches('`'))
            .collect();
        for name in names {
            assert!(!name.is_empty(), "no test for: {}", row[2]);
            assert!(
                text.contains(&format!("fn {name}()")),
                "there is no test `{name}`"
            );
        }
    }
}
