//! Paths of fields, and their lines.

use std::fmt::{self, Write as _};

use kubesmith_apimachinery::decode::Step;
use kubesmith_apimachinery::yaml::MemberName;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The path of a value in a document.
pub(crate) type Path = Vec<Step>;

/// Returns the path as people write it: `spec.containers[0].name`.
pub(crate) fn text(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        // Writing to a string cannot fail.
        let _ = match step {
            Step::Item(index) => write!(out, "[{index}]"),
            Step::Member(name) if name.contains(['.', '/', '[']) => write!(out, "[{name:?}]"),
            Step::Member(name) if out.is_empty() => write!(out, "{name}"),
            Step::Member(name) => write!(out, ".{name}"),
        };
    }
    out
}

/// Returns the approximate memory of the path, in bytes.
pub(crate) fn size(path: &[Step]) -> usize {
    let names = path.iter().map(|step| match step {
        Step::Member(name) => name.len(),
        Step::Item(_) => 0,
    });
    names.sum::<usize>() + size_of_val(path)
}

/// Converts a path of serde_path_to_error.
pub(crate) fn of_error(path: &serde_path_to_error::Path) -> Path {
    use serde_path_to_error::Segment;
    let step = |segment: &Segment| match segment {
        Segment::Seq { index } => Some(Step::Item(*index)),
        Segment::Map { key } => Some(Step::Member(key.clone())),
        // The content of a variant is below its name.
        Segment::Enum { variant } => Some(Step::Member(variant.clone())),
        Segment::Unknown => None,
    };
    path.iter().filter_map(step).collect()
}

/// Converts the path of an ignored field.
pub(crate) fn of_ignored(path: &serde_ignored::Path<'_>) -> Path {
    use serde_ignored::Path as Ignored;
    let (parent, step) = match path {
        Ignored::Root => return Path::new(),
        Ignored::Seq { parent, index } => (parent, Some(Step::Item(*index))),
        Ignored::Map { parent, key } => (parent, Some(Step::Member(key.clone()))),
        Ignored::Some { parent } | Ignored::NewtypeStruct { parent } | Ignored::NewtypeVariant { parent } => {
            (parent, None)
        }
    };
    let mut out = of_ignored(parent);
    out.extend(step);
    out
}

/// Returns the line of a path in a document, from 0; if the path does not exist, the line where it ends.
pub(crate) fn line(text: &str, path: &[Step]) -> usize {
    let mut json = serde_json::Deserializer::from_str(text);
    let found = Locate { path, yaml: None }.deserialize(&mut json);
    if let Err(error) = &found
        && error.to_string().starts_with(HERE)
    {
        return error.line().saturating_sub(1);
    }
    #[cfg(feature = "yaml")]
    if let Err(error) =
        (Locate { path, yaml: Some(text) }).deserialize(serde_yaml::Deserializer::from_str(text))
        && let Some(location) = error.location()
    {
        return location.line().saturating_sub(1).min(text.matches('\n').count());
    }
    0
}

/// Marks the place; parsers add the line to errors.
const HERE: &str = "the path ends here";

/// Fails at the end of the path.
struct Locate<'p> {
    path: &'p [Step],
    /// The source, if it is YAML.
    yaml: Option<&'p str>,
}

impl<'de> DeserializeSeed<'de> for Locate<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

fn here<E: serde::de::Error>() -> Result<(), E> {
    Err(E::custom(HERE))
}

impl<'de> Visitor<'de> for Locate<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HERE)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        here()
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        here()
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        here()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        here()
    }

    fn visit_u128<E: serde::de::Error>(self, _: u128) -> Result<(), E> {
        here()
    }

    fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<(), E> {
        here()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        here()
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        here()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Some((Step::Item(index), rest)) = self.path.split_first() {
            for _ in 0..*index {
                if access.next_element::<IgnoredAny>()?.is_none() {
                    return here();
                }
            }
            access.next_element_seed(Locate { path: rest, ..self })?;
        }
        Err(A::Error::custom(HERE))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        if let Some((Step::Member(name), rest)) = self.path.split_first() {
            while let Some(key) = access.next_key_seed(MemberName::of(self.yaml))? {
                if key.name == *name {
                    return access.next_value_seed(Locate { path: rest, ..self });
                }
                access.next_value::<IgnoredAny>()?;
            }
        }
        Err(A::Error::custom(HERE))
    }
}
