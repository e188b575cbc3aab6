//! A `UserPromptSubmit` hook that tells the model which branch and commit the project is at.

mod repository;

use std::path::Path;

use hookcell_guest::{Decision, Event};

use repository::Head;

fn main() {
    hookcell_guest::run(decide)
}

fn decide(event: &Event<'_>) -> Decision {
    let Some(cwd) = event.cwd() else {
        return Decision::none();
    };
    match repository::head(Path::new(&*cwd)) {
        Ok(Some(head)) => Decision::additional_context(text(&head)),
        Ok(None) => Decision::none(),
        Err(error) => {
            // A prompt without its context is no reason to fail, and the author is told why.
            let _ =
                std::io::Write::write_all(&mut std::io::stderr(), format!("{error}\n").as_bytes());
            Decision::none()
        }
    }
}

fn text(head: &Head) -> String {
    match head {
        Head::Branch {
            name,
            commit: Some(commit),
        } => format!("The git branch is {name}, at commit {commit}."),
        Head::Branch { name, commit: None } => {
            format!("The git branch is {name}, without commits.")
        }
        Head::Detached { commit } => format!("The git HEAD is detached, at commit {commit}."),
    }
}
