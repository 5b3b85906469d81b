//! The top-level modules of each crate use each other in one direction, and so do the folders below one module.

mod circles;
mod orders;
mod uses;

use std::collections::BTreeSet;
use std::path::Path;

use orders::CRATES;

#[test]
fn modules_use_only_modules_before_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for krate in CRATES {
        let uses = uses::of_crate(&root.join(krate.folder).join("src"));
        let rank = |name: &str| krate.order.iter().position(|known| *known == name);
        let listed: BTreeSet<&str> = krate.order.iter().copied().collect();
        let existing: BTreeSet<&str> = uses.keys().map(String::as_str).collect();
        assert_eq!(listed, existing, "the modules of {} in `CRATES`, and those of its lib.rs", krate.folder);

        let mut unused: BTreeSet<_> =
            krate.allowed.iter().map(|(module, used, _)| (*module, *used)).collect();
        for (module, places) in &uses {
            for (used, files) in places.iter().filter(|(used, _)| rank(used) > rank(module)) {
                if !unused.remove(&(module.as_str(), used.as_str())) {
                    wrong.push(format!(
                        "{}: {module} uses {used}, which comes after it: {files:?}",
                        krate.folder
                    ));
                }
            }
        }
        wrong.extend(unused.iter().map(|(module, used)| {
            format!("{}: {module} does not use {used} any more: remove the exception", krate.folder)
        }));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn folders_of_a_module_form_no_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let circles = |krate: &orders::Crate| {
        let circles = circles::of_crate(&root.join(krate.folder).join("src"));
        circles.into_iter().map(|circle| format!("{}: {circle}", krate.folder)).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = CRATES.iter().flat_map(circles).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
