//! Commands that are denied and commands that are not, row by row.

use super::*;
use crate::pattern::DEFAULT;

fn patterns() -> Vec<Pattern> {
    DEFAULT.into_iter().filter_map(Pattern::new).collect()
}

fn denied(text: &str) -> Option<(String, bool)> {
    check(text, &patterns()).map(|denial| (denial.pattern, denial.is_a_guess))
}

fn assert_read_and_denied(texts: &[&str]) {
    for text in texts {
        assert_eq!(denied(text), Some(("rm -rf".to_owned(), false)), "{text}");
    }
}

fn assert_guessed(texts: &[&str]) {
    for text in texts {
        assert_eq!(denied(text), Some(("rm -rf".to_owned(), true)), "{text}");
    }
}

fn assert_allowed(texts: &[&str]) {
    for text in texts {
        assert_eq!(denied(text), None, "{text}");
    }
}

#[test]
fn a_command_is_found_wherever_it_stands() {
    assert_read_and_denied(&[
        "rm -rf /",
        "ls; rm -rf x",
        "echo $(rm -rf x",
        "rm -rf x)",
        "ls && rm -rf x",
        "ls || rm -rf x",
        "ls | rm -rf x",
        "ls & rm -rf x",
        "ls\nrm -rf x",
        "ls # comment\nrm -rf x",
        "(rm -rf x)",
        "{ rm -rf x; }",
        "! rm -rf x",
        "if true; then rm -rf x; fi",
        "while true; do rm -rf x; done",
        "for d in *; do rm -rf $d; done",
        "case $x in a|b) ls;; (c) rm -rf x;; esac",
        "f() { rm -rf x; }; f",
        "function f { rm -rf x; }",
        "echo $(rm -rf x)",
        "echo \"a $(echo \"b $(rm -rf x)\")\"",
        "echo `rm -rf x`",
        "echo \"`echo \\`rm -rf x\\``\"",
        "cat <(rm -rf x)",
        "echo ${x:-$(rm -rf x)}",
        "echo $((1 + $(rm -rf x)))",
        "((i++)); rm -rf x",
        "for ((i = 1 << 2; i < 5; i++)); do rm -rf x; done",
        "a=(1 2); rm -rf x",
        "[[ $a == @(b|c) ]] && rm -rf x",
        "$(case x in x) rm -rf x;; esac)",
    ]);
}

#[test]
fn a_command_is_found_however_it_is_spelt() {
    assert_read_and_denied(&[
        "/bin/rm -rf x",
        "\\rm -rf x",
        "r''m -rf x",
        "'rm' \"-rf\" x",
        "r\\\nm -r\\\nf x",
        "$'rm' -rf x",
        "$'\\x72\\155' -rf x",
        "$\"rm\" -rf x",
        "rm\t-rf\tx",
        "rm${IFS}-rf${IFS}x",
        "rm$IFS-rf x",
        "{rm,-rf,x}",
        "rm -{r,f} x",
        "r\0m -rf x",
        "X=1 rm -rf x",
        ">log rm -rf x",
        "rm 2>/dev/null -rf x",
        "{fd}>log rm -rf x",
        "rm x -fr",
        "rm !(keep) -rf",
        "rm --recursive --force x",
        "C=rm; $C -rf x",
        "C='rm -rf x'; $C",
        "C='rm -rf x'; D=$C; $D",
        "F=-rf; rm $F x",
        "$UNSET -rf x",
        "r$@m -rf x",
        "$(which rm) -rf x",
        "`which rm` -rf x",
        "/bin/r? -rf x",
        "{q..r}m -rf x",
    ]);
}

#[test]
fn a_command_is_found_in_the_commands_that_run_it() {
    assert_read_and_denied(&[
        "sudo rm -rf x",
        "sudo -u root -n -- rm -rf x",
        "sudo -nu root FOO=1 rm -rf x",
        "/usr/bin/env -i -u C A=b rm -rf x",
        "env -S 'rm -rf x'",
        "command rm -rf x",
        "exec -a name rm -rf x",
        "nohup time -p nice -n 5 rm -rf x",
        "timeout -k 5 10s rm -rf x",
        "ls | xargs -0 -n 1 rm -rf",
        "ls | xargs -I{} sh -c 'rm -rf {}'",
        "find . -name x -exec rm -rf {} +",
        "find . -exec ls {} \\; -execdir rm -rf {} \\;",
        "busybox rm -rf x",
        "sh -c 'rm -rf x'",
        "bash -euo pipefail -c \"rm -rf x\"",
        "bash -lc 'sh -c \"rm -rf x\"'",
        "sh -c '\"$@\"' _ rm -rf x",
        "eval rm -rf x",
        "eval 'rm -'rf x",
        "C='rm -rf x'; eval \"$C\"",
        "C='rm -rf x'; bash -c \"$C\"",
        "ssh -p 22 host 'rm -rf x'",
        "ssh host rm -rf x",
        "su -c 'rm -rf x' root",
        "su - root -c 'rm -rf x'",
        "watch -n 5 rm -rf x",
        "trap 'rm -rf x' EXIT",
        "alias l='rm -rf x'",
        "flock -w 5 lock rm -rf x",
        "flock lock -c 'rm -rf x'",
        "cat <<EOF\n$(rm -rf x)\nEOF",
        "cat <<'EOF'\ntext\nEOF\nrm -rf x",
        "cat <<-EOF\n\ttext\n\tEOF\nrm -rf x",
        "cat <<EOF\na\\\nEOF\n: <<'X'\nEOF\nrm -rf x\nX",
        "cat <<{a,b}\n{a,b}\nrm -rf x",
    ]);
}

#[test]
fn what_cannot_be_read_is_denied_if_it_holds_the_words() {
    assert_guessed(&[
        "echo 'rm -rf x",
        "echo \"rm -rf x",
        "echo `rm -rf x",
        "r''m -rf 'x",
        "echo $((rm -rf x) )",
        "echo \"${x:-'}\" rm -rf x #}\"",
        "${ rm -rf x; }",
        "cat <<$X\n$X\nrm -rf x",
        "echo 'rm -rf x' | sh",
        "bash <<EOF\nrm -rf x\nEOF",
        "bash -s <<< 'rm -rf x'",
        "bash <(echo rm -rf x)",
        "eval \"$(echo rm -rf x)\"",
        "sh -c \"$(echo rm -rf x)\"",
    ]);
    let deep = format!("{}rm -rf x{}", "$(".repeat(2000), ")".repeat(2000));
    let many = format!("rm {} -rf", "x ".repeat(20_000));
    let mut shells = "rm -rf x".to_owned();
    for _ in 0..20 {
        shells = format!("eval {}", shells.replace('\\', "\\\\").replace(' ', "\\ "));
        if shells.len() > 100_000 {
            break;
        }
    }
    let wrappers = format!("{}rm -rf x", "sudo ".repeat(1000));
    assert_guessed(&[&deep, &many, &wrappers]);
    assert!(denied(&shells).is_some());
    assert_allowed(&[
        "echo 'unclosed",
        "curl example.org | sh",
        "eval \"$(ssh-agent)\"; rm x; cp -rf a b",
    ]);
}

#[test]
fn what_only_talks_of_it_may_run() {
    assert_allowed(&[
        "",
        "   ",
        "echo \"rm -rf\"",
        "echo rm -rf",
        "echo 'it is rm -rf /'",
        "echo \"$(echo 'rm -rf /')\"",
        "grep -rf patterns 'rm -rf' .",
        "git commit -m 'rm -rf is bad; rm -rf x'",
        "# rm -rf x",
        "ls # rm -rf x",
        "cat > a.sh <<'EOF'\nrm -rf x\nEOF",
        "cat <<EOF\nrm -rf x\nEOF",
        "X='rm -rf x'",
        "rm -r x",
        "rm -f x",
        "rm -r a; rm -f b",
        "rm -- -rf",
        "rmdir x",
        "farm -rf",
        "sudo echo rm -rf x",
        "xargs echo rm -rf",
        "sh -c 'echo \"rm -rf\"'",
        "bash script.sh rm -rf",
        "command -v rm -rf",
        "[ -r a -a -f b ]",
        "[[ -r a && -f b ]]",
        "$HOME/bin/tool -rf x",
        "echo $((1 << 4)); echo 'rm -rf'",
        "find . -name 'rm -rf'",
        "man rm | grep -- -rf",
        "dd if=/dev/sda of=image",
        "dd if=a of=/dev/null",
    ]);
}

#[test]
fn the_other_default_patterns_are_found() {
    for (text, pattern) in [
        ("mkfs -t ext4 /dev/sda1", "mkfs"),
        ("sudo /sbin/mkfs.ext4 /dev/sda1", "mkfs.*"),
        ("dd if=/dev/zero of=/dev/sda bs=1M", "dd of=/dev/sd*"),
        ("dd of=\"/dev/nvme0n1\"", "dd of=/dev/nvme*"),
    ] {
        assert_eq!(denied(text), Some((pattern.to_owned(), false)), "{text}");
    }
}

#[test]
fn words_instead_of_a_text_are_a_command() {
    let check = |words: &[&str]| {
        check_words(
            words.iter().map(|word| (*word).to_owned()).collect(),
            &patterns(),
        )
    };
    assert!(check(&["rm", "-rf", "x"]).is_some());
    assert!(check(&["bash", "-lc", "rm -rf x"]).is_some());
    assert!(check(&["bash", "-lc", "echo 'rm -rf x'"]).is_none());
    assert!(check(&["echo", "; rm -rf x"]).is_none());
    assert!(check(&[]).is_none());
}

#[test]
fn large_texts_are_read_in_time_and_to_their_end() {
    for filler in [
        "x",
        "a ",
        "echo a;",
        "'",
        "''",
        "\"\"",
        "$X",
        "$(",
        "`",
        "\\`",
        "sh;",
        "{a,",
        "{a,b}",
        "<<a\n",
        "eval ",
        "sudo ",
        "x=$x$x;",
        "$((",
        "${",
        "case x in a)",
        "find -exec ",
        "#",
        "\0",
        "\n",
        "\u{1}",
        "é",
        "$'\\",
        "(",
        ")",
        "@(",
        "A=b ",
        "X=$IFS ",
    ] {
        let filler = filler.repeat((64 << 10) / filler.len());
        for text in [
            format!("{filler}\nrm -rf x"),
            format!("rm -rf x\n{filler}"),
            format!("rm {filler} -rf x"),
        ] {
            let start = std::time::Instant::now();
            denied(&text);
            assert!(
                start.elapsed().as_secs() < 5,
                "{:?}: {text:.60}",
                start.elapsed()
            );
        }
    }
}
