//! The WIT package: it parses, and says of the world what the host holds to.

use wit_parser::UnresolvedPackageGroup;

#[test]
fn the_package_parses_and_holds_the_command_world() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit/hook.wit");
    let text = std::fs::read_to_string(path).unwrap();
    let group = UnresolvedPackageGroup::parse(path, &text).unwrap();
    assert_eq!(group.main.name.to_string(), "hookcell:hook@0.1.0");
    let worlds: Vec<&str> = group.main.worlds.iter().map(|(_, world)| world.name.as_str()).collect();
    assert_eq!(worlds, ["command-hook"]);
    assert!(group.main.worlds.iter().all(|(_, world)| world.docs.contents.is_some()), "every world is documented");
}
