//! The WIT package: it parses, and says of the world what the host holds to.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

use wit_parser::SourceMap;

#[test]
fn the_package_parses_and_holds_the_command_world() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/hook.wit");
    let text = std::fs::read_to_string(path).unwrap();
    let mut sources = SourceMap::new();
    sources.push_str("hook.wit", text);
    let Ok(group) = sources.parse() else {
        panic!("hook.wit does not parse")
    };
    assert_eq!(group.main.name.to_string(), "hookcell:hook@0.1.0");
    // Worlds of other packages that are included stand among them, without a name.
    let worlds: Vec<_> = group
        .main
        .worlds
        .iter()
        .map(|(_, world)| world)
        .filter(|it| !it.name.is_empty())
        .collect();
    let names: Vec<&str> = worlds.iter().map(|world| world.name.as_str()).collect();
    assert_eq!(names, ["command-hook"]);
    assert!(
        worlds.iter().all(|world| world.docs.contents.is_some()),
        "every world is documented"
    );
}
