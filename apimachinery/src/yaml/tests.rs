use serde_json::{Value, json};

use super::*;

fn check(value: &Value, expected: &str) {
    let text = to_yaml(value);
    assert_eq!(text, expected);
    let back: Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(&back, value, "re-read {text}");
}

#[test]
fn string_is_quoted_if_yaml_1_1_reads_a_word_or_number() {
    for word in ["y", "No", "null", "012", "1_000", "12:30:45", ".5", "+1", ".inf", "~", "1e3", "0x1F"] {
        assert_eq!(to_yaml(&json!(word)), format!("\"{word}\"\n"));
    }
    for date in ["2024-01-15", "2024-1-5T1:2:3Z", "2024-01-15 10:11:12.5", "2024-01-15t01:02:03+02:00"] {
        assert_eq!(to_yaml(&json!(date)), format!("\"{date}\"\n"));
    }
}

#[test]
fn string_is_plain_when_yaml_1_1_reads_a_string() {
    for word in
        ["=", "<<", "a b", "1.2.3", "v1", "2024-13-01", "-x", ".", "a#b", "a:b", "10.0.0.0/16", "0xZZ"]
    {
        assert_eq!(to_yaml(&json!(word)), format!("{word}\n"));
    }
}

#[test]
fn string_with_indicators_is_single_quoted() {
    for text in
        ["-", "---", " padded ", "a: b", "[x]", "#x", "a #b", "*a", "&a", "%x", "@x", "`x", "x:", "? a"]
    {
        assert_eq!(to_yaml(&json!(text)), format!("'{text}'\n"));
    }
    assert_eq!(to_yaml(&json!("^#.*: 'x'$")), "'^#.*: ''x''$'\n");
}

#[test]
fn unprintable_character_is_escaped() {
    assert_eq!(to_yaml(&json!("é☃🚀")), "\"é☃\\U0001F680\"\n");
    assert_eq!(to_yaml(&json!("line\nbreak\tand é")), "\"line\\nbreak\\tand é\"\n");
    assert_eq!(to_yaml(&json!("a\rb\u{2028}\u{0}\u{1}")), "\"a\\rb\\L\\0\\x01\"\n");
}

#[test]
fn string_with_line_breaks_is_a_literal_block() {
    check(&json!({"a": "two\nlines\n"}), "a: |\n  two\n  lines\n");
    check(&json!({"a": "x\n\n  y"}), "a: |-\n  x\n\n    y\n");
    check(&json!({"a": " x\ny"}), "a: |2-\n   x\n  y\n");
    check(&json!({"a": "x\n\n"}), "a: |+\n  x\n\n");
    check(&json!({"a": "x \ny"}), "a: \"x \\ny\"\n");
}

#[test]
fn long_line_is_folded_after_column_80() {
    let text = "word ".repeat(30).trim_end().to_string();
    let yaml = to_yaml(&json!({ "description": text }));
    assert!(yaml.lines().count() == 2, "{yaml}");
    check(&json!({ "description": text }), &yaml);
    let quoted = json!({ "a": format!("x: {text} 'q'  {text}") });
    check(&quoted, &to_yaml(&quoted));
    let double = json!({ "a": format!("x\t {text}   {text}") });
    check(&double, &to_yaml(&double));
}

#[test]
fn collections_nest_like_controller_gens() {
    check(
        &json!({"a": [{"x": 1, "w": [[1, 2], []]}, "s"], "b": {}, "on": null}),
        "a:\n- w:\n  - - 1\n    - 2\n  - []\n  x: 1\n- s\nb: {}\n\"on\": null\n",
    );
}

#[test]
fn keys_are_in_natural_order() {
    let yaml = to_yaml(&json!({"a10": 0, "a2": 0, "a": 0, "B": 0, "_x": 0, "a02": 0, "ab": 0}));
    let keys: Vec<&str> = yaml.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(keys, ["_x", "B", "a", "a2", "a02", "a10", "ab"]);
}

#[test]
fn letter_sorts_after_digits_and_dots_in_keys() {
    let yaml = to_yaml(&json!({"v1alpha1": 0, "v10": 0, "v1": 0, "v1.x": 0, "v2": 0}));
    let keys: Vec<&str> = yaml.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(keys, ["v1", "v1.x", "v10", "v1alpha1", "v2"]);
}

#[test]
fn every_key_is_written_when_their_order_is_circular() {
    let keys = (0..400).map(|n| match n % 4 {
        0 => format!("{}x{n}", n % 7),
        1 => format!("0{n}"),
        2 => format!("{n}0{}", n % 3),
        _ => format!("{n}.{n}"),
    });
    let map: serde_json::Map<String, Value> = keys.map(|key| (key, json!(0))).collect();
    let yaml = to_yaml(&json!(map));
    assert_eq!(yaml.lines().count(), map.len());
}

#[test]
fn key_with_line_breaks_or_more_than_128_bytes_is_explicit() {
    check(&json!({"a\nb\n": {"c": 1, "d": 2}}), "? |\n  a\n  b\n: c: 1\n  d: 2\n");
    check(&json!({"\r": [1, [2]]}), "? \"\\r\"\n: - 1\n  - - 2\n");
    check(&json!([{"\n": "x"}]), "- ? |2+\n\n  : x\n");
    let long = format!("{} {}", "k".repeat(90), "k".repeat(60));
    let folded = long.replace(' ', "\n  ");
    check(&json!({ long: {} }), &format!("? {folded}\n: {{}}\n"));
}

#[test]
fn block_scalar_at_the_root_is_indented() {
    check(&json!("a\nb"), "|-\n  a\n  b\n");
}

#[test]
fn unicode_line_break_is_quoted() {
    check(&json!("a\u{2028}b"), "'a\u{2028}  b'\n");
    check(&json!({"a": "\u{2029}x\ny"}), "a: |2-\n\u{2029}  x\n  y\n");
    check(&json!({"a": "x\ny\u{2028}"}), "a: \"x\\ny\\L\"\n");
    assert_eq!(to_visible_yaml(&json!("a\u{2028}b")), "\"a\\Lb\"\n");
}

#[test]
fn string_with_a_byte_order_mark_is_escaped_whole() {
    check(&json!("\u{feff}a \n'"), "\"\\uFEFF\\x61\\x20\\n\\x27\"\n");
}

#[test]
fn number_prints_as_go_prints_it() {
    for (value, text) in [
        (json!(0.5), "0.5"),
        (json!(2.0), "2"),
        (json!(1e21), "1e+21"),
        (json!(1e-7), "1e-07"),
        (json!(1e7), "10000000"),
        (json!(1e20), "1e+20"),
        (json!(-0.0), "0"),
        (json!(12_345_678.5), "1.23456785e+07"),
    ] {
        assert_eq!(to_yaml(&value), format!("{text}\n"));
    }
    assert_eq!(to_yaml(&json!(123_456_789_012_345_678_i64)), "123456789012345678\n");
}

#[test]
fn hostile_string_does_not_end_its_scalar() {
    let nasty = [
        "\"\n- injected: true\n",
        "'\nkey: value",
        "# comment",
        "|\n  x",
        "a\n---\nb: c",
        "...",
        "!!int 1",
        "&a *a",
        "{a: b}",
        "\u{feff}x",
        "\u{85}",
        "x\u{7f}",
        "a\n\tb",
        "- - -",
        "key: |\n  x",
        "\n",
        "\n\n",
        " ",
        "  \n  ",
        ": ",
        "?",
    ];
    for text in nasty {
        for value in [json!({ "a": text, "b": 1 }), json!([text, "x"]), json!({ text: "x", "zz": [] })] {
            let yaml = document(&value);
            let back: Value = serde_yaml::from_str(&yaml).unwrap_or_else(|e| panic!("{e}\n{yaml}"));
            assert_eq!(back, value, "{yaml}");
        }
    }
}
