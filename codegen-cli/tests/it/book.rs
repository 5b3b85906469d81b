//! The commands of the book: their flags exist, and those of the pages about operations run in a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory as _};
use kubesmith::cli::Cli;

use crate::support::testdata;

/// Commands of the pages about operations that hack/newcomer.sh does not run: the page, the command or all of
/// them, and the reason.
const ELSEWHERE: [(&str, &str, &str); 2] = [
    ("upgrade.md", "", "crd.rs runs the page and compares the output"),
    (
        "certificates.md",
        "kubesmith generate --only crd,rbac,webhook,policy,deploy",
        "certificates.rs runs it",
    ),
];

fn book() -> PathBuf {
    testdata().join("../docs")
}

fn pages(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => pages(&path, out),
            false if path.extension().is_some_and(|end| end == "md") => out.push(path),
            false => {}
        }
    }
}

/// A line of code in a page.
struct Line<'a> {
    text: &'a str,
    /// Whether the line is in a block that hack/newcomer.sh runs.
    runs: bool,
    is_in_a_block: bool,
}

/// The commands of a page, in blocks and in code spans.
fn commands(page: &str) -> Vec<Line<'_>> {
    let mut out = Vec::new();
    let (mut block, mut runs) = (None, false);
    for line in page.lines() {
        match (line.strip_prefix("```"), block) {
            (Some(_), Some(_)) => (block, runs) = (None, false),
            (Some(language), None) => block = Some(language),
            (None, Some("console")) => {
                let text = line.strip_prefix("$ ");
                out.extend(text.map(|text| Line { text, runs, is_in_a_block: true }));
            }
            (None, Some("sh")) => out.push(Line { text: line, runs, is_in_a_block: true }),
            (None, Some(_)) => {}
            (None, None) => {
                runs = line == "<!-- run -->";
                let spans = line.split('`').skip(1).step_by(2);
                out.extend(spans.map(|text| Line { text, runs: false, is_in_a_block: false }));
            }
        }
    }
    out
}

/// The words of a command that must match the command line.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().take_while(|word| !["#", "|", ">", "&&", ";", "\\"].contains(word))
}

/// Checks a command's subcommands and flags.
fn check<'a>(mut command: &'a Command, words: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut is_after_values = false;
    for word in words {
        if let Some(flag) = word.strip_prefix("--") {
            let name = flag.split(['=', '[']).next().unwrap();
            let exists =
                |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
            if !exists(name) && !["help", "version", ""].contains(&name) {
                return Err(format!("{} has no flag --{name}", command.get_name()));
            }
            is_after_values = true;
        } else if !is_after_values && command.has_subcommands() {
            // `crd apply|status|migrate`
            let found = word.split('|').map(|name| {
                let subcommand = command.find_subcommand(name);
                subcommand.ok_or_else(|| format!("{} has no subcommand {name}", command.get_name()))
            });
            let found = found.collect::<Result<Vec<_>, _>>()?;
            command = found.last().unwrap();
        }
    }
    Ok(())
}

#[test]
fn commands_of_the_book_have_existing_flags() {
    let mut all = vec![testdata().join("../README.md"), testdata().join("../CHANGELOG.md")];
    pages(&book(), &mut all);
    let cli = Cli::command();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in all {
        let page = fs::read_to_string(&path).unwrap();
        for line in commands(&page) {
            let Some(text) = line.text.strip_prefix("kubesmith ") else { continue };
            count += 1;
            if let Err(error) = check(&cli, words(text)) {
                wrong.push(format!("{}: {}: {error}", path.display(), line.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 150, "{count}");
    for (text, error) in [
        ("crd install", "crd has no subcommand install"),
        ("generate --chek", "generate has no flag --chek"),
        ("crd apply x --operater a", "apply has no flag --operater"),
    ] {
        assert_eq!(check(&cli, words(text)), Err(error.to_owned()));
    }
}

#[test]
fn commands_of_the_pages_about_operations_run_in_a_test() {
    let mut unused: BTreeSet<(&str, &str)> =
        ELSEWHERE.iter().map(|(page, command, _)| (*page, *command)).collect();
    let script = fs::read_to_string(testdata().join("../hack/newcomer.sh")).unwrap();
    let names = script.split_once(" pages=(").unwrap().1.split_once(')').unwrap().0;
    let sourced = names.split(' ').map(|name| format!("{name}.md"));
    assert!(script.contains("source \"$newcomer/operations/observability.sh\""));
    let run: Vec<String> = sourced.chain(["observability.md".to_owned()]).collect();
    let mut all = Vec::new();
    pages(&book().join("operations"), &mut all);
    let mut count = 0;
    for path in all {
        let name = path.file_name().unwrap().to_str().unwrap();
        let page = fs::read_to_string(&path).unwrap();
        for line in commands(&page).iter().filter(|line| line.is_in_a_block) {
            if line.runs {
                assert!(run.iter().any(|one| one == name), "hack/newcomer.sh does not run {name}");
                count += 1;
                continue;
            }
            let entry = ELSEWHERE
                .iter()
                .find(|(page, command, _)| *page == name && ["", line.text].contains(command));
            let (page, command, _) = entry.unwrap_or_else(|| panic!("{name}: no test runs `{}`", line.text));
            unused.remove(&(*page, *command));
        }
    }
    assert!(unused.is_empty(), "{unused:?}");
    assert!(count >= 5, "{count}");
}
