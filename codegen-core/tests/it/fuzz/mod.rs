//! Text that means no good: whatever stands in attributes and doc comments, reading them ends, and the macros and the
//! command say the same. The fuzz targets `attributes` and `markers` call the same functions.

pub(crate) mod items;
#[path = "../../../../fuzz/mutation.rs"]
pub(crate) mod mutation;

use kubesmith_core::grammar::{FAMILIES, KeySpec, MODULE, Shape, definitions, marker_text};
use proptest::prelude::*;

/// The names of keys and their examples, and those of their arguments.
fn examples(keys: &[KeySpec], out: &mut Vec<String>) {
    for key in keys {
        out.extend([key.name.to_owned(), key.example.to_owned()]);
        if let Shape::Nested(inner) | Shape::FlagOrNested(inner) = key.shape {
            out.extend(inner.iter().map(|key| key.example.to_owned()));
        }
    }
}

fn arguments() -> Vec<String> {
    let mut out = Vec::new();
    FAMILIES.iter().for_each(|family| examples(family.keys, &mut out));
    examples(MODULE, &mut out);
    out
}

fn markers() -> Vec<String> {
    definitions().values().map(marker_text).collect()
}

/// Changes one of the texts; the others give their words.
fn mutated(texts: &[String], (at, other, seed): (usize, usize, u64)) -> String {
    let words: Vec<&str> = texts.iter().map(String::as_str).collect();
    mutation::mutate(words[at % words.len()], words[other % words.len()], &words, seed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn macros_and_command_agree_on_any_arguments(
        choice: (usize, usize, u64),
        rest: Option<(usize, usize, u64)>,
    ) {
        let all = arguments();
        let rest = rest.map(|choice| format!(", {}", mutated(&all, choice)));
        items::attributes(&(mutated(&all, choice) + &rest.unwrap_or_default()));
    }

    #[test]
    fn macros_and_command_agree_on_any_markers(choices in prop::collection::vec(any::<(usize, usize, u64)>(), 1..4)) {
        let all = markers();
        let lines: Vec<String> = choices.into_iter().map(|choice| mutated(&all, choice)).collect();
        items::markers(&lines.join("\n"));
    }
}
