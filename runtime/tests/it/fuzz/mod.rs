//! Reading any manifest ends with a result. The fuzz target `manifest` calls the same function.

mod manifest;
#[path = "../../../../fuzz/mutation.rs"]
mod mutation;

use proptest::prelude::*;

/// Texts that are changed, as they are in the folder of the fuzz target's seeds.
const MANIFESTS: &[&str] = &[
    include_str!("../../../../fuzz/seeds/manifest/documents.yaml"),
    include_str!("../../../../fuzz/seeds/manifest/list.yaml"),
    include_str!("../../../../fuzz/seeds/manifest/stream.json"),
];

#[test]
fn seed_manifests_decode() {
    MANIFESTS.iter().for_each(|text| assert!(manifest::check(text), "{text}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn mutated_manifest_decodes_or_fails_without_panic(choice: (usize, usize, u64)) {
        let (at, other, seed) = choice;
        let (text, other) = (MANIFESTS[at % MANIFESTS.len()], MANIFESTS[other % MANIFESTS.len()]);
        manifest::check(&mutation::mutate(text, other, manifest::WORDS, seed));
    }
}
