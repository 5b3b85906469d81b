//! Inputs that must be refused, with the recorded messages. (What must compile is in the neighbouring
//! modules: here it would be built once more, with all dependencies.)
//! `TRYBUILD=overwrite cargo test -p kubesmith-macros --test it ui` records the messages anew.

#[test]
fn invalid_input_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
