//! Commands that run other commands: `sudo`, `xargs`, `sh -c` and their kind.

use crate::word::{Word, base_name};

/// What a command runs besides itself.
#[derive(Debug, PartialEq, Eq)]
pub enum Inner<'a> {
    /// A command of these words.
    Command(&'a [Word]),
    /// A text that a shell reads.
    Script(String),
    /// A script that is not in these words: it comes from standard input, from a file that another
    /// command makes, or is partly unknown.
    Unseen,
}

/// A program whose arguments, behind its own options, are a command.
struct Wrapper {
    name: &'static str,
    /// The options of one letter that take a value.
    letters: &'static str,
    /// The long options that take a value as a word of its own.
    longs: &'static [&'static str],
    /// Words between the options and the command: the duration of `timeout`.
    operands: usize,
    /// Whether the words are joined and read by a shell.
    joined: bool,
}

const fn wrapper(
    name: &'static str,
    letters: &'static str,
    longs: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        letters,
        longs,
        operands,
        joined: false,
    }
}

const fn joining(name: &'static str, letters: &'static str, operands: usize) -> Wrapper {
    Wrapper {
        name,
        letters,
        longs: &[],
        operands,
        joined: true,
    }
}

const WRAPPERS: [Wrapper; 38] = [
    wrapper("builtin", "", &[], 0),
    wrapper("busybox", "", &[], 0),
    wrapper("caffeinate", "tw", &[], 0),
    wrapper("chroot", "", &["--userspec", "--groups"], 1),
    wrapper("chrt", "TPD", &[], 1),
    wrapper("command", "", &[], 0),
    wrapper("coproc", "", &[], 0),
    wrapper("doas", "uC", &[], 0),
    wrapper("env", "uCa", &["--unset", "--chdir", "--argv0"], 0),
    wrapper("exec", "a", &[], 0),
    wrapper("fakeroot", "lsib", &[], 0),
    wrapper(
        "flock",
        "wE",
        &["--timeout", "--wait", "--conflict-exit-code"],
        1,
    ),
    wrapper("function", "", &[], 1),
    wrapper("ionice", "cnpPu", &["--class", "--classdata"], 0),
    wrapper("ltrace", "aeFlnopsuwx", &[], 0),
    wrapper("nice", "n", &["--adjustment"], 0),
    wrapper("nocorrect", "", &[], 0),
    wrapper("noglob", "", &[], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("nsenter", "tSG", &["--target", "--setuid", "--setgid"], 0),
    wrapper("pkexec", "", &["--user"], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("stdbuf", "ioe", &["--input", "--output", "--error"], 0),
    wrapper("strace", "abeEIoOpPsSuUX", &[], 0),
    wrapper(
        "sudo",
        "aCcDghpRrTtUu",
        &[
            "--user",
            "--group",
            "--host",
            "--prompt",
            "--chdir",
            "--chroot",
            "--role",
            "--type",
            "--other-user",
            "--close-from",
            "--command-timeout",
        ],
        0,
    ),
    wrapper(
        "systemd-run",
        "EHMpu",
        &[
            "--unit",
            "--property",
            "--setenv",
            "--description",
            "--slice",
        ],
        0,
    ),
    wrapper("taskset", "", &[], 1),
    wrapper("time", "fo", &["--format", "--output"], 0),
    wrapper("timeout", "ks", &["--kill-after", "--signal"], 1),
    wrapper("toybox", "", &[], 0),
    wrapper("unbuffer", "", &[], 0),
    wrapper(
        "unshare",
        "RwSG",
        &["--root", "--wd", "--setuid", "--setgid"],
        0,
    ),
    wrapper(
        "xargs",
        "adEILnPs",
        &[
            "--arg-file",
            "--delimiter",
            "--max-lines",
            "--max-args",
            "--max-procs",
            "--max-chars",
            "--process-slot-var",
        ],
        0,
    ),
    joining("eval", "", 0),
    joining("parallel", "aCdEIjLnNsS", 0),
    joining("ssh", "BbcDEeFIiJLlmOopQRSWw", 1),
    joining("trap", "", 0),
    joining("watch", "nq", 0),
];

const SHELLS: [&str; 9] = [
    "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "sh", "zsh",
];

/// What the command `words`, which has no assignments before it, runs.
pub fn inner(words: &[Word]) -> Vec<Inner<'_>> {
    let Some((first, arguments)) = words.split_first() else {
        return Vec::new();
    };
    let Some(program) = first.program() else {
        return Vec::new();
    };
    if SHELLS.contains(&program) {
        return of_shell(arguments);
    }
    match program {
        "find" => return of_find(arguments),
        "alias" => {
            return arguments
                .iter()
                .filter_map(Word::assignment)
                .map(|(_, value)| Inner::Script(value.to_owned()))
                .collect();
        }
        "su" | "runuser" | "script" => return of_option(arguments, "c", "--command"),
        // Only tells what would run.
        "command"
            if arguments
                .first()
                .is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) =>
        {
            return Vec::new();
        }
        _ => {}
    }
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == program) else {
        return Vec::new();
    };
    let mut found = match program {
        "env" => of_option(arguments, "S", "--split-string"),
        "flock" => of_option(arguments, "c", "--command"),
        _ => Vec::new(),
    };
    let rest = skip_options(arguments, wrapper);
    let rest = rest.get(wrapper.operands..).unwrap_or_default();
    if wrapper.joined {
        script(rest, &mut found);
    } else if !rest.is_empty() {
        found.push(Inner::Command(rest));
    }
    found
}

fn skip_options<'a>(arguments: &'a [Word], wrapper: &Wrapper) -> &'a [Word] {
    let mut index = 0;
    while let Some(word) = arguments.get(index) {
        let text = word.text.as_str();
        match (text.strip_prefix("--"), text.strip_prefix('-')) {
            (Some(""), _) => {
                index += 1;
                break;
            }
            (Some(_), _) => index += 1 + usize::from(wrapper.longs.contains(&text)),
            // A value is the rest of the cluster, or the next word if there is no rest.
            (None, Some(cluster)) => {
                let takes_value = cluster.find(|letter| wrapper.letters.contains(letter));
                index += 1 + usize::from(takes_value.is_some_and(|at| at + 1 == cluster.len()));
            }
            (None, None) => break,
        }
    }
    arguments.get(index..).unwrap_or_default()
}

/// `sh -c SCRIPT NAME ARGUMENT…`, `sh FILE`, or a shell that reads standard input.
fn of_shell(arguments: &[Word]) -> Vec<Inner<'_>> {
    let mut takes_script = false;
    let mut reads_input = false;
    let mut index = 0;
    while let Some(word) = arguments.get(index) {
        let Some(option) = word.text.strip_prefix(['-', '+']) else {
            break;
        };
        index += 1;
        if option.starts_with('-') {
            index += usize::from(matches!(option, "-rcfile" | "-init-file"));
            if option == "-" {
                break;
            }
            continue;
        }
        takes_script |= option.contains('c');
        reads_input |= option.contains('s');
        // `-o pipefail`, `-eO extglob`
        index += usize::from(option.ends_with(['o', 'O']));
    }
    let rest = arguments.get(index..).unwrap_or_default();
    let mut found = Vec::new();
    match rest.split_first() {
        Some((first, parameters)) if takes_script => {
            script(std::slice::from_ref(first), &mut found);
            // A script such as `"$@"` runs its parameters.
            if !parameters.is_empty() {
                found.extend([Inner::Command(parameters), Inner::Command(&parameters[1..])]);
            }
        }
        Some((file, _))
            if file.is_known()
                && !reads_input
                && !base_name(&file.text).is_empty()
                && file.text != "/dev/stdin" => {}
        _ => found.push(Inner::Unseen),
    }
    found
}

/// The commands behind `-exec` and its kind.
fn of_find(arguments: &[Word]) -> Vec<Inner<'_>> {
    let runs = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let ends = |word: &Word| matches!(word.text.as_str(), ";" | "+");
    arguments
        .split(ends)
        .filter_map(|part| part.iter().position(runs).and_then(|at| part.get(at + 1..)))
        .map(Inner::Command)
        .collect()
}

/// The script that an option holds: `su -c SCRIPT`, `env -SSCRIPT`.
fn of_option<'a>(arguments: &'a [Word], letter: &str, long: &str) -> Vec<Inner<'a>> {
    let mut found = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        let text = word.text.as_str();
        let attached = match (text.strip_prefix(long), text.strip_prefix('-')) {
            (Some(rest), _) => rest.strip_prefix('='),
            (None, Some(cluster)) if !cluster.starts_with('-') => {
                match cluster.split_once(letter) {
                    Some((_, rest)) => Some(rest).filter(|rest| !rest.is_empty()),
                    None => continue,
                }
            }
            _ => continue,
        };
        match attached {
            Some(text) if word.is_known() => found.push(Inner::Script(text.to_owned())),
            Some(_) => found.push(Inner::Unseen),
            None => script(arguments.get(index + 1..).unwrap_or_default(), &mut found),
        }
    }
    found
}

fn script<'a>(words: &'a [Word], found: &mut Vec<Inner<'a>>) {
    if !words.is_empty() {
        let texts: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
        found.push(Inner::Script(texts.join(" ")));
    }
    if !words.iter().all(Word::is_known) {
        found.push(Inner::Unseen);
    }
}
