//! Inputs that must be refused, with the recorded messages. (What must compile is in the neighbouring modules.)
//! `KUBESMITH_UPDATE=1 cargo test -p kubesmith-macros-tests --test it ui` records the messages anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use crate::rustc::check;

#[test]
fn invalid_input_does_not_compile() {
    let folder = Path::new("ui/fail");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect();
    programs.sort();
    assert!(programs.len() > 20, "{}", programs.len());
    let next = Mutex::new(programs.iter());
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(program) = { next.lock().unwrap().next() } {
                    if let Some(difference) = difference(program) {
                        wrong.lock().unwrap().push(difference);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How rustc's diagnostics of a program differ from those beside it.
fn difference(program: &Path) -> Option<String> {
    let expected = program.with_extension("stderr");
    let found = check(program, &["kubesmith_runtime"], Path::new(env!("CARGO_TARGET_TMPDIR")));
    if found.is_empty() {
        return Some(format!("{}: compiles", program.display()));
    }
    if std::env::var_os("KUBESMITH_UPDATE").is_some() {
        fs::write(&expected, &found).unwrap();
    }
    let recorded = fs::read_to_string(&expected).unwrap_or_default();
    (recorded != found).then(|| format!("{}: recorded\n{recorded}\nfound\n{found}", program.display()))
}
