use serde_json::{Value, json};

use super::*;

fn object() -> Value {
    json!({
        "metadata": {"annotations": {"a.b/c": "x"}, "labels": {"web/html": "y"}},
        "spec": {"n": [1, 2, 3, 4], "f": 1.5, "big": 1e21, "none": null, "on": true, "text": "ab", "empty": []},
        "status": {"conditions": [
            {"type": "Ready", "status": "True", "age": 3, "deep": {"on": true}},
            {"type": "Other", "status": "False", "age": 5},
        ]},
    })
}

/// The printed results of the first action.
fn printed(path: &str) -> Result<Vec<String>, EvaluateError> {
    let parsed = JsonPath::parse_column(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let root = object();
    let results = parsed.find_results(&root)?;
    Ok(results[0].iter().map(Found::print).collect())
}

#[test]
fn path_finds_values() {
    let cases: &[(&str, &[&str])] = &[
        (".spec.n[0]", &["1"]),
        (".spec.n[-1]", &["4"]),
        (".spec.n[]", &["1"]),
        (".spec.n[1:3]", &["2", "3"]),
        (".spec.n[:-1]", &["1", "2", "3"]),
        (".spec.n[-2:]", &["3", "4"]),
        (".spec.n[::3]", &["1", "4"]),
        (".spec.n[2:2]", &[]),
        (".spec.n[0,2]", &["1", "3"]),
        (".spec.n[*]", &["1", "2", "3", "4"]),
        (".spec.n", &["[1,2,3,4]"]),
        (".spec['f', 'on']", &["1.5", "true"]),
        (".spec.big", &["1e+21"]),
        (".spec.none", &["<no value>"]),
        (".spec.none.x", &[]),
        (".spec.none[0]", &[]),
        (".spec.missing[0].x", &[]),
        (".spec.text.*", &["97", "98"]),
        (".spec.text.x", &[]),
        (".", &[]),
        (".status.conditions[?(@.type==\"Other\")].status", &["False"]),
        (".status.conditions[?(@.type=='Other')].status", &["False"]),
        (".status.conditions[?(@.type!='Other')].status", &["True"]),
        (".status.conditions[?(@.age>=5)].type", &["Other"]),
        (".status.conditions[?(@.age<5)].type", &["Ready"]),
        (".status.conditions[?(@.deep)].type", &["Ready"]),
        (".status.conditions[?(@.deep.on==true)].type", &["Ready"]),
        (".status.conditions[?(@.status==@.status)].type", &["Ready", "Other"]),
        // What a side had found before it failed is enough.
        (".status.conditions[?(@.type[0])].type", &["Ready", "Other"]),
        (".status.conditions[*].type", &["Ready", "Other"]),
        ("..type", &["Ready", "Other"]),
        ("..conditions[0].status", &["True"]),
        // Objects, lists and texts that have something in them.
        (
            ".status.conditions[0]..",
            &[
                r#"{"age":3,"deep":{"on":true},"status":"True","type":"Ready"}"#,
                r#"{"on":true}"#,
                "True",
                "Ready",
            ],
        ),
        (r".metadata.annotations.a\.b/c", &["x"]),
        (r".metadata.annotations['a\.b/c']", &["x"]),
        (".metadata.labels.web/html", &["y"]),
        // A dot in quotes separates fields as anywhere.
        (".metadata.annotations['a.b/c']", &[]),
        (".spec.f 7", &["7"]),
        (r#".spec.f "a\"\u00e9\x41\101""#, &["a\"éAA"]),
    ];
    for (path, expected) in cases {
        assert_eq!(printed(path).unwrap(), *expected, "{path}");
    }
}

#[test]
fn evaluation_fails_where_client_go_fails() {
    use EvaluateError as E;
    for (path, expected) in [
        (".spec.n[4]", E::OutOfBounds { index: 4, length: 4 }),
        (".spec.n[-5]", E::OutOfBounds { index: -1, length: 4 }),
        (".spec.n[0:5]", E::OutOfBounds { index: 4, length: 4 }),
        (".spec.empty[0]", E::OutOfBounds { index: 0, length: 0 }),
        (".spec.n[9223372036854775807]", E::OutOfBounds { index: i64::MAX, length: 4 }),
        (".spec.n[3:1]", E::Backwards { from: 3, to: 1 }),
        (".spec.n[::0]", E::Step),
        (".spec.n[::-1]", E::Step),
        (".spec.text[0]", E::NotAList),
        (".spec[0]", E::NotAList),
        (".spec[?(@.a)]", E::NotAList),
        (".spec.none[?(@.a)]", E::NotAList),
        (".status.conditions[?(@.type==5)]", E::Incomparable),
        (".status.conditions[?(@.age==5.5)]", E::Incomparable),
        (".status.conditions[?(@.deep=='x')]", E::Incomparable),
        (".status.conditions[?(@.deep.on<true)]", E::Incomparable),
        (".status.conditions[?(@.*=='x')]", E::SeveralValues),
        (".status.conditions[?(@.type=!'x')]", E::UnknownOperator("=!".to_owned())),
        (".spec text", E::Identifier("text".to_owned())),
        (".spec} {range .n[*]", E::Identifier("range".to_owned())),
    ] {
        assert_eq!(printed(path), Err(expected), "{path}");
    }
}

#[test]
fn malformed_path_is_refused() {
    use ParseError as E;
    for (path, expected) in [
        (".a\n", E::UnclosedAction),
        (".a[", E::UnterminatedArray),
        (".a['b[0']", E::UnterminatedArray),
        (".a['b]c']", E::InvalidIndex("'b".to_owned())),
        (".a[\"b\"]", E::InvalidIndex("\"b\"".to_owned())),
        (".a[b]", E::InvalidIndex("b".to_owned())),
        (".a[+1]", E::InvalidIndex("+1".to_owned())),
        (".a[-]", E::InvalidIndex("-".to_owned())),
        (".a[0:1:2:3]", E::InvalidIndex("0:1:2:3".to_owned())),
        (".a[99999999999999999999]", E::InvalidIndex("99999999999999999999".to_owned())),
        (".a[0,b]", E::InvalidIndex("b".to_owned())),
        (".a[?(@.b==1]", E::UnterminatedFilter),
        (".a[?(@.b=='x)]", E::UnterminatedFilter),
        (".a[?(@.b)c]", E::UnclosedFilter),
        (".a[?(@.b==1&&@.c==2)]", E::UnrecognizedCharacter('&')),
        (".a[?(@.b==)]", E::UnrecognizedCharacter('=')),
        (".a[?(@.b=~'x')]", E::UnrecognizedCharacter('~')),
        (".a....b", E::RepeatedRecursion),
        (".a[0]#", E::UnrecognizedCharacter('#')),
        (".a 'b", E::UnterminatedString),
        (r".a '\q'", E::InvalidString(r"'\q'".to_owned())),
        (".a 1.2.3", E::InvalidNumber("1.2.3".to_owned())),
        (".a -", E::InvalidNumber("-".to_owned())),
        (".a {", E::UnrecognizedCharacter('{')),
        (".a} {'", E::UnterminatedString),
    ] {
        assert_eq!(JsonPath::parse_column(path), Err(expected), "{path}");
    }
}

#[test]
fn template_has_texts_and_actions() {
    let path = JsonPath::parse("n: {.spec.n[0]}, {.spec.on} }").unwrap();
    let root = object();
    let printed: Vec<String> = path.find_results(&root).unwrap().iter().flatten().map(Found::print).collect();
    assert_eq!(printed.concat(), "n: 1, true }");
}
