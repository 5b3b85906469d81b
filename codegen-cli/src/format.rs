//! Prints syntax trees as the text of files.

/// Makes rustfmt skip the file, so that its layout does not depend on the user's configuration. The plain
/// form `#![rustfmt::skip]` is not stable.
const SKIP_RUSTFMT: &str = "#![cfg_attr(rustfmt, rustfmt_skip)]\n";

/// Prints the start of a file: its documentation, and items with empty lines between.
pub fn head(file: &syn::File) -> String {
    let text = prettyplease::unparse(file);
    let docs_end = inner_part(&text);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    out.push_str(&text[..docs_end]);
    out.push_str(SKIP_RUSTFMT);
    separate_items(&text[docs_end..], &mut out);
    out
}

/// Prints items with empty lines between.
pub fn items(file: &syn::File) -> String {
    let text = prettyplease::unparse(file);
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    separate_items(&text, &mut out);
    out.split_off(usize::from(out.starts_with('\n')))
}

/// Length of the leading inner documentation and inner attributes.
fn inner_part(text: &str) -> usize {
    let inner = |line: &&str| line.starts_with("//!") || line.starts_with("#![");
    let mut end = 0;
    let mut open = false;
    for line in text.split_inclusive('\n') {
        // An attribute over several lines ends at its closing bracket.
        if !open && !inner(&line) {
            break;
        }
        open = (open || line.starts_with("#![")) && !line.trim_end().ends_with(")]");
        end += line.len();
    }
    end
}

/// Copies items, with an empty line between blocks.
///
/// The printer puts items at column 0 and the contents of `impl` blocks at column 4; it writes no empty
/// lines, and no literal spans lines. In traits, documentation after a semicolon begins an item.
fn separate_items(text: &str, out: &mut String) {
    let mut before = "";
    for (number, line) in text.lines().enumerate() {
        if number == 0
            || (begins_item(line) && ends_block(before, indentation(line)) && !is_list_of_impls(before, line))
            || leaves_list(before, line)
            || (before.ends_with(';') && line.starts_with("    ///"))
        {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        before = line;
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn begins_item(line: &str) -> bool {
    let starts = ["///", "#[", "pub", "impl", "fn", "async", "type", "const", "use", "mod"];
    is_macro(line)
        || (indentation(line) <= 4 && starts.iter().any(|start| line.trim_start().starts_with(start)))
}

/// Whether the line begins the call of a macro that makes items.
fn is_macro(line: &str) -> bool {
    let is_path = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'));
    line.split_once("!(").is_some_and(|(path, _)| is_path(path))
}

/// Whether the line closes an item at that depth: a brace, or a semicolon after a type or a value.
fn ends_block(line: &str, depth: usize) -> bool {
    let text = line.trim_start();
    let ends_value = match depth {
        0 => text.ends_with(';') && list(line).is_none(),
        _ => ["type ", "const "].iter().any(|start| text.starts_with(start)),
    };
    indentation(line) == depth
        && (text == "}" || text == "{}" || ends_value || (depth == 0 && text.ends_with(" {}")))
}

fn is_empty_impl(line: &str) -> bool {
    line.starts_with("impl ") && line.ends_with("{}")
}

/// Whether both lines are empty implementations, or types of one implementation.
fn is_list_of_impls(before: &str, line: &str) -> bool {
    let both = |is: fn(&str) -> bool| is(before) && is(line);
    both(is_empty_impl) || both(|line| line.starts_with("    type "))
}

/// Whether a list of modules or of imports ends between the lines.
fn leaves_list(before: &str, line: &str) -> bool {
    match (list(before), list(line)) {
        (Some(before), Some(line)) => before != line,
        (Some(_), None) => indentation(line) == 0,
        _ => false,
    }
}

/// The beginning of a line that belongs to a list of modules or of imports.
fn list(line: &str) -> Option<&'static str> {
    ["pub mod ", "pub use ", "mod ", "use "].into_iter().find(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(source: &str) -> String {
        head(&syn::parse_file(source).unwrap())
    }

    #[test]
    fn items_are_separated_by_empty_lines() {
        let text = format(
            "//! Docs.\n#![allow(dead_code)]\npub mod a; pub mod b; pub use self::a::A;\n\
             /// S.\npub struct S { x: u8 }\nimpl S { fn a() {} fn b() {} }\n\
             a::m!(S); pub type A = S; impl T for S { type X = u8; const Y: u8 = 1; fn c() { if true { a(); } b(); } }",
        );
        let expected = "//! Docs.\n#![allow(dead_code)]\n#![cfg_attr(rustfmt, rustfmt_skip)]\n\n\
            pub mod a;\npub mod b;\n\npub use self::a::A;\n\n/// S.\npub struct S {\n    x: u8,\n}\n\n\
            impl S {\n    fn a() {}\n    fn b() {}\n}\n\na::m!(S);\n\npub type A = S;\n\n\
            impl T for S {\n    type X = u8;\n\n    const Y: u8 = 1;\n\n    fn c() {\n        if true {\n            a();\n        }\n        b();\n    }\n}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn imports_and_empty_impls_are_not_separated() {
        let text = format(
            "use a::A; use b::B; mod c; pub use c::C; impl A for C {} impl B for C {} impl D for C { fn d() {} }",
        );
        let expected = "#![cfg_attr(rustfmt, rustfmt_skip)]\n\n\
            use a::A;\nuse b::B;\n\nmod c;\n\npub use c::C;\n\n\
            impl A for C {}\nimpl B for C {}\n\nimpl D for C {\n    fn d() {}\n}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_inner_attribute_is_not_split() {
        let reason = "a reason so long that the printer must break the attribute over several lines, really";
        let text = format(&format!("#![allow(dead_code, unreachable_pub, reason = {reason:?})]\npub mod a;"));
        assert!(text.ends_with(")]\n#![cfg_attr(rustfmt, rustfmt_skip)]\n\npub mod a;\n"), "{text}");
    }
}
