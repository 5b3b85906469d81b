//! Parsed expressions.
//!
//! Without the feature `match`, classes and assertions are unused; parsing alone decides.
#![cfg_attr(not(feature = "match"), allow(dead_code))]

/// An expression. Code points are `u32`: Go accepts surrogates in escapes, which then match nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Empty,
    /// Code points in a row.
    Literal {
        points: Vec<u32>,
        fold_case: bool,
    },
    Class(Class),
    Assertion(Assertion),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
    /// A capturing group. Its content is unused, but it counts as a level.
    Capture(Box<Node>),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assertion {
    StartOfText,
    EndOfText,
    StartOfLine,
    EndOfLine,
    /// `\b`, where only ASCII letters, digits and `_` make words.
    WordBoundary,
    NotWordBoundary,
}

/// A set of code points: the union of its items, or the complement of that.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Class {
    pub(crate) negated: bool,
    pub(crate) items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// Code points from the first to the last; with `fold_case`, also those that differ only in case.
    Range { first: u32, last: u32, fold_case: bool },
    /// A class of Perl or POSIX, which are ASCII.
    Ascii { ranges: &'static [(u8, u8)], negated: bool, fold_case: bool },
    /// A class of Unicode by its canonical name.
    Unicode { name: String, negated: bool, fold_case: bool },
    /// Another class.
    Class(Class),
}

/// The last code point.
pub(crate) const MAX: u32 = 0x0010_FFFF;

impl Class {
    pub(crate) fn of(item: Item) -> Self {
        Self { negated: false, items: vec![item] }
    }

    fn ranges(ranges: &[(u32, u32)]) -> Self {
        let range = |&(first, last)| Item::Range { first, last, fold_case: false };
        Self { negated: false, items: ranges.iter().map(range).collect() }
    }

    /// `.` with the flag `s`.
    pub(crate) fn any() -> Self {
        Self::ranges(&[(0, MAX)])
    }

    /// `.` without the flag `s`.
    pub(crate) fn any_but_newline() -> Self {
        Self::ranges(&[(0, 0x09), (0x0B, MAX)])
    }

    /// The code point, if the class is written as that one.
    pub(crate) fn single(&self) -> Option<u32> {
        match self {
            Self { negated: false, items } => match items.as_slice() {
                [Item::Range { first, last, .. }] if first == last => Some(*first),
                _ => None,
            },
            _ => None,
        }
    }

    /// Adds another class.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.negated {
            *self = Self::of(Item::Class(std::mem::take(self)));
        }
        match other.negated {
            true => self.items.push(Item::Class(other)),
            false => self.items.extend(other.items),
        }
    }
}
