//! Types as declared in Rust.

use serde::Serialize;

/// A type as declared, regardless of its JSON form, for code that reads and writes it. Aliases are replaced
/// by their targets, so that equal values are the same type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RustType {
    /// A struct or enum with source, with its arguments: by a path for other crates.
    User(String, Vec<RustType>),
    /// One without a path for other crates, by the path of its definition.
    Hidden(String, Vec<RustType>),
    /// A type without source, with its arguments, by its usual name: `Vec`, `std::collections::BTreeMap`.
    Known(String, Vec<RustType>),
    /// `[T; N]`
    Array(Box<RustType>, u64),
    /// `[T]`
    Slice(Box<RustType>),
    /// `&T`
    Reference(Box<RustType>),
    /// `(A, B)`
    Tuple(Vec<RustType>),
    /// Unknown.
    #[default]
    Unknown,
}

/// Containers, with the index of the argument for their content.
const CONTAINERS: [(&str, usize); 6] = [
    ("Option", 0),
    ("Box", 0),
    ("Vec", 0),
    ("std::collections::VecDeque", 0),
    ("std::collections::BTreeMap", 1),
    ("std::collections::HashMap", 1),
];

impl RustType {
    /// Its parts.
    pub fn parts(&self) -> impl Iterator<Item = &RustType> {
        let (one, many): (Option<&RustType>, &[RustType]) = match self {
            Self::User(_, parts) | Self::Hidden(_, parts) | Self::Known(_, parts) | Self::Tuple(parts) => {
                (None, parts)
            }
            Self::Array(inner, _) | Self::Slice(inner) | Self::Reference(inner) => (Some(inner), &[]),
            Self::Unknown => (None, &[]),
        };
        one.into_iter().chain(many)
    }

    /// The number of types in it.
    pub fn size(&self) -> usize {
        1 + self.parts().map(Self::size).sum::<usize>()
    }

    /// Whether all of it is known; only then are equal values the same type.
    pub fn is_certain(&self) -> bool {
        *self != Self::Unknown && self.parts().all(Self::is_certain)
    }

    /// Whether it is an `Option`.
    pub fn is_option(&self) -> bool {
        matches!(self, Self::Known(path, _) if path == CONTAINERS[0].0)
    }

    /// Its content, if it is a container of the runtime's `defaults::each` and `conversion::each`.
    pub fn held(&self) -> Option<&RustType> {
        let Self::Known(path, arguments) = self else { return None };
        let (_, index) = CONTAINERS.iter().find(|(container, _)| container == path)?;
        arguments.get(*index)
    }

    /// The user's type in it, without arguments, at any depth in containers and arrays.
    pub fn users_type(&self) -> Option<&str> {
        match self {
            Self::User(path, arguments) => arguments.is_empty().then_some(path),
            Self::Array(item, _) => item.users_type(),
            _ => self.held()?.users_type(),
        }
    }

    /// The users' types in this and the other type, at any depth in containers, if nothing else differs.
    pub fn difference<'t>(&'t self, other: &'t Self) -> Option<(&'t str, &'t str)> {
        match (self, other) {
            (Self::User(path, arguments), Self::User(other, others)) => {
                let differ = path != other && arguments.is_empty() && others.is_empty();
                differ.then_some((path, other))
            }
            (Self::Known(path, arguments), Self::Known(other_path, others)) => {
                let (held, other_held) = (self.held()?, other.held()?);
                let same = |(a, b): (&Self, &Self)| std::ptr::eq(a, held) || (a == b && a.is_certain());
                let alike = path == other_path && arguments.len() == others.len();
                (alike && arguments.iter().zip(others).all(same)).then(|| held.difference(other_held))?
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(path: &str) -> RustType {
        RustType::User(path.to_owned(), Vec::new())
    }

    fn known(path: &str, arguments: impl IntoIterator<Item = RustType>) -> RustType {
        RustType::Known(path.to_owned(), arguments.into_iter().collect())
    }

    #[test]
    fn types_differ_by_map_key_but_not_by_contents() {
        let map = |key, value| known("std::collections::BTreeMap", [key, value]);
        let list = |item| known("Vec", [item]);
        let differ = |a: RustType, b: RustType| a.difference(&b).is_some();
        assert!(differ(
            map(user("a::Key"), list(user("a::v1::X"))),
            map(user("a::Key"), list(user("a::v2::X")))
        ));
        assert!(!differ(
            map(user("a::v1::Key"), user("a::v1::X")),
            map(user("a::v2::Key"), user("a::v2::X"))
        ));
        assert!(!differ(map(RustType::Unknown, user("a::v1::X")), map(RustType::Unknown, user("a::v2::X"))));
        assert!(!differ(list(user("a::X")), list(user("a::X"))), "nothing differs");
        let set = |item| known("std::collections::BTreeSet", [item]);
        assert!(!differ(set(user("a::v1::X")), set(user("a::v2::X"))), "no container that is looked into");
        let array = |item| RustType::Array(Box::new(item), 2);
        assert!(!differ(array(user("a::v1::X")), array(user("a::v2::X"))));
    }

    #[test]
    fn type_with_an_unknown_part_is_uncertain() {
        let pair = |item| RustType::Tuple(vec![known("bool", []), RustType::Reference(Box::new(item))]);
        assert!(pair(user("a::X")).is_certain() && !pair(RustType::Unknown).is_certain());
        assert_eq!(pair(user("a::X")).size(), 4);
    }
}
