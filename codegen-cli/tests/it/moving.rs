//! The steps of docs/from-go/moving.md: its commands print the shown output, its listings are in the files,
//! and its changes can be applied.

use std::fs;

use crate::support::{self, testdata};

/// The fenced blocks of a section: language and text.
fn blocks<'p>(page: &'p str, section: &str) -> Vec<(&'p str, &'p str)> {
    let section = page.split("\n## ").find(|text| text.starts_with(section)).unwrap();
    let fenced = section.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap()).collect()
}

/// One side of a diff: the lines that begin with `side`, and the unchanged ones.
fn side(lines: &str, side: char) -> String {
    let kept = lines.lines().filter(|line| line.starts_with([' ', side]));
    kept.map(|line| format!("{}\n", &line[1..])).collect()
}

fn run(folder: &support::Crate, console: &str) {
    let mut lines = console.lines().peekable();
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ kubesmith ").unwrap_or_else(|| panic!("{line}"));
        let output = folder.run(&command.split(' ').collect::<Vec<_>>());
        let printed = [output.stderr, output.stdout].map(|text| String::from_utf8(text).unwrap()).concat();
        let mut printed_lines = printed.lines();
        while let Some(shown) = lines.next_if(|line| !line.starts_with('$')) {
            // The page omits lines.
            let is_there = printed_lines.any(|line| line.starts_with(shown));
            assert!(is_there, "{command}\n{shown}\n{printed}");
        }
    }
}

/// Follows the steps of the page: `case` has the Go types, which become `package` of a module, and `example`
/// is the resulting operator.
fn walk(section: &str, case: &str, package: &str, example: &str) {
    let page = fs::read_to_string(testdata().join("../docs/from-go/moving.md")).unwrap();
    let types = fs::read_to_string(testdata().join(case).join("go/types.go")).unwrap();
    let folder = support::Crate { dir: tempfile::tempdir().unwrap() };
    folder.write("go.mod", "module example.com/operator\n");
    folder.write(&format!("api/{package}/types.go"), &types);
    let controller = support::Crate { dir: tempfile::tempdir().unwrap() };
    for part in ["src/lib.rs", "src/reconcile.rs", "tests/e2e/takeover.rs"] {
        let path = testdata().join("../examples").join(example).join("controller").join(part);
        controller.write(part, fs::read_to_string(path).unwrap_or_default());
    }
    let controller = controller.tree("");
    for (language, text) in blocks(&page, section) {
        let written = folder.tree(example);
        match language {
            "console" => run(&folder, text),
            "go" => assert!(types.contains(text), "{text}"),
            "rust,ignore" => {
                let mut files = written.values().chain(controller.values());
                assert!(files.any(|file| file.contains(text)), "{text}");
            }
            "diff" => {
                let [old, new] = ['-', '+'].map(|sign| side(text, sign));
                let is_in = |(_, file): &(&String, &String)| file.contains(&old);
                let (path, file) = written.iter().find(is_in).unwrap_or_else(|| panic!("{text}"));
                folder.write(&format!("{example}/{path}"), file.replace(&old, &new));
            }
            _ => {}
        }
    }
    assert!(folder.path(&format!("{example}/client/src/lib.rs")).is_file());
}

#[test]
fn ecsbinding_follows_the_steps_of_the_guide() {
    walk("EcsBinding, step by step", "conformance/seed-ecsbinding", "v1", "ecsbinding");
}

#[test]
fn balancer_follows_the_steps_of_the_guide() {
    walk("Balancer, step by step", "conformance/seed-balancer", "v1alpha1", "balancer");
}
