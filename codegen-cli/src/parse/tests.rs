//! Parsing of single files.

use super::*;

fn parse(text: &str) -> (Items, Vec<Diagnostic>) {
    let cfg = Cfg { features: ["x".to_string()].into(), ..Cfg::default() };
    let (file, diagnostics) = parse_file(FileId(0), text, &cfg, &Included::new());
    (file.items, diagnostics)
}

#[test]
fn use_tree_is_split_into_leaves() {
    let (items, _) =
        parse("pub use a::{self, b::C as D, e::*}; use ::x::Y; extern crate z; extern crate q as r;");
    let leaves: Vec<_> =
        items.uses.iter().map(|u| (u.segments.join("::"), u.binding.as_deref(), u.global)).collect();
    assert_eq!(
        leaves,
        [
            ("a".to_string(), Some("a"), false),
            ("a::b::C".to_string(), Some("D"), false),
            ("a::e".to_string(), None, false),
            ("x::Y".to_string(), Some("Y"), true),
            ("z".to_string(), Some("z"), true),
            ("q".to_string(), Some("r"), true),
        ]
    );
}

#[test]
fn locations_are_byte_offsets_of_the_file() {
    for prefix in ["", "\u{feff}", "#!/usr/bin/env run\n", "\u{feff}#!x\n", "#![allow(x)]\n", "// ünï\n"] {
        let text = format!("{prefix}struct Ünit {{ a: Ä }}");
        let (items, diagnostics) = parse(&text);
        assert_eq!(diagnostics, []);
        assert_eq!(&text[items.types[0].name.loc.range()], "Ünit", "{prefix:?}");
    }
}

#[test]
fn test_items_are_skipped() {
    let (items, _) = parse("#[cfg(test)] mod tests { struct A; } #[cfg(test)] struct B; struct C;");
    assert_eq!(items.types.len(), 1);
    assert!(items.modules.is_empty());
}

#[test]
fn syntax_error_is_a_diagnostic() {
    let (_, diagnostics) = parse("struct A {\n  a: ,\n}");
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, Code::SYNTAX_ERROR);
}

#[test]
fn syntax_error_at_the_end_of_the_file_has_its_place() {
    let text = "struct A;\n\nxyz\n";
    let (_, diagnostics) = parse(text);
    assert_eq!(diagnostics[0].label, "nothing follows");
    assert_eq!(&text[diagnostics[0].primary.unwrap().range()], "z");
}

#[test]
fn cfg_attr_attributes_are_read() {
    let (items, _) = parse("#[cfg_attr(feature = \"x\", derive(Schema))] struct A { }");
    assert!(items.types[0].checked);
    let (items, _) = parse("#[cfg_attr(feature = \"y\", derive(Schema))] struct A { }");
    assert!(!items.types[0].checked);
}
