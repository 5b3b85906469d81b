//! Derives the shape of a type from its syntax.

use syn::{GenericArgument, PathArguments, Type};

/// The shape of a value in JSON, as far as the written type shows it without resolving names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeShape {
    /// `String`, `char`
    String,
    /// `i32` and similar
    Integer,
    /// `f32`, `f64`
    Number,
    /// `bool`
    Boolean,
    /// `Vec`, sets, slices and arrays
    Array(Box<TypeShape>),
    /// Maps
    Map(Box<TypeShape>),
    /// A struct
    Object,
    /// A type whose name does not show its shape
    Unknown,
}

impl TypeShape {
    /// The shape of a type, behind `Option`, `Box`, `Arc`, `Rc` and `Cow`.
    pub fn of(ty: &Type) -> Self {
        match ty {
            Type::Array(array) => Self::Array(Box::new(Self::of(&array.elem))),
            Type::Slice(slice) => Self::Array(Box::new(Self::of(&slice.elem))),
            Type::Paren(paren) => Self::of(&paren.elem),
            Type::Group(group) => Self::of(&group.elem),
            Type::Reference(reference) => Self::of(&reference.elem),
            Type::Path(_) => Self::of_path(ty),
            _ => Self::Unknown,
        }
    }

    fn of_path(ty: &Type) -> Self {
        let Some((name, arguments)) = standard_name(ty) else { return Self::Unknown };
        let argument = |at: usize| arguments.get(at).map_or(Self::Unknown, |ty| Self::of(ty));
        match name.as_str() {
            "String" | "str" | "char" => Self::String,
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128"
            | "usize" => Self::Integer,
            "f32" | "f64" => Self::Number,
            "bool" => Self::Boolean,
            "Option" | "Box" | "Arc" | "Rc" | "Cow" if arguments.len() == 1 => argument(0),
            "Vec" | "VecDeque" | "BTreeSet" | "HashSet" | "LinkedList" if !arguments.is_empty() => {
                Self::Array(Box::new(argument(0)))
            }
            "BTreeMap" | "HashMap" if arguments.len() >= 2 => Self::Map(Box::new(argument(1))),
            _ => Self::Unknown,
        }
    }

    /// The shape in words, with an article.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Array(_) => "a list",
            Self::Map(_) => "a map",
            Self::Object => "a struct",
            Self::Unknown => "a value",
        }
    }
}

/// Whether the outermost type is written `Option`.
pub fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Paren(paren) => is_option(&paren.elem),
        Type::Group(group) => is_option(&group.elem),
        _ => standard_name(ty).is_some_and(|(name, arguments)| name == "Option" && arguments.len() == 1),
    }
}

/// The last segment and its type arguments, if the path may be one of the standard library: a
/// single name, or a path that starts at `std`, `core` or `alloc`.
fn standard_name(ty: &Type) -> Option<(String, Vec<&Type>)> {
    let Type::Path(path) = ty else { return None };
    let segments = &path.path.segments;
    let first = segments.first()?;
    let standard = ["std", "core", "alloc"].iter().any(|root| first.ident == root);
    if path.qself.is_some() || (segments.len() > 1 && !standard) {
        return None;
    }
    let last = segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::AngleBracketed(list) => list
            .args
            .iter()
            .filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    Some((last.ident.to_string(), arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(source: &str) -> TypeShape {
        TypeShape::of(&syn::parse_str(source).unwrap())
    }

    #[test]
    fn primitives_are_seen_through_wrappers() {
        assert_eq!(shape("Option<Box<i32>>"), TypeShape::Integer);
        assert_eq!(shape("::std::string::String"), TypeShape::String);
        assert_eq!(
            shape("Vec<Vec<f64>>"),
            TypeShape::Array(Box::new(TypeShape::Array(Box::new(TypeShape::Number))))
        );
        assert_eq!(shape("BTreeMap<String, bool>"), TypeShape::Map(Box::new(TypeShape::Boolean)));
        assert_eq!(shape("[u8; 4]"), TypeShape::Array(Box::new(TypeShape::Integer)));
        assert_eq!(shape("Cow<'static, str>"), TypeShape::String);
    }

    #[test]
    fn unknown_type_has_no_shape() {
        for name in
            ["Port", "my::String", "<T as Trait>::String", "Option", "(i32, i32)", "fn() -> i32", "dyn Any"]
        {
            assert_eq!(shape(name), TypeShape::Unknown, "{name}");
        }
    }

    #[test]
    fn options_are_recognised() {
        for (source, expected) in [
            ("Option<String>", true),
            ("std::option::Option<i32>", true),
            ("my::Option<i32>", false),
            ("String", false),
        ] {
            assert_eq!(is_option(&syn::parse_str(source).unwrap()), expected, "{source}");
        }
    }
}
