//! Converts case, and lists Rust's keywords and the names of its prelude.

use heck::{ToSnakeCase, ToUpperCamelCase};

/// `EcsBinding` to `ecs_binding`, `IPPool` to `ip_pool`.
pub fn snake_case(text: &str) -> String {
    text.to_snake_case()
}

/// `ecs-binding` to `EcsBinding`.
pub fn upper_camel_case(text: &str) -> String {
    text.to_upper_camel_case()
}

/// Every strict and reserved keyword of the 2024 edition, sorted.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// Whether a name is a keyword.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.binary_search(&name).is_ok()
}

/// Types, traits and variants of Rust's prelude in the 2024 edition, sorted.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Box",
    "Clone",
    "Copy",
    "Default",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Future",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Send",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// Whether a type, trait or variant of this name is in scope in every module.
pub fn is_in_prelude(name: &str) -> bool {
    PRELUDE.binary_search(&name).is_ok()
}

/// The name of a module and of its file: snake case, with `_` after keywords.
///
/// A raw identifier would need a file of another name, so modules are never raw.
pub fn module_name(text: &str) -> String {
    escape(&snake_case(text), "_")
}

/// The name of a method: snake case, with `_` after keywords.
///
/// Methods could be raw identifiers; with the underscore they equal the modules' names.
pub fn method_name(text: &str) -> String {
    escape(&snake_case(text), "_")
}

fn escape(name: &str, suffix: &str) -> String {
    if is_keyword(name) { format!("{name}{suffix}") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case_keeps_acronyms_together() {
        for (from, to) in [
            ("EcsBindings", "ecs_bindings"),
            ("IPPool", "ip_pool"),
            ("APIKey", "api_key"),
            ("DNS", "dns"),
            ("V1alpha1", "v1alpha1"),
            ("Foo2Bar", "foo2_bar"),
            ("sample-controller", "sample_controller"),
        ] {
            assert_eq!(snake_case(from), to);
        }
    }

    #[test]
    fn keywords_get_an_underscore() {
        assert!(KEYWORDS.is_sorted() && PRELUDE.is_sorted());
        assert_eq!(module_name("Type"), "type_");
        assert_eq!(method_name("Move"), "move_");
        assert_eq!(module_name("Types"), "types");
        for word in ["crate", "self", "super", "Self"] {
            assert!(is_keyword(word));
        }
    }

    #[test]
    fn every_keyword_is_refused_as_an_identifier() {
        for word in KEYWORDS {
            assert!(syn::parse_str::<syn::Ident>(word).is_err() || *word == "gen", "{word}");
        }
    }
}
