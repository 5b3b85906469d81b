//! Inputs that must compile, and inputs that must be refused with the recorded messages.
//! `TRYBUILD=overwrite cargo test -p kubesmith-macros --test it ui` records them anew.

#[test]
fn inputs_compile_or_are_refused() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
