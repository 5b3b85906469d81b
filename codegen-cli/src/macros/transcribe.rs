//! Writes the body of a rule with the values of its variables.

use super::definition::{Body, Operator};
use super::matcher::{Binding, Bindings};
use super::tree::Tree;
use super::{ExpandError, SIZE_LIMIT};
use crate::source::Loc;

/// The tokens of a body. `krate` is the value of `$crate`.
pub(super) fn transcribe(body: &[Body], bindings: &Bindings, krate: usize) -> Result<Vec<Tree>, ExpandError> {
    let mut writer = Writer { bindings, krate, rounds: Vec::new(), size: 0 };
    let mut out = Vec::new();
    writer.bodies(body, &mut out)?;
    Ok(out)
}

struct Writer<'a> {
    bindings: &'a Bindings,
    krate: usize,
    /// The rounds of the open repetitions, outermost first.
    rounds: Vec<usize>,
    /// Tokens so far.
    size: usize,
}

/// The number of rounds of a repetition, by the variables in it.
enum Rounds<'a> {
    /// No variable is repeated.
    Unknown,
    /// The number for this variable.
    Known(usize, &'a str),
}

impl<'a> Writer<'a> {
    fn bodies(&mut self, body: &'a [Body], out: &mut Vec<Tree>) -> Result<(), ExpandError> {
        body.iter().try_for_each(|part| self.body(part, out))
    }

    fn body(&mut self, part: &'a Body, out: &mut Vec<Tree>) -> Result<(), ExpandError> {
        match part {
            Body::Token(tree) => self.push(tree.clone(), out)?,
            Body::Crate(loc) => self.push(Tree::Crate(self.krate, *loc), out)?,
            Body::Group(delimiter, inner, open, close) => {
                let mut trees = Vec::new();
                self.bodies(inner, &mut trees)?;
                self.push(Tree::Group(*delimiter, trees, *open, *close), out)?;
            }
            Body::Variable(name, dollar, loc) => match self.bound(name) {
                Some(Binding::One(trees)) => {
                    trees.iter().try_for_each(|tree| self.push(tree.clone(), out))?;
                }
                Some(Binding::Many(_)) => {
                    let message = format!("`${name}` is repeated, and stands outside of a repetition");
                    return Err(ExpandError::new(message, *loc));
                }
                // A macro defined by this one has its own variables.
                None => {
                    self.push(Tree::Punct("$".to_string(), *dollar), out)?;
                    self.push(Tree::Ident(name.clone(), *loc), out)?;
                }
            },
            Body::Repeat(inner, separator, operator, loc) => {
                self.repeat(inner, separator.as_ref(), *operator, *loc, out)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, tree: Tree, out: &mut Vec<Tree>) -> Result<(), ExpandError> {
        self.size += size(&tree);
        if self.size > SIZE_LIMIT {
            return Err(ExpandError::new(format!("the expansion has over {SIZE_LIMIT} tokens"), tree.loc()));
        }
        out.push(tree);
        Ok(())
    }

    /// The value of a variable in the current rounds.
    fn bound(&self, name: &str) -> Option<&'a Binding> {
        let mut binding = self.bindings.get(name)?;
        for round in &self.rounds {
            match binding {
                // A variable of fewer repetitions has the same value in all inner rounds.
                Binding::One(_) => break,
                Binding::Many(items) => binding = items.get(*round)?,
            }
        }
        Some(binding)
    }

    fn repeat(
        &mut self,
        inner: &'a [Body],
        separator: Option<&Tree>,
        operator: Operator,
        loc: Loc,
        out: &mut Vec<Tree>,
    ) -> Result<(), ExpandError> {
        let count = match self.rounds_of(inner, loc)? {
            Rounds::Known(count, _) => count,
            Rounds::Unknown => {
                return Err(ExpandError::new("no variable says how often this is repeated", loc));
            }
        };
        if count == 0 && operator == Operator::OneOrMore {
            return Err(ExpandError::new(
                "this is repeated at least once, but there is nothing to repeat",
                loc,
            ));
        }
        for round in 0..count {
            if let Some(separator) = separator.filter(|_| round > 0) {
                self.push(separator.clone(), out)?;
            }
            self.rounds.push(round);
            let result = self.bodies(inner, out);
            self.rounds.pop();
            result?;
        }
        Ok(())
    }

    /// The rounds of a repetition, which must be equal for all its repeated variables.
    fn rounds_of(&self, body: &'a [Body], loc: Loc) -> Result<Rounds<'a>, ExpandError> {
        let mut known = Rounds::Unknown;
        for part in body {
            let found = match part {
                Body::Variable(name, ..) => match self.bound(name) {
                    Some(Binding::Many(items)) => Rounds::Known(items.len(), name),
                    _ => Rounds::Unknown,
                },
                Body::Group(_, inner, ..) | Body::Repeat(inner, ..) => self.rounds_of(inner, loc)?,
                Body::Token(_) | Body::Crate(_) => Rounds::Unknown,
            };
            known = match (known, found) {
                (Rounds::Known(a, name), Rounds::Known(b, other)) if a != b => {
                    let message = format!("`${name}` is repeated {a} times, but `${other}` {b} times");
                    return Err(ExpandError::new(message, loc));
                }
                (Rounds::Unknown, found) => found,
                (known, _) => known,
            };
        }
        Ok(known)
    }
}

fn size(tree: &Tree) -> usize {
    match tree {
        Tree::Group(_, inner, ..) => 2 + inner.iter().map(size).sum::<usize>(),
        Tree::Fragment(_, inner) => inner.iter().map(size).sum(),
        _ => 1,
    }
}
