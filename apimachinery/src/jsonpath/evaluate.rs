//! The evaluation of a path in a value.

use serde_json::Value;

use super::parse::{Block, Filter, Node, Range, To};
use super::{Found, compare};

/// The reason why evaluation fails; the printer column is empty then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// An index or a filter is applied to a value that is not a list.
    #[error("not an array or slice")]
    NotAList,
    /// An index is outside of the list.
    #[error("array index out of bounds: index {index}, length {length}")]
    OutOfBounds {
        /// The index, counted from the beginning of the list.
        index: i64,
        /// The length of the list.
        length: usize,
    },
    /// A range ends before it begins.
    #[error("starting index {from} is greater than ending index {to}")]
    Backwards {
        /// The index where it begins.
        from: i64,
        /// The index where it ends.
        to: i64,
    },
    /// The step of a range is zero or less.
    #[error("step must be > 0")]
    Step,
    /// Values have two types, or a type without an order.
    #[error("incompatible types for comparison")]
    Incomparable,
    /// A side of a comparison finds more than one value.
    #[error("can only compare one element at a time")]
    SeveralValues,
    /// The operator of a filter is not `<`, `>`, `==`, `!=`, `<=` or `>=`.
    #[error("unrecognized filter operator {0}")]
    UnknownOperator(String),
    /// A word stands among the steps, such as `range` or `end`.
    #[error("unrecognized identifier {0}")]
    Identifier(String),
}

/// An error, and the results before it, which satisfy a filter that asks for existence.
struct Stopped<'a> {
    found: Vec<Found<'a>>,
    error: EvaluateError,
}

type Step<'a> = Result<Vec<Found<'a>>, Stopped<'a>>;

pub(super) fn block<'a>(block: &'a Block, root: &'a Value) -> Result<Vec<Found<'a>>, EvaluateError> {
    match block {
        Block::Text(text) => Ok(vec![Found::Text(text)]),
        Block::Action(nodes) => walk(vec![Found::Value(root)], nodes).map_err(|stopped| stopped.error),
    }
}

fn walk<'a>(input: Vec<Found<'a>>, nodes: &'a [Node]) -> Step<'a> {
    nodes.iter().try_fold(input, step)
}

fn step<'a>(input: Vec<Found<'a>>, node: &'a Node) -> Step<'a> {
    let same = |found: Found<'a>| vec![found; input.len()];
    Ok(match node {
        Node::Field(name) => input.into_iter().filter_map(|value| field(value, name)).collect(),
        Node::Wildcard => input.into_iter().flat_map(children).collect(),
        Node::Recursive => {
            let mut found = Vec::new();
            descend(input, &mut found);
            found
        }
        Node::Range(range) => return items(input, *range),
        Node::Union(places) => return union(input, places),
        Node::Filter(filter) => return select(input, filter),
        Node::Text(text) => vec![Found::Text(text)],
        Node::Int(value) => same(Found::Int(*value)),
        Node::Float(value) => same(Found::Float(*value)),
        Node::Bool(value) => same(Found::Bool(*value)),
        Node::Identifier(word) => {
            return Err(Stopped { found: input, error: EvaluateError::Identifier(word.clone()) });
        }
    })
}

fn field<'a>(value: Found<'a>, name: &str) -> Option<Found<'a>> {
    match value {
        Found::Value(Value::Object(map)) => map.get(name).map(Found::Value),
        _ => None,
    }
}

/// The children of a value.
fn children(value: Found<'_>) -> Vec<Found<'_>> {
    match value {
        Found::Value(Value::Object(map)) => map.values().map(Found::Value).collect(),
        Found::Value(Value::Array(list)) => list.iter().map(Found::Value).collect(),
        Found::Value(Value::String(text)) => text.bytes().map(Found::Byte).collect(),
        Found::Text(text) => text.bytes().map(Found::Byte).collect(),
        _ => Vec::new(),
    }
}

/// The values and all their descendants, except those without children.
fn descend<'a>(values: Vec<Found<'a>>, found: &mut Vec<Found<'a>>) {
    for value in values {
        let below = children(value);
        if !below.is_empty() {
            found.push(value);
            descend(below, found);
        }
    }
}

fn items(input: Vec<Found<'_>>, range: Range) -> Step<'_> {
    let mut found = Vec::new();
    for value in &input {
        let list = match value {
            Found::Value(Value::Null) => continue,
            Found::Value(Value::Array(list)) => list,
            _ => return Err(Stopped { found: input, error: EvaluateError::NotAList }),
        };
        match bounds(range, list.len()) {
            Ok(Some((from, to, step))) => found.extend(list[from..to].iter().step_by(step).map(Found::Value)),
            // The range is empty: client-go ignores the lists that follow.
            Ok(None) => break,
            Err(error) => return Err(Stopped { found: input, error }),
        }
    }
    Ok(found)
}

/// The beginning, the end and the step of a range in a list; `None` for an empty range.
fn bounds(range: Range, length: usize) -> Result<Option<(usize, usize, usize)>, EvaluateError> {
    let size = i64::try_from(length).unwrap_or(i64::MAX);
    let counted = |index: i64| if index < 0 { index + size } else { index };
    let from = counted(range.from.unwrap_or(0));
    let to = match range.to {
        To::Length => size,
        To::Index(to) => counted(to),
        // `[-1]` ends at the end of the list, not at index 0.
        To::First => match range.from.unwrap_or(0).wrapping_add(1) {
            0 => size,
            to => counted(to),
        },
    };
    if to == from {
        return Ok(None);
    }
    let inside = |index: i64, highest: usize| usize::try_from(index).ok().filter(|index| *index <= highest);
    let first = inside(from, length).filter(|from| *from < length);
    let first = first.ok_or(EvaluateError::OutOfBounds { index: from, length })?;
    let last =
        inside(to, length).ok_or(EvaluateError::OutOfBounds { index: to.saturating_sub(1), length })?;
    if first > last {
        return Err(EvaluateError::Backwards { from, to });
    }
    let step = usize::try_from(range.step.unwrap_or(1)).ok().filter(|step| *step > 0);
    Ok(Some((first, last, step.ok_or(EvaluateError::Step)?)))
}

fn union<'a>(input: Vec<Found<'a>>, places: &'a [Vec<Node>]) -> Step<'a> {
    let mut found = Vec::new();
    for nodes in places {
        match walk(input.clone(), nodes) {
            Ok(more) => found.extend(more),
            Err(Stopped { error, .. }) => return Err(Stopped { found: input, error }),
        }
    }
    Ok(found)
}

fn select<'a>(input: Vec<Found<'a>>, filter: &'a Filter) -> Step<'a> {
    let mut found = Vec::new();
    for value in &input {
        let Found::Value(Value::Array(list)) = *value else {
            return Err(Stopped { found: input, error: EvaluateError::NotAList });
        };
        for item in list.iter().map(Found::Value) {
            match is_selected(item, filter) {
                Ok(true) => found.push(item),
                Ok(false) => {}
                Err(Refused::Side(error)) => return Err(Stopped { found: input, error }),
                Err(Refused::Comparison(error)) => return Err(Stopped { found, error }),
            }
        }
    }
    Ok(found)
}

/// The part of a filter that failed, which decides which results count.
enum Refused {
    Side(EvaluateError),
    Comparison(EvaluateError),
}

fn is_selected<'a>(item: Found<'a>, filter: &'a Filter) -> Result<bool, Refused> {
    let left = walk(vec![item], &filter.left);
    let Some((operator, right)) = &filter.comparison else {
        // Results before an error count.
        let found = left.unwrap_or_else(|stopped| stopped.found);
        return Ok(!found.is_empty());
    };
    let Some(left) = only(left)? else { return Ok(false) };
    let Some(right) = only(walk(vec![item], right))? else { return Ok(false) };
    compare::holds(left, operator, right).map_err(Refused::Comparison)
}

/// The value that one side of a comparison finds.
fn only<'a>(side: Step<'a>) -> Result<Option<Found<'a>>, Refused> {
    let found = side.map_err(|stopped| Refused::Side(stopped.error))?;
    match found.as_slice() {
        [] => Ok(None),
        [found] => Ok(Some(*found)),
        _ => Err(Refused::Side(EvaluateError::SeveralValues)),
    }
}
