//! Converts parsed expressions to regex-syntax's resolved syntax.

use regex_syntax::hir::{Class, Hir, Look, Repetition};

use super::set;
use crate::ast::{Assertion, Node};

pub(super) fn translate(node: &Node) -> Hir {
    match node {
        Node::Empty => Hir::empty(),
        Node::Literal { points, fold_case } => literal(points, *fold_case),
        Node::Class(class) => Hir::class(Class::Unicode(set::of(class))),
        Node::Assertion(assertion) => Hir::look(match assertion {
            Assertion::StartOfText => Look::Start,
            Assertion::EndOfText => Look::End,
            Assertion::StartOfLine => Look::StartLF,
            Assertion::EndOfLine => Look::EndLF,
            Assertion::WordBoundary => Look::WordAscii,
            Assertion::NotWordBoundary => Look::WordAsciiNegate,
        }),
        Node::Repeat { node, min, max, greedy } => {
            let sub = Box::new(translate(node));
            Hir::repetition(Repetition { min: *min, max: *max, greedy: *greedy, sub })
        }
        Node::Capture(node) => translate(node),
        Node::Concat(nodes) => Hir::concat(nodes.iter().map(translate).collect()),
        Node::Alternate(nodes) => Hir::alternation(nodes.iter().map(translate).collect()),
    }
}

/// Surrogates match nothing.
fn literal(points: &[u32], fold_case: bool) -> Hir {
    if fold_case {
        let classes = points.iter().map(|point| Hir::class(Class::Unicode(set::range(*point, *point, true))));
        return Hir::concat(classes.collect());
    }
    match points.iter().map(|point| char::from_u32(*point)).collect::<Option<String>>() {
        Some(text) => Hir::literal(text.into_bytes()),
        None => Hir::fail(),
    }
}
