//! Matching: expressions are handed to regex-automata as syntax that is already resolved.

mod hir;
mod set;

use regex_automata::meta;
use regex_syntax::hir::Hir;

use crate::ast::Node;
use crate::error::{Error, ErrorCode};
use crate::parse::parse;

/// Bytes that a compiled expression may take, as Go's limit of instructions allows.
const SIZE_LIMIT: usize = 128 << 20;
/// Stack of the thread that compiles an expression. Its depth is at most Go's limit of levels.
const STACK: usize = 256 << 20;
/// Expressions of fewer levels compile on the caller's stack.
const SHALLOW: usize = 50;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Regex(meta::Regex);

impl Regex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// The error of Go's `regexp.Compile`. An expression that takes more than 128 MiB is too large as well.
    pub fn new(source: &str) -> Result<Self, Error> {
        let node = parse(source)?;
        let config = meta::Config::new().nfa_size_limit(Some(SIZE_LIMIT));
        let build = || meta::Builder::new().configure(config).build_from_hir(&hir::translate(&node)).ok();
        let built = with_stack(&node, build);
        built.map(Self).ok_or_else(|| Error::new(ErrorCode::Large, source))
    }

    /// Reports whether the expression matches anywhere in the text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        // regex-automata's own `is_match` misses some matches after one of `\B` that splits a character.
        self.0.find(text).is_some()
    }

    /// Returns the first match by Go's preference: the leftmost one, and of these the one that is tried first.
    #[must_use]
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.0.find(text).map(|found| &text[found.range()])
    }

    /// All matches that do not overlap.
    pub fn find_iter<'r, 't>(&'r self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'r, 't> {
        self.0.find_iter(text).map(|found| &text[found.range()])
    }
}

/// Returns the resolved syntax of an expression, for generators of matching texts. Groups do not appear in it.
///
/// # Errors
/// The error of Go's `regexp.Compile`.
pub fn to_hir(source: &str) -> Result<Hir, Error> {
    let node = parse(source)?;
    Ok(with_stack(&node, || Some(hir::translate(&node))).unwrap_or_else(Hir::fail))
}

/// Runs a function that recurses over an expression with enough stack. `None` if no thread can be started.
fn with_stack<T: Send>(node: &Node, run: impl FnOnce() -> Option<T> + Send) -> Option<T> {
    if is_shallow(node, SHALLOW) {
        return run();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).ok()?;
        thread.join().ok().flatten()
    })
}

fn is_shallow(node: &Node, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return false };
    match node {
        Node::Repeat { node, .. } | Node::Capture(node) => is_shallow(node, levels),
        Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().all(|node| is_shallow(node, levels)),
        Node::Empty | Node::Literal { .. } | Node::Class(_) | Node::Assertion(_) => true,
    }
}
