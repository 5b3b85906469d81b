//! Hostile input: a run ends for any source and configuration, and its output can be used. The fuzz targets
//! `diff`, `go`, `import`, `pipeline` and `toml` call the same functions.

mod diff;
pub(crate) mod go;
pub(crate) mod import;
#[path = "../../../../fuzz/mutation.rs"]
pub(crate) mod mutation;
pub(crate) mod pipeline;
pub(crate) mod toml;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::support;

/// Every file with such a name under a folder of testdata that is input.
fn sources(folder: &Path, wanted: &str, out: &mut Vec<String>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.ends_with("expected") {
            sources(&path, wanted, out);
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            out.extend(fs::read_to_string(&path));
        }
    }
}

fn seeds() -> Vec<String> {
    let mut out = Vec::new();
    for folder in ["cases", "conformance", "diagnostics", "warnings"] {
        sources(&support::testdata().join(folder), "rs", &mut out);
    }
    out
}

/// Runs random changes of the seeds, a few at a time.
fn each_mutated(
    seeds: &[String],
    words: &[&str],
    check: impl Fn(&str),
    choices: Vec<(usize, usize, u64)>,
) -> Result<(), TestCaseError> {
    for (at, other, seed) in choices {
        let (text, other) = (&seeds[at % seeds.len()], &seeds[other % seeds.len()]);
        check(&mutation::mutate(text, other, words, seed));
    }
    Ok(())
}

fn definitions() -> Vec<String> {
    let mut out = Vec::new();
    for folder in ["good", "bad"] {
        let folder = support::testdata().join("import").join(folder);
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        out.extend(paths.into_iter().map(|path| fs::read_to_string(path).unwrap()));
    }
    out
}

#[test]
fn import_of_a_deep_definition_terminates() {
    let before = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: ";
    for [open, close] in
        [["{a: ", "}"], ["[", "]"], ["- ", ""], ["? ", ""], ["&a ", ""], ["{not: ", "}"], ["\"", ""]]
    {
        for times in [40, 1_000, 20_000] {
            import::check(&[before, &open.repeat(times), "x", &close.repeat(times)].concat());
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    let folder = pipeline::Folder::new();
    for form in pipeline::DEEP {
        for times in [100, 1_000, 4_000, 50_000] {
            folder.check(&pipeline::deep(form, times));
        }
    }
}

proptest! {
    // Each change is a complete run. `PROPTEST_CASES` sets another number, as for all tests.
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_source_does_not_panic(choices in prop::collection::vec(any::<(usize, usize, u64)>(), 40)) {
        let folder = pipeline::Folder::new();
        let words = pipeline::words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        each_mutated(&seeds(), &words, |text| folder.check(text), choices)?;
    }

    #[test]
    fn go_source_does_not_panic(choices in prop::collection::vec(any::<(usize, usize, u64)>(), 20)) {
        let folder = go::Folder::new();
        let mut seeds = Vec::new();
        sources(&support::testdata().join("conformance"), "go", &mut seeds);
        // Half of the changes are made to one file that has all constructs.
        seeds.extend(std::iter::repeat_n(go::SEED.to_owned(), seeds.len()));
        each_mutated(&seeds, go::WORDS, |text| folder.check(text), choices)?;
    }

    #[test]
    fn any_configuration_does_not_panic(choices in prop::collection::vec(any::<(usize, usize, u64)>(), 40)) {
        let folder = toml::Folder::new();
        let seeds = toml::SEEDS.map(str::to_owned);
        each_mutated(&seeds, toml::WORDS, |text| folder.check(text), choices)?;
    }

    #[test]
    fn verdicts_hold_for_any_schemas(choices in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 40)) {
        choices.iter().for_each(|bytes| diff::check(bytes));
    }

    #[test]
    fn diff_does_not_panic_on_any_definition(choices in prop::collection::vec(any::<(usize, usize, u64)>(), 20)) {
        let good = fs::read_to_string(support::testdata().join("import/good/everything.yaml")).unwrap();
        each_mutated(std::slice::from_ref(&good), diff::WORDS, |text| diff::compare(&good, text), choices)?;
    }

    #[test]
    fn import_does_not_panic_on_any_definition(choices in prop::collection::vec(any::<(usize, usize, u64)>(), 6)) {
        let check = |text: &str| drop(import::check(text));
        each_mutated(&definitions(), import::WORDS, check, choices)?;
    }
}
