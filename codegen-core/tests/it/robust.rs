//! Nothing that parses as Rust makes the crate panic.

use std::str::FromStr;

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{FAMILIES, Place};
use kubesmith_core::model::{ResourceInput, TypeModel};
use proc_macro2::TokenStream;

/// Reads an item with these attribute arguments in every place.
fn read(arguments: &str) {
    read_as(arguments, &["($)", " = $"]);
}

/// The same with other forms of attributes; `$` stands for the arguments.
fn read_as(arguments: &str, forms: &[&str]) {
    let Ok(_) = TokenStream::from_str(arguments) else { return };
    for family in ["resource", "genclient", "deepcopy", "validation", "schema", "serde", "derive", "doc"] {
        for form in forms {
            let attribute = format!("#[{family}{}]", form.replace('$', arguments));
            let source = format!(
                "{attribute} struct Foo {{ {attribute} metadata: ObjectMeta, {attribute} spec: Vec<i32>, r#type: [u8; 3] }}"
            );
            let Ok(item) = syn::parse_str::<syn::ItemStruct>(&source) else { continue };
            let mut diagnostics = Diagnostics::new();
            ResourceInput::from_struct(&item, &mut diagnostics);
            TypeModel::from_struct(&item, Place::Struct, &mut diagnostics);
            ResourceInput::from_derive(&item.into(), &mut diagnostics);
            let source = format!(
                "{attribute} enum Foo {{ {attribute} A, B({attribute} i32), C {{ {attribute} a: i32 }} }}"
            );
            if let Ok(item) = syn::parse_str::<syn::ItemEnum>(&source) {
                TypeModel::from_enum(&item, &mut diagnostics);
            }
            for diagnostic in diagnostics.take() {
                assert!(!diagnostic.to_text().is_empty());
            }
        }
    }
}

/// Arguments that broke a parser somewhere, or might.
const ODD: &[&str] = &[
    "",
    ",",
    ",,,",
    "=",
    "group",
    "group =",
    "group = =",
    "group = -",
    "group = - - 1",
    "group = \"\"",
    "group = \"\\u{0}\"",
    "group = b\"a\"",
    "group = c\"a\"",
    "group = 'a'",
    "group = \"a\"suffix",
    "group = r#\"a\"#",
    "group::name = 1",
    "::group",
    "r#group = \"a.b\"",
    "'a",
    "group!()",
    "#![x]",
    "default = {",
    "default = {}",
    "default = {:}",
    "default = {a}",
    "default = {a:}",
    "default = {a: 1, a: 2}",
    "default = {1: 2}",
    "default = {,}",
    "default = [,]",
    "default = [1 2]",
    "default = (1)",
    "default = -x",
    "default = 99999999999999999999999999",
    "default = -9223372036854775808",
    "default = 1e999",
    "default = 0x1F",
    "default = 1_000",
    "default = 1.",
    "minimum = 1e308, maximum = -1e308, multiple_of = 1e-320",
    "min_length = 18446744073709551615",
    "priority = 99999999999",
    "print_column()",
    "print_column(print_column())",
    "print_column(name, type, json_path)",
    "metadata(annotations, labels())",
    "metadata(annotations(=), labels(\"a\"))",
    "metadata(annotations(\"a\" = 1, \"a\" = \"b\", \"a\" = \"c\"))",
    "metadata = {}",
    "enum()",
    "enum(,)",
    "enum = {}",
    "type = \"\"",
    "rule(rule(rule()))",
    "items()",
    "items(items(items(items(minimum = 1))))",
    "rename_all = \"camelCase\", rename(serialize, deserialize = 1)",
    "rename = \"\", alias, default = 1, with",
    "Serialize, serde::Deserialize, A<B>, 1",
    "\"\\n * a\\n b\"",
    "plural = \"ä\", short_name(\"\", \"é\"), kind = \"É\", version = \"vé1\"",
    "json_path = \".\\\\\"",
    "pattern = \"\\\\Q\"",
    "pattern = \"[[:\"",
    "pattern = \"[\\\\\"",
    "scale(spec_path = \"\\u{feff}\", status_path = \".\\u{7f}\")",
];

#[test]
fn malformed_arguments_do_not_panic() {
    for arguments in ODD {
        read(arguments);
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let deep = |open: &str, close: &str| open.repeat(200) + "1" + &close.repeat(200);
    // Behind `=`, syn itself parses the arguments as an expression, and recurses.
    let forms = ["($)"];
    read_as(&format!("default = {}", deep("[", "]")), &forms);
    read_as(&format!("default = {}", deep("{a: ", "}")), &forms);
    read_as(&deep("items(", ")"), &forms);
    read_as(&format!("enum{}", deep("(", ")")), &forms);
    for open in ["<", "a<"] {
        let generic = open.repeat(10_000) + "a";
        read_as(&generic, &forms);
        read_as(&format!("default = ref({generic})"), &forms);
    }
}

/// Streams of tokens that look like attributes, from a fixed seed.
#[test]
fn random_arguments_do_not_panic() {
    let mut words: Vec<&str> = vec![
        "=",
        ",",
        ",",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        "-",
        "1",
        "0.5",
        "\"a\"",
        "\"v1\"",
        "\"a.b\"",
        "true",
        "false",
        "null",
        "'x'",
        "::",
        "#",
        "x",
        "r#type",
        "rename",
        "rename_all",
        "flatten",
    ];
    for family in FAMILIES {
        words.extend(family.keys.iter().map(|key| key.name));
        words.extend(family.keys.iter().map(|key| key.example));
    }
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..150 {
        let length = 1 + random(12);
        let text: Vec<&str> = (0..length).map(|_| words[random(words.len())]).collect();
        read_as(&text.join(" "), &["($)"]);
    }
}
