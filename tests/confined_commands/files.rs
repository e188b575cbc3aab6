//! Files: only what was granted, and only what was granted of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use hookcell::config::{Access, Sandbox};
use hookcell::outcome::FailureKind;

use crate::hook::{exec, sh};
use crate::{bare, confined, failure, grants, needs_landlock, said};

/// A folder with a file that says `secret`, which no hook was granted.
fn secret() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("file");
    fs::write(&file, "secret").unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

#[tokio::test]
async fn what_was_not_granted_cannot_be_read() {
    needs_landlock!();
    let (folder, file) = secret();
    let folder = folder.path().display();
    let denied = |stderr: &str| stderr.matches("Permission denied").count();
    let (stdout, stderr) = said(&bare(exec("cat", &[&file])), 1).await;
    assert_eq!((stdout.as_str(), denied(&stderr)), ("", 1), "{stderr}");
    let (stdout, stderr) = said(
        &bare(sh(&format!("ls {folder}; ls /root /home /tmp /proc /opt"))),
        2,
    )
    .await;
    assert_eq!((stdout.as_str(), denied(&stderr)), ("", 6), "{stderr}");
    // Its own folder neither, and what the user's other processes are.
    let hook = bare(sh(
        "cat own; cat /proc/$PPID/environ /proc/self/status; cat /etc/shadow",
    ));
    hook.script("own", "secret");
    let (stdout, stderr) = said(&hook, 1).await;
    assert_eq!((stdout.as_str(), denied(&stderr)), ("", 4), "{stderr}");
}

#[tokio::test]
async fn what_was_granted_can_be_read_and_run_and_not_written() {
    needs_landlock!();
    let (_folder, file) = secret();
    // A file alone, and the folder of the hook by each of its names.
    let (stdout, _) = said(
        &confined(exec("cat", &[&file]), grants(&[(&file, Access::Read)])),
        0,
    )
    .await;
    assert_eq!(stdout, "secret");
    for path in ["${workspace}", ".", "${workspace}/below/.."] {
        let script = "ls; cat below/file; ./script; \
             echo x >>below/file; true >below/file; echo x >new; rm below/file; mv below other; \
             mkdir new; ln -s a new; ln below/file new; mkfifo new; truncate -s 0 below/file; ls";
        let hook = confined(sh(script), grants(&[(path, Access::Read)]));
        fs::create_dir(hook.folder().join("below")).unwrap();
        fs::write(hook.folder().join("below/file"), "kept\n").unwrap();
        hook.script("script", "#!/bin/sh\necho run\n");
        let (stdout, stderr) = said(&hook, 0).await;
        assert_eq!(stdout, "below\nscript\nkept\nrun\nbelow\nscript\n");
        assert_eq!(stderr.matches("Permission denied").count(), 10, "{stderr}");
        assert_eq!(
            fs::read_to_string(hook.folder().join("below/file")).unwrap(),
            "kept\n"
        );
    }
}

#[tokio::test]
async fn what_was_granted_for_writing_can_be_written() {
    needs_landlock!();
    let script = "set -e; cd out; echo a >a; echo b >>a; cat a; mv a b; ln b c; ln -s b d; mkdir e; \
         mv c e; truncate -s 1 b; mkfifo f; rm d f e/c; rmdir e; mv b ../other; ls; ls ../other";
    let hook = confined(
        sh(script),
        grants(&[
            ("${workspace}/out", Access::Write),
            ("${workspace}/other", Access::Write),
        ]),
    );
    for folder in ["out", "other"] {
        fs::create_dir(hook.folder().join(folder)).unwrap();
    }
    assert_eq!(
        said(&hook, 0).await,
        ("a\nb\nb\n".to_owned(), String::new())
    );
    assert_eq!(
        fs::read_to_string(hook.folder().join("other/b")).unwrap(),
        "a"
    );
    // Not beside them, and no devices.
    let script = "echo x >new; rm -r out; mknod out/null c 1 3; touch out/kept";
    let hook = confined(sh(script), grants(&[("out", Access::Write)]));
    fs::create_dir(hook.folder().join("out")).unwrap();
    let (_, stderr) = said(&hook, 0).await;
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    let left: Vec<_> = fs::read_dir(hook.folder()).unwrap().collect();
    assert_eq!(left.len(), 1);
    assert!(hook.folder().join("out/kept").exists());
}

#[tokio::test]
async fn a_link_leads_nowhere_that_was_not_granted() {
    needs_landlock!();
    let (_folder, file) = secret();
    let script =
        format!("cat link; ln -s {file} new; cat new; ln {file} hard; mv {file} moved; ls");
    let hook = confined(sh(&script), grants(&[("${workspace}", Access::Write)]));
    symlink(&file, hook.folder().join("link")).unwrap();
    let (stdout, stderr) = said(&hook, 0).await;
    assert_eq!(stdout, "link\nnew\n", "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "secret");
}

#[tokio::test]
async fn the_program_that_is_started_needs_no_grant_and_its_neighbours_do() {
    needs_landlock!();
    let hook = bare(exec("./run", &[]));
    hook.script("run", "#!/bin/sh\necho ran; ./other\n");
    hook.script("other", "#!/bin/sh\necho other\n");
    let (stdout, stderr) = said(&hook, 126).await;
    assert_eq!(stdout, "ran\n");
    assert!(stderr.contains("Permission denied"), "{stderr}");
}

#[tokio::test]
async fn a_program_whose_interpreter_may_not_be_run_says_what_to_grant() {
    needs_landlock!();
    let hook = bare(exec("./run", &[]));
    let folder = hook.folder();
    fs::copy("/bin/sh", folder.join("shell")).unwrap();
    hook.script(
        "run",
        format!("#!{}\necho ran\n", folder.join("shell").display()),
    );
    let failure = failure(hook.run().await);
    assert_eq!(failure.kind, FailureKind::NotStarted);
    assert_eq!(
        failure.message,
        "`./run` was not started: Permission denied (os error 13); in a `sandbox` a program, its \
         loader, and what a script's first line names must be the system's or granted in \
         `sandbox.filesystem`"
    );
    let hook = confined(hook, grants(&[("shell", Access::Read)]));
    assert_eq!(said(&hook, 0).await.0, "ran\n");
}

#[tokio::test]
async fn a_hook_has_a_folder_for_temporary_files_while_it_runs() {
    needs_landlock!();
    let script = "stat -c %a $TMPDIR; file=$(mktemp); echo x >$file; cat $file; mkdir -p $TMPDIR/a/b; \
         echo $TMPDIR";
    let (stdout, stderr) = said(&bare(sh(script)), 0).await;
    let (before, folder) = stdout.trim_end().rsplit_once('\n').unwrap();
    assert_eq!((before, stderr.as_str()), ("700\nx", ""));
    assert!(!fs::exists(folder).unwrap());
    // Nor is there one after a timeout, or left by a run that was given up.
    let script = "echo $TMPDIR >out/folder; touch $TMPDIR/x; sleep 1000";
    for give_up in [false, true] {
        let hook = confined(sh(script), grants(&[("out", Access::Write)]));
        fs::create_dir(hook.folder().join("out")).unwrap();
        let hook = hook.timeout(std::time::Duration::from_millis(700));
        let file = hook.folder().join("out/folder");
        let folder = if give_up {
            tokio::select! {
                _ = hook.run() => panic!("it ended"),
                folder = crate::hook::wait_for(|| {
                    fs::read_to_string(&file).ok().filter(|it| it.ends_with('\n'))
                }) => folder,
            }
        } else {
            crate::hook::assert_timed_out(&hook.run().await, "0.7");
            fs::read_to_string(&file).unwrap()
        };
        crate::hook::wait_for(|| (!fs::exists(folder.trim_end()).unwrap()).then_some(())).await;
    }
}

#[tokio::test]
async fn a_grant_that_is_not_there_is_a_failure() {
    for (path, message) in [
        (
            "gone",
            "`sandbox.filesystem` grants `gone`, which is `{}/gone`, and it cannot be used: No such file or directory (os error 2)",
        ),
        (
            "${workspace}/file/x",
            "`sandbox.filesystem` grants `${workspace}/file/x`, which is `{}/file/x`, and it cannot be used: Not a directory (os error 20)",
        ),
    ] {
        let hook = confined(
            sh("true"),
            Sandbox {
                best_effort: true,
                ..grants(&[(path, Access::Write)])
            },
        );
        fs::write(hook.folder().join("file"), "").unwrap();
        let failure = failure(hook.run().await);
        assert_eq!(failure.kind, FailureKind::GrantUnavailable);
        assert_eq!(
            failure.message,
            message.replace("{}", hook.folder().to_str().unwrap())
        );
    }
}

#[test]
fn home_is_the_users() {
    needs_landlock!();
    let home = tempfile::tempdir().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(home.path().join("file"), "mine").unwrap();
    crate::hook::alone(
        "files::home_is_the_users",
        &[("HOME", home.path().to_str().unwrap())],
        async || {
            for path in ["~", "~/file", "${home}/file"] {
                let hook = confined(sh("cat ~/file"), grants(&[(path, Access::Read)]));
                assert_eq!(said(&hook, 0).await.0, "mine");
            }
            let (stdout, _) = said(&bare(sh("cat ~/file")), 1).await;
            assert_eq!(stdout, "");
        },
    );
}
