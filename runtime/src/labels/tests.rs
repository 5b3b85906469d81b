use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use proptest::prelude::*;

use super::{ParseError, Selector};

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
fn matches_as_apimachinery() {
    check("", &[&[], &[("a", "b")]], &[]);
    check("a=b", &[&[("a", "b")]], &[&[], &[("a", "c")]]);
    check("a==b", &[&[("a", "b")]], &[&[("a", "c")]]);
    check("a=", &[&[("a", "")]], &[&[], &[("a", "b")]]);
    check("a!=b", &[&[], &[("a", "c")]], &[&[("a", "b")]]);
    check("a in (b,c)", &[&[("a", "b")], &[("a", "c")]], &[&[], &[("a", "d")]]);
    check("a in (b,)", &[&[("a", "b")], &[("a", "")]], &[&[]]);
    check("a notin (b,c)", &[&[], &[("a", "d")]], &[&[("a", "b")]]);
    check("a", &[&[("a", ""), ("b", "")]], &[&[], &[("b", "a")]]);
    check("!a", &[&[], &[("b", "")]], &[&[("a", "")]]);
    check("a>1", &[&[("a", "2")]], &[&[], &[("a", "1")], &[("a", "x")]]);
    check("a<1", &[&[("a", "0")], &[("a", "-3")]], &[&[], &[("a", "1")], &[("a", "x")]]);
    check(" a = b , x in ( y , z ) ", &[&[("a", "b"), ("x", "z")]], &[&[("a", "b")]]);
    check("in in (in)", &[&[("in", "in")]], &[&[("in", "out")]]);
}

#[test]
fn nothing_selects_nothing_and_everything_everything() {
    assert!(!Selector::nothing().matches(&labels(&[])));
    assert!(Selector::everything().matches(&labels(&[("a", "b")])));
    assert!(Selector::everything().to_query().is_none());
    let printed: Selector = Selector::nothing().to_string().parse().unwrap();
    assert!(!printed.matches(&labels(&[("a", "")])) && !printed.matches(&labels(&[])));
}

#[test]
fn prints_sorted_and_normalised() {
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
fn errors_say_where_and_what() {
    let message = |text: &str| text.parse::<Selector>().unwrap_err().to_string();
    assert_eq!(message("a in b"), "selector \"a in b\": found \"b\" at offset 5, expected \"(\"");
    assert_eq!(message("a,"), "selector \"a,\": found the end at offset 2, expected a label key or \"!\"");
    assert!(message("a b").contains("expected one of"));
    assert!(message("a>b").contains("compare integers"));
    assert!(message("-a").contains("is no label key"));
    assert!(message("a=-").contains("is no value of label \"a\""));
    assert!(message(&format!("a={}", "x".repeat(64))).contains("at most 63"));
    assert!(message("UPPER.io/a").contains("DNS subdomain"));
    assert!(message("a in (b").contains("expected \",\" or \")\""));
}

#[test]
fn label_selectors_of_the_api_convert() {
    let api = LabelSelector {
        match_labels: Some(labels(&[("app", "web")])),
        match_expressions: Some(vec![LabelSelectorRequirement {
            key: "tier".to_owned(),
            operator: "NotIn".to_owned(),
            values: Some(vec!["b".to_owned(), "a".to_owned()]),
        }]),
    };
    let converted = Selector::try_from(&api).unwrap();
    assert_eq!(converted.to_string(), "app in (web),tier notin (a,b)");
    let bad = LabelSelector {
        match_expressions: Some(vec![LabelSelectorRequirement {
            key: "tier".to_owned(),
            operator: "in".to_owned(),
            values: None,
        }]),
        match_labels: None,
    };
    assert!(matches!(Selector::try_from(&bad), Err(ParseError::Operator { .. })));
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC{0,40}") {
        let _ = text.parse::<Selector>();
    }

    #[test]
    fn printing_and_parsing_again_changes_nothing(text in term_list()) {
        let parsed: Selector = text.parse().unwrap();
        let again: Selector = parsed.to_string().parse().unwrap();
        prop_assert_eq!(&parsed, &again);
        prop_assert_eq!(parsed.to_string(), again.to_string());
    }

    #[test]
    fn agrees_with_a_naive_matcher(value in "[ab]?", set in proptest::collection::vec("[ab]", 1..3), present in any::<bool>()) {
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
        (key, ">|<", any::<i64>()).prop_map(|(k, op, v)| format!("{k}{op}{v}")),
    ];
    proptest::collection::vec(term, 0..5).prop_map(|terms| terms.join(","))
}
