//! Reading the values of markers.

use super::*;

fn read(ty: &Type, text: &str) -> Result<String> {
    let mut scanner = Scanner::new(text, 0);
    let (json, range) = scanner.value(ty)?;
    assert_eq!(range, 0..text.trim_end().len(), "{text}");
    assert!(scanner.at_end(), "{text}: {:?} is left", scanner.remainder());
    Ok(json.to_string())
}

#[track_caller]
fn check(ty: &Type, cases: &[(&str, &str)]) {
    for (text, json) in cases {
        assert_eq!(read(ty, text).as_deref(), Ok(*json), "{text}");
    }
}

/// These and the following pairs are facts about controller-gen, taken from runs of its parser.
#[test]
fn scalars_parse_as_in_controller_gen() {
    check(
        &Type::String,
        &[
            ("some string here!", r#""some string here!""#),
            ("aa 0Baaa aaa", r#""aa 0Baaa aaa""#),
            ("/tmp/x-0B7LDeoZta", r#""/tmp/x-0B7LDeoZta""#),
            (".0B7LDeoZt", r#"".0B7LDeoZt""#),
            (r#""a; b, \nhere""#, r#""a; b, \nhere""#),
            (r"`a; b, \nhere`", r#""a; b, \\nhere""#),
            (r#""\x41\101\u00e4\U0001F600\\\"""#, r#""AAä😀\\\"""#),
            (r#"bare "a;b" rest"#, r#""bare \"a;b\" rest""#),
        ],
    );
    check(&Type::Int, &[("42", "42"), ("-42", "-42"), ("017", "17")]);
    check(
        &Type::Number,
        &[
            ("1.5", "1.5"),
            ("-2", "-2"),
            ("1e3", "1000"),
            ("1_000", "1000"),
            ("1_0.5", "10.5"),
            ("089.5", "89.5"),
        ],
    );
    check(&Type::Bool, &[("false", "false"), ("true", "true")]);
}

#[test]
fn lists_and_maps_parse_as_in_controller_gen() {
    let strings = Type::Slice(Box::new(Type::String));
    check(
        &strings,
        &[
            ("hi;hello;hey y'all", r#"["hi","hello","hey y'all"]"#),
            ("{hi,hello,hey y'all}", r#"["hi","hello","hey y'all"]"#),
            ("a", r#"["a"]"#),
            ("a;", r#"["a"]"#),
            ("a;;b", r#"["a",";b"]"#),
            ("a; ;;b;", r#"["a",";","b"]"#),
            ("{a,,b}", r#"["a",",b"]"#),
            ("{,}", r#"[","]"#),
        ],
    );
    let nested = Type::Slice(Box::new(Type::Slice(Box::new(Type::Int))));
    let pairs = "[[1,1],[2,3],[5,8]]";
    check(&nested, &[("{1;1,2;3,5;8}", pairs), ("{{1,1},{2,3},{5,8}}", pairs)]);
    let map = r#"{"formal":"hello","informal":"hi!"}"#;
    check(&Type::Map, &[("{formal: hello, `informal`: `hi!`}", map), ("{}", "{}")]);
}

#[test]
fn untyped_value_is_guessed_as_in_controller_gen() {
    let mixed =
        r#"{text: "abc", len: 3, "as bytes": 97;98, props: {nullsafe: true, tags: {"a", "in a row"}}}"#;
    check(
        &Type::Any,
        &[
            ("some string here!", r#""some string here!""#),
            ("-42", "-42"),
            ("1.5", "1.5"),
            ("true", "true"),
            ("falsehood", r#""falsehood""#),
            ("{1;1,2;3,5;8}", "[[1,1],[2,3],[5,8]]"),
            ("{{1,1},{2,3},{5,8}}", "[[1,1],[2,3],[5,8]]"),
            ("a;b", r#"["a","b"]"#),
            ("{}", "{}"),
            (
                mixed,
                r#"{"text":"abc","len":3,"as bytes":[97,98],"props":{"nullsafe":true,"tags":["a","in a row"]}}"#,
            ),
            ("087bdd", r#""087bdd""#),
            ("123/config", r#""123/config""#),
            ("0987", r#""0987""#),
            ("100Mi", r#""100Mi""#),
            ("2024-01-15", r#""2024-01-15""#),
            ("sha256:08a7b", r#""sha256:08a7b""#),
            ("0b12", r#""0b12""#),
            ("0x1.8", r#""0x1.8""#),
            ("0x1F/a", r#""0x1F/a""#),
            ("1__0", r#""1__0""#),
            ("1e+", r#""1e+""#),
            ("1._5", r#""1._5""#),
            ("1e1_0", "10000000000"),
            (";a", r#"[";a"]"#),
            ("{a: , b: c}", r#"{"a":", b: c"}"#),
        ],
    );
}

/// The scanner knows other notations than `strconv.Atoi` and `strconv.ParseFloat`, which read its tokens.
#[test]
fn numbers_of_other_bases_are_refused() {
    for text in ["0x1F", "0X_1f", "0o17", "0b101", "-0b1", "1_000", "0_7", "0x1p4", "{a: 0x1F}", "{1_0, 2}"] {
        assert!(read(&Type::Any, text).is_err(), "{text}");
    }
    for text in ["0x1F", "0b11", "0o7", "1__0", "1_", "089"] {
        assert!(read(&Type::Number, text).is_err(), "{text}");
    }
    for text in ["0x3", "1_0", "089"] {
        assert!(read(&Type::Int, text).is_err(), "{text}");
    }
}

#[test]
fn error_has_a_range() {
    for (ty, text, message, range) in [
        (Type::Any, r#""open"#, "the string is not closed", 0..5),
        (Type::Any, "{a: 1", "expected `,`, found the end of the line", 5..5),
        (Type::Any, r#"{1,"two"}"#, r#"expected an integer, found `"two"`"#, 3..8),
        (Type::Int, "x", "expected an integer, found `x`", 0..1),
        (Type::Int, "1.5", "expected an integer, found `1.5`", 0..3),
        (Type::Bool, "yes", "expected `true` or `false`, found `yes`", 0..3),
        (Type::String, r#""\q""#, "the string has an escape that Go does not know", 0..4),
        (Type::Map, "{a: 1, a: 2}", r#"the member "a" is given twice"#, 7..8),
    ] {
        let error = Scanner::new(text, 0).value(&ty).unwrap_err();
        assert_eq!((error.message.as_str(), error.range), (message, range), "{text}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [("{", "}"), ("{a: ", "}")] {
        let text = open.repeat(500) + "1" + &close.repeat(500);
        assert!(Scanner::new(&text, 0).value(&Type::Any).is_err());
    }
}
