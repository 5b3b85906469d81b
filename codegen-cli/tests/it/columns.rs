//! Paths of printer columns: API servers can read every path without a warning.

use kubesmith_apimachinery::jsonpath::JsonPath;
use kubesmith_core::model::check_column_path;
use proptest::prelude::*;

/// Steps, most of them valid, and characters that separate or break them.
fn step() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b-c", r"a\.b/c", "*", "d.e", "é", "_1", r"x\", ""]);
    let value = || {
        prop::sample::select(vec![
            "1", "-1.5", "1e5", "+2", "1.", ".5", "true", "\"x\"", "'x)'", r#""\"""#, r"'\q'", r"'\\'", "x",
            "@.a", "@", "",
        ])
    };
    let operator = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">=", "=", "===", "=~", "&&", ""]);
    let index = prop::sample::select(vec![
        "0",
        "-1",
        "1:2",
        "::2",
        "*",
        ":",
        "",
        "+1",
        "-",
        "1:2:3:4",
        "99999999999999999999",
        " 1",
    ]);
    prop_oneof![
        4 => name().prop_map(|name| format!(".{name}")),
        1 => name().prop_map(|name| format!("..{name}")),
        2 => name().prop_map(|name| format!("['{name}']")),
        1 => (name(), name()).prop_map(|(a, b)| format!("['{a}', '{b}']")),
        2 => index.prop_map(|index| format!("[{index}]")),
        2 => (value(), operator, value()).prop_map(|(left, operator, right)| format!("[?({left} {operator}{right})]")),
        1 => "[ -~]",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn column_path_parses_when_it_has_no_warning(steps in prop::collection::vec(step(), 1..5)) {
        let path = steps.concat();
        if check_column_path(&path).is_ok() {
            let read = JsonPath::parse_column(&path);
            prop_assert!(read.is_ok(), "{path}: {read:?}");
        }
    }
}
