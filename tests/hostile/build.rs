//! Lists the guests, so that one that no test names does not compile.
//!
//! `guests/NAME.wat` is a guest as text, `guests/NAME.rs` writes that text with a function `wat`.
//! Each becomes a function `guests::NAME`, which makes the .wasm file, and an entry of the macro
//! `foreach_guest!`.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("guests");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut guests = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let path = entry?.path();
        let part =
            |part: Option<&std::ffi::OsStr>| part.and_then(|it| it.to_str()).map(str::to_owned);
        match (part(path.file_stem()), part(path.extension())) {
            (Some(name), Some(kind)) if matches!(kind.as_str(), "wat" | "rs") => {
                guests.push((name, kind, path));
            }
            _ => {
                return Err(format!(
                    "`{}` is no guest: write NAME.wat or NAME.rs",
                    path.display()
                )
                .into());
            }
        }
    }
    guests.sort();
    let mut code = String::from(
        "/// Calls a macro with the name of each guest.\nmacro_rules! foreach_guest {\n    ($name:ident) => {\n",
    );
    for (name, ..) in &guests {
        writeln!(code, "        $name!({name});")?;
    }
    code.push_str("    };\n}\n");
    for (name, kind, path) in &guests {
        let text = if kind == "wat" {
            format!("include_str!({path:?})")
        } else {
            writeln!(code, "#[path = {path:?}]\nmod {name};")?;
            format!("{name}::wat()")
        };
        writeln!(
            code,
            "pub fn {name}() -> Vec<u8> {{\n    wat::parse_str({text}).unwrap()\n}}"
        )?;
    }
    std::fs::write(
        Path::new(&std::env::var("OUT_DIR")?).join("guests.rs"),
        code,
    )?;
    Ok(())
}
