//! Parses the text of a Go file by tree-sitter's grammar, and finds its comments and errors.

use tree_sitter::{Node, Parser, Tree};

use super::syntax::Place;

/// A parsed text.
pub(super) struct Parsed {
    pub(super) tree: Tree,
    pub(super) comments: Vec<Place>,
    /// The errors in its declarations.
    pub(super) errors: Vec<Place>,
}

/// Parses a text without the bodies of functions, or with them if that is no Go. The grammar lacks `new(expression)` of
/// Go 1.26; as a call of another function of a name as long, it is no error.
pub(super) fn parse(text: &str) -> Option<Parsed> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into()).ok()?;
    let mut parsed = |text: &[u8]| {
        let tree = parser.parse(text, None)?;
        let (mut comments, mut errors) = (Vec::new(), Vec::new());
        collect(tree.root_node(), &mut comments, &mut errors);
        Some(Parsed { tree, comments, errors })
    };
    let short = parsed(&without_bodies(text))?;
    if short.errors.is_empty() {
        return Some(short);
    }
    let whole = parsed(text.as_bytes())?;
    if whole.errors.is_empty() || !text.contains("new(") {
        return Some(whole);
    }
    let other = parsed(without_new(text).as_bytes())?;
    Some(if other.errors.len() < whole.errors.len() { other } else { whole })
}

/// The text with spaces in place of the bodies of functions, which cannot affect types, as gofmt lays them out: from the `{` at
/// the end of the signature's line to the first line that begins with `}`.
fn without_bodies(text: &str) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    let (mut at, mut body) = (0, None);
    for line in text.split_inclusive('\n') {
        match body {
            Some(start) if line.starts_with('}') => {
                out[start..=at].fill(b' ');
                body = None;
            }
            None if line.starts_with("func ") || line.starts_with(") ") => {
                body = line.trim_end().strip_suffix('{').map(|signature| at + signature.len());
            }
            _ => {}
        }
        at += line.len();
    }
    out
}

/// The text with another name in place of `new` before what is no type.
fn without_new(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("new(") {
        let (before, after) = rest.split_at(at);
        let is_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let argument = after["new(".len()..].trim_start();
        let is_type = ["[", "*", "map[", "struct", "interface", "chan ", "func("]
            .iter()
            .any(|start| argument.starts_with(start));
        out.push_str(before);
        out.push_str(if is_name || is_type { "new(" } else { "nue(" });
        rest = &after["new(".len()..];
    }
    out.push_str(rest);
    out
}

/// Nodes that cannot affect types, so that errors in them are ignored, and whose comments belong to nothing: functions, and
/// values of variables, where the grammar lacks `new(expression)` of Go 1.26.
const BODIES: [&str; 4] = ["block", "function_declaration", "method_declaration", "var_declaration"];

/// The comments of a file, and the errors in its declarations.
fn collect(root: Node<'_>, comments: &mut Vec<Place>, errors: &mut Vec<Place>) {
    let language = root.language();
    let id = |kind: &str| language.id_for_node_kind(kind, true);
    let (comment, bodies) = (id("comment"), BODIES.map(id));
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.kind_id() == comment {
            comments.push(node.byte_range());
        } else if (node.is_error() || node.is_missing()) && !is_generic_alias(node) {
            errors.push(node.byte_range());
        }
        if !bodies.contains(&node.kind_id()) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// Whether an error is the `=` of an alias with type parameters, of Go 1.24, which the grammar lacks.
fn is_generic_alias(node: Node<'_>) -> bool {
    let parent = node.parent().filter(|parent| parent.kind() == "type_spec");
    node.byte_range().len() == 1
        && node.child(0).is_some_and(|child| child.kind() == "=")
        && parent.is_some_and(|parent| parent.child_by_field_name("type_parameters").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_functions_are_left_out() {
        let body = "if a {\n\t\treturn\n\t}\n}";
        let texts = [
            format!("func f() {{\n\t{body}\n"),
            format!("func (t *T) f(\n\ta int,\n) error {{\n\t{body} // end\n"),
        ];
        for text in &texts {
            let kept = String::from_utf8(without_bodies(text)).unwrap();
            assert!(
                kept.len() == text.len() && !kept.contains(['{', '}']) && kept.starts_with("func"),
                "{kept}"
            );
        }
        // The body goes on after this line.
        let text = "package p\n\nfunc f() string {\n\treturn `{\n}\n` + \"\"\n}\n\n// T is.\ntype T string\n";
        let found = parse(text).unwrap();
        assert!(found.errors.is_empty() && found.comments.len() == 1, "{:?}", found.errors);
    }
}
