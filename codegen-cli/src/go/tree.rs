//! Parses declarations of a Go file by tree-sitter's grammar, and finds their errors.

use std::cell::RefCell;

use tree_sitter::{Node, Parser, Point, Range, Tree};

use super::syntax::Place;

thread_local! {
    static PARSER: RefCell<Option<Parser>> = RefCell::new(parser());
}

fn parser() -> Option<Parser> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into()).ok()?;
    Some(parser)
}

/// Parses the declaration at a place of a text. The positions of its nodes are those in the text. The grammar needs a line
/// break or semicolon after it, so the text is read as if it ended with one.
pub(super) fn parse(text: &str, place: &Place) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        let parser = parser.as_mut()?;
        // Nobody asks for lines and columns.
        let [start_point, end_point] = [Point::default(); 2];
        let range = Range { start_byte: place.start, end_byte: place.end, start_point, end_point };
        parser.set_included_ranges(&[range]).ok()?;
        let mut read = |at: usize, _: Point| match text.as_bytes().get(at..) {
            Some([]) => b"\n".as_slice(),
            rest => rest.unwrap_or_default(),
        };
        parser.parse_with(&mut read, None)
    })
}

/// The errors in a tree.
pub(super) fn errors(tree: &Tree) -> Vec<Place> {
    let mut out = Vec::new();
    if !tree.root_node().has_error() {
        return out;
    }
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if (node.is_error() || node.is_missing()) && !is_generic_alias(node) {
            out.push(node.byte_range());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return out;
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
