//! Go's limits of an expression: depth, size and repetitions. Source: `regexp/syntax/parse.go`, `checkLimits` and
//! `repeatIsValid`.
//!
//! Go factors common prefixes out of alternatives before it measures, which is left out here: it matters only to
//! expressions that are within a few levels or instructions of a limit.

use crate::ast::{Class, Node};
use crate::error::ErrorCode;

/// Levels of an expression.
const MAX_HEIGHT: u32 = 1_000;
/// Instructions of a compiled expression: 128 MiB of 40 bytes each.
const MAX_SIZE: u64 = (128 << 20) / 40;
/// The limit of copies that nested repetitions make.
const MAX_COPIES: u32 = 1_000;

/// A node with its measures.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) node: Node,
    height: u32,
    /// Instructions.
    size: u64,
    /// The greatest product of nested repetitions.
    copies: u32,
}

impl Part {
    pub(crate) fn leaf(node: Node) -> Self {
        let size = match &node {
            Node::Literal { points, .. } => points.len() as u64,
            _ => 1,
        };
        Self { node, height: 1, size: size.max(1), copies: 1 }
    }

    pub(crate) fn literal(point: u32, fold_case: bool) -> Self {
        Self::leaf(Node::Literal { points: vec![point], fold_case })
    }

    pub(crate) fn class(class: Class) -> Self {
        Self::leaf(Node::Class(class))
    }

    pub(crate) fn capture(self) -> Self {
        let Self { node, height, size, copies } = self;
        Self { node: Node::Capture(Box::new(node)), height: height + 1, size: size + 2, copies }
    }

    /// The node repeated; `None` for `max` is without end.
    pub(crate) fn repeat(self, min: u32, max: Option<u32>, greedy: bool) -> Self {
        let Self { node, height, size, copies } = self;
        let size = match max {
            None if min == 0 => 2 + size,
            None => 1 + u64::from(min) * size,
            Some(max) => u64::from(max) * size + u64::from(max - min),
        };
        let copies = match max {
            Some(0) => 1,
            max => max.unwrap_or(min).max(1).saturating_mul(copies),
        };
        let node = Node::Repeat { node: Box::new(node), min, max, greedy };
        Self { node, height: height + 1, size: size.max(1), copies }
    }

    /// Reports whether nested repetitions stay within the limit of copies.
    pub(crate) fn copies_are_valid(&self) -> bool {
        self.copies <= MAX_COPIES
    }

    /// Joins nodes to a sequence or to alternatives. Parts that are of the same sort are flattened.
    fn collapse(
        mut parts: Vec<Self>,
        make: fn(Vec<Node>) -> Node,
        own: fn(Node) -> Result<Vec<Node>, Node>,
    ) -> Self {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return only;
        }
        let (mut nodes, mut height, mut size, mut copies) = (Vec::new(), 0, 0, 1);
        for part in parts {
            size += part.size;
            copies = copies.max(part.copies);
            match own(part.node) {
                Ok(below) => {
                    nodes.extend(below);
                    height = height.max(part.height - 1);
                }
                Err(node) => {
                    nodes.push(node);
                    height = height.max(part.height);
                }
            }
        }
        Self { node: make(nodes), height: height + 1, size: size.max(1), copies }
    }

    pub(crate) fn concat(parts: Vec<Self>) -> Self {
        if parts.is_empty() {
            return Self::leaf(Node::Empty);
        }
        Self::collapse(parts, Node::Concat, |node| match node {
            Node::Concat(nodes) => Ok(nodes),
            other => Err(other),
        })
    }

    pub(crate) fn alternate(parts: Vec<Self>) -> Self {
        let jumps = (parts.len() as u64).saturating_sub(1);
        let mut part = Self::collapse(parts, Node::Alternate, |node| match node {
            Node::Alternate(nodes) => Ok(nodes),
            other => Err(other),
        });
        part.size += jumps;
        part
    }

    /// The class that the node is, if it matches exactly one code point.
    pub(crate) fn as_class(&self) -> Option<Class> {
        match &self.node {
            Node::Class(class) => Some(class.clone()),
            Node::Literal { points, fold_case } => match points.as_slice() {
                &[point] => Some(Class::of(crate::ast::Item::Range {
                    first: point,
                    last: point,
                    fold_case: *fold_case,
                })),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The resources of an expression while it is parsed.
///
/// Go measures sizes only once the number of its nodes, times the product of all repetitions, reaches the limit. As it
/// reuses nodes, their number is not that of the expression's.
#[derive(Debug)]
pub(crate) struct Usage {
    nodes: u64,
    free: u64,
    repeats: u64,
    measures_size: bool,
}

impl Default for Usage {
    fn default() -> Self {
        Self { nodes: 0, free: 0, repeats: 1, measures_size: false }
    }
}

impl Usage {
    /// Counts a new node.
    pub(crate) fn take(&mut self) {
        match self.free {
            0 => self.nodes += 1,
            _ => self.free -= 1,
        }
    }

    /// Counts a node that may be used again.
    pub(crate) fn release(&mut self) {
        self.free += 1;
    }

    /// Checks a finished node. `counted` is the number of copies if it was written with braces.
    ///
    /// # Errors
    /// Returns the limit that it exceeds.
    pub(crate) fn check(&mut self, part: &Part, counted: Option<u32>) -> Result<(), ErrorCode> {
        if let Some(count) = counted {
            let count = u64::from(count.max(1));
            self.repeats = if count > MAX_SIZE / self.repeats { MAX_SIZE } else { self.repeats * count };
        }
        self.measures_size = self.measures_size || self.nodes >= MAX_SIZE / self.repeats;
        if self.measures_size && part.size > MAX_SIZE {
            return Err(ErrorCode::Large);
        }
        if part.height > MAX_HEIGHT { Err(ErrorCode::NestingDepth) } else { Ok(()) }
    }
}
