//! Doc comments.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The lines of an item's doc comments as the author sees them: without comment markers, without
/// the one space that follows them, otherwise unchanged.
pub fn doc_lines(attributes: &[Attribute]) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        let Meta::NameValue(meta) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value else { continue };
        if meta.path.is_ident("doc") {
            let text = text.value();
            if text.contains('\n') { block_lines(&text, &mut lines) } else { lines.push(strip_space(&text)) }
        }
    }
    lines
}

fn strip_space(line: &str) -> String {
    line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
}

/// A block comment: the first and last lines are empty as a rule, the others may start with `*`.
fn block_lines(text: &str, lines: &mut Vec<String>) {
    let all: Vec<&str> = text.lines().collect();
    let starred = |line: &&&str| line.trim_start().starts_with('*') || line.trim().is_empty();
    let stars =
        all.iter().skip(1).all(|line| starred(&line)) && all.iter().skip(1).any(|l| !l.trim().is_empty());
    let kept = all.iter().enumerate().filter(|(at, line)| {
        let edge = *at == 0 || *at + 1 == all.len();
        !(edge && line.trim().is_empty())
    });
    for (at, line) in kept {
        if at == 0 {
            lines.push(strip_space(line));
        } else if stars {
            lines.push(strip_space(line.trim_start().trim_start_matches('*')));
        } else {
            lines.push(line.trim_end().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str) -> Vec<String> {
        let item: syn::ItemStruct = syn::parse_str(source).unwrap();
        doc_lines(&item.attrs)
    }

    #[test]
    fn line_comments_lose_one_space() {
        assert_eq!(
            lines("/// One\n///   two  \n///\n#[doc = \"three\"]\nstruct S;"),
            ["One", "  two", "", "three"]
        );
        assert!(lines("// not a doc\n#[doc(hidden)] struct S;").is_empty());
    }

    #[test]
    fn block_comments_lose_their_stars() {
        assert_eq!(lines("/** One\n * two\n *\n */\nstruct S;"), ["One", "two", ""]);
        assert_eq!(lines("/**\nOne\n  two\n*/ struct S;"), ["One", "  two"]);
    }
}
