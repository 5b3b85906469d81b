//! Whatever a definition or a rule says, checking and running it ends with an answer. The fuzz targets `cel` and
//! `structural` call the same functions.

pub(crate) mod cel;
#[path = "../../../../fuzz/mutation.rs"]
pub(crate) mod mutation;
pub(crate) mod structural;

use proptest::prelude::*;

/// Texts that are changed, as they are in the folder of the fuzz target's seeds.
const RULES: &[&str] = &[
    include_str!("../../../../fuzz/seeds/cel/arithmetic"),
    include_str!("../../../../fuzz/seeds/cel/lists"),
    include_str!("../../../../fuzz/seeds/cel/macros"),
    include_str!("../../../../fuzz/seeds/cel/optional"),
    include_str!("../../../../fuzz/seeds/cel/strings"),
    include_str!("../../../../fuzz/seeds/cel/types"),
];

/// The same of definitions.
const DEFINITIONS: &[&str] = &[
    include_str!("../../../../fuzz/seeds/structural/definition.json"),
    include_str!("../../../../fuzz/seeds/structural/junctions.json"),
    include_str!("../../../../fuzz/seeds/structural/lists.json"),
    include_str!("../../../../fuzz/seeds/structural/values.json"),
];

fn mutated(texts: &[&str], words: &[&str], (at, other, seed): (usize, usize, u64)) -> String {
    mutation::mutate(texts[at % texts.len()], texts[other % texts.len()], words, seed)
}

#[test]
fn seeds_are_valid() {
    RULES.iter().for_each(|rule| assert!(cel::check(rule), "{rule}"));
    DEFINITIONS.iter().for_each(|definition| assert!(structural::check(definition), "{definition}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn checker_does_not_panic_on_any_rule(choice: (usize, usize, u64)) {
        cel::check(&mutated(RULES, cel::WORDS, choice));
    }

    #[test]
    fn checker_does_not_panic_on_any_definition(choice: (usize, usize, u64)) {
        structural::check(&mutated(DEFINITIONS, structural::WORDS, choice));
    }
}
