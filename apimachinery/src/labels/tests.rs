use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::Selector;

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn selector(text: &str) -> Selector {
    text.parse().unwrap()
}

#[track_caller]
fn check(text: &str, selected: &[&[(&str, &str)]], rejected: &[&[(&str, &str)]]) {
    let selector = selector(text);
    for pairs in selected {
        assert!(selector.matches(&labels(pairs)), "{text} should select {pairs:?}");
    }
    for pairs in rejected {
        assert!(!selector.matches(&labels(pairs)), "{text} should not select {pairs:?}");
    }
}

#[test]
fn selector_matches_as_in_apimachinery() {
    check("", &[&[], &[("a", "b")]], &[]);
    check("a=b", &[&[("a", "b")]], &[&[], &[("a", "c")]]);
    check("a==b", &[&[("a", "b")]], &[&[("a", "c")]]);
    check("a=", &[&[("a", "")]], &[&[], &[("a", "b")]]);
    check("a!=b", &[&[], &[("a", "c")]], &[&[("a", "b")]]);
    check("a in (b,c)", &[&[("a", "b")], &[("a", "c")]], &[&[], &[("a", "d")]]);
    check("a in (b,)", &[&[("a", "b")], &[("a", "")]], &[&[]]);
    check("a in ()", &[&[("a", "")]], &[&[("a", "2")]]);
    check("a in (,,in)", &[&[("a", "in")], &[("a", "")]], &[&[("a", "2")]]);
    check("a in (1,,)", &[&[("a", "1")], &[("a", "")]], &[&[("a", "2")]]);
    check("a notin (b,c)", &[&[], &[("a", "d")]], &[&[("a", "b")]]);
    check("a", &[&[("a", ""), ("b", "")]], &[&[], &[("b", "a")]]);
    check("!a", &[&[], &[("b", "")]], &[&[("a", "")]]);
    check("a>1", &[&[("a", "2")]], &[&[], &[("a", "1")], &[("a", "x")]]);
    check("a<1", &[&[("a", "0")], &[("a", "-3")]], &[&[], &[("a", "1")], &[("a", "x")]]);
    check(" a = b , x in ( y , z ) ", &[&[("a", "b"), ("x", "z")]], &[&[("a", "b")]]);
    check("in in (in)", &[&[("in", "in")]], &[&[("in", "out")]]);
}

#[test]
fn nothing_selector_matches_no_labels_and_everything_selector_all() {
    assert!(!Selector::nothing().matches(&labels(&[])));
    assert!(Selector::everything().matches(&labels(&[("a", "b")])));
    assert!(Selector::everything().to_query().is_none());
    let printed: Selector = Selector::nothing().to_string().parse().unwrap();
    assert!(!printed.matches(&labels(&[("a", "")])) && !printed.matches(&labels(&[])));
}

#[test]
fn selector_prints_sorted_and_normalised() {
    for (text, printed) in [
        ("z=1,a", "a,z=1"),
        ("a in (c,b,c)", "a in (b,c)"),
        ("a==b", "a=b"),
        ("x/y notin (b)", "x/y notin (b)"),
        ("a > 7", "a>7"),
    ] {
        let text = if text.starts_with("x/") { text.replace("x/y", "x.io/y") } else { text.to_owned() };
        let printed = printed.replace("x/y", "x.io/y");
        assert_eq!(selector(&text).to_string(), printed);
    }
}

#[test]
fn selector_error_has_an_offset_and_the_text_of_apimachinery() {
    let check = |text: &str, offset: usize, message: &str| {
        let error = text.parse::<Selector>().unwrap_err();
        assert_eq!(error.to_string(), format!("selector {text:?}, byte {offset}: {message}"));
        assert_eq!(error.message(), message);
    };
    let binary = "expected: in, notin, =, ==, !=, gt, lt";
    check("a b c", 2, &format!("unable to parse requirement: found 'b', {binary}"));
    check("a gt 1", 2, &format!("unable to parse requirement: found 'gt', {binary}"));
    check("a in b", 5, "unable to parse requirement: found 'b' expected: '('");
    check("a in (b", 7, "unable to parse requirement: found '', expected: ',' or ')'");
    check("a in (x y)", 8, "unable to parse requirement: found 'y', expected: ',' or ')'");
    check("a in ((", 6, "unable to parse requirement: found '(', expected: ',', ')' or identifier");
    check("a in (,(", 7, "unable to parse requirement: found '(', expected: ',', or identifier");
    check("a,", 2, "found '', expected: identifier after ','");
    check(",a", 0, "found ',', expected: !, identifier, or 'end of string'");
    check("a=b c", 4, "found 'c', expected: ',' or 'end of string'");
    check("!", 1, "unable to parse requirement: found '', expected: identifier");
    check("a==(", 3, "unable to parse requirement: found '(', expected: identifier");
    check(
        "a>b",
        0,
        "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an \
         integer",
    );
    let message = |text: &str| text.parse::<Selector>().unwrap_err().message();
    assert!(
        message("-a")
            .starts_with("unable to parse requirement: <nil>: Invalid value: \"-a\": name part must")
    );
    assert!(
        message("a=-")
            .starts_with("unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid label")
    );
    assert!(message(&format!("a={}", "x".repeat(64))).contains("must be no more than 63"));
    assert!(message("UPPER.io/a").contains("prefix part a lowercase RFC 1123 subdomain must"));
}

#[test]
fn label_selector_of_an_object_converts() {
    let selector = |value| Selector::from_json(&value);
    let converted = selector(json!({
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["b", "a"]}, {"key": "a", "operator": "Exists"}],
    }));
    let converted = converted.unwrap();
    assert_eq!(converted.to_string(), "a,app=web,tier notin (a,b)");
    assert!(converted.matches_json(&json!({"a": "", "app": "web"})));
    assert!(!converted.matches_json(&json!({"a": "", "app": "web", "tier": "a"})));
    assert!(selector(json!({"matchLabels": {}})).unwrap().is_everything());
    assert!(selector(json!(null)).unwrap().is_nothing());
    let error = selector(json!({"matchExpressions": [{"key": "tier", "operator": "in"}]})).unwrap_err();
    assert_eq!(error.to_string(), "\"in\" is not a valid label selector operator");
    let error = selector(json!({"matchExpressions": [{"key": "tier", "operator": "In"}]})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
    );
}

proptest! {
    #[test]
    fn malformed_selector_does_not_panic(text in "\\PC{0,40}") {
        let _ = text.parse::<Selector>();
    }

    #[test]
    fn selector_survives_a_round_trip_through_text(text in term_list()) {
        let parsed: Selector = text.parse().unwrap();
        let again: Selector = parsed.to_string().parse().unwrap();
        prop_assert_eq!(&parsed, &again);
        prop_assert_eq!(parsed.to_string(), again.to_string());
    }

    #[test]
    fn set_matches_as_a_naive_matcher(value in "[ab]?", set in proptest::collection::vec("[ab]", 1..3), present in any::<bool>()) {
        let labels = if present { labels(&[("k", &value)]) } else { BTreeMap::new() };
        let joined = set.join(",");
        let is_in = present && set.contains(&value);
        prop_assert_eq!(selector(&format!("k in ({joined})")).matches(&labels), is_in);
        prop_assert_eq!(selector(&format!("k notin ({joined})")).matches(&labels), !is_in);
    }
}

fn term_list() -> impl Strategy<Value = String> {
    let key = "([a-z]{1,5}\\.io/)?[a-zA-Z0-9]([-_.a-zA-Z0-9]{0,5}[a-zA-Z0-9])?";
    let value = "([a-zA-Z0-9]([-_.a-zA-Z0-9]{0,5}[a-zA-Z0-9])?)?";
    let set = proptest::collection::vec(value, 1..4).prop_map(|values| values.join(","));
    let term = prop_oneof![
        (key, "=|==|!=", value).prop_map(|(k, op, v)| format!("{k}{op}{v}")),
        (key, "in|notin", set).prop_map(|(k, op, v)| format!("{k} {op} ({v})")),
        key.prop_map(|k| k),
        key.prop_map(|k| format!("!{k}")),
        (key, ">|<", 0..=i64::MAX).prop_map(|(k, op, v)| format!("{k}{op}{v}")),
    ];
    proptest::collection::vec(term, 0..5).prop_map(|terms| terms.join(","))
}
