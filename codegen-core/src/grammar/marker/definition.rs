//! Defines the markers, from the table of attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::grammar::{FAMILIES, Family, KeySpec, MODULE, Place, Places, Shape};

/// A marker and its attribute.
#[derive(Debug)]
pub struct Definition {
    /// The name without `+`: `kubebuilder:validation:items:MinLength`.
    pub name: String,
    /// The key that it sets.
    pub target: Target,
    /// Its valid places; empty for the markers of modules.
    pub places: Places,
}

/// The key that a marker sets.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// The attribute itself, without keys.
    Attribute(Family),
    /// A key of an attribute.
    Key(Family, &'static KeySpec),
    /// A key inside `items(...)` of `#[validation]`.
    Item(&'static KeySpec, &'static KeySpec),
    /// An attribute, whose keys are the marker's arguments.
    Arguments(Family),
    /// A fact about a module.
    Module(&'static KeySpec),
}

impl Target {
    /// The family of its attribute.
    pub(crate) fn family(self) -> Option<Family> {
        match self {
            Self::Attribute(family) | Self::Key(family, _) | Self::Arguments(family) => Some(family),
            Self::Item(..) => Some(Family::Validation),
            Self::Module(_) => None,
        }
    }

    /// The key, if it is one.
    pub(crate) fn key(self) -> Option<&'static KeySpec> {
        match self {
            Self::Key(_, key) | Self::Item(_, key) | Self::Module(key) => Some(key),
            Self::Attribute(_) | Self::Arguments(_) => None,
        }
    }
}

/// The syntax of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// controller-gen's.
    Arguments,
    /// JSON.
    Json,
    /// client-gen's: words separated by commas.
    Words,
}

impl Definition {
    pub(super) fn syntax(&self) -> Syntax {
        match self.name.as_str() {
            "default" => Syntax::Json,
            name if name.starts_with("genclient") || name.starts_with("k8s:deepcopy-gen") => Syntax::Words,
            _ => Syntax::Arguments,
        }
    }

    /// The arguments by name, if it has any.
    pub(super) fn arguments(&self) -> Option<&'static [KeySpec]> {
        match self.target {
            Target::Arguments(family) => Some(family.spec().keys),
            Target::Key(_, key) | Target::Item(_, key) => match key.shape {
                Shape::Nested(keys) | Shape::FlagOrNested(keys) => Some(keys),
                _ => None,
            },
            Target::Attribute(_) | Target::Module(_) => None,
        }
    }

    /// The key that an argument of the marker sets.
    pub fn argument(&self, name: &str) -> Option<&'static KeySpec> {
        self.arguments()?.iter().find(|key| argument_name(key, &self.name) == Some(name))
    }

    /// The equivalent attribute: `#[validation(min_length = 1)]`.
    pub fn attribute(&self) -> String {
        match self.target {
            Target::Attribute(family) => format!("#[{}]", family.name()),
            Target::Key(family, key) => format!("#[{}({})]", family.name(), key.example),
            Target::Item(items, key) => format!("#[validation({}({}))]", items.name, key.example),
            Target::Arguments(family) => {
                let keys = family.spec().keys.iter().filter(|key| is_typical(family, key));
                let keys = keys.filter(|key| argument_name(key, &self.name).is_some());
                let keys: Vec<&str> = keys.map(|key| key.example).collect();
                format!("#[{}({})]", family.name(), keys.join(", "))
            }
            Target::Module(_) => "(none)".to_owned(),
        }
    }

    /// The places in words.
    pub fn describe_places(&self) -> String {
        match self.target {
            Target::Module(_) => "a module, as `//!`".to_owned(),
            _ => self.places.describe(),
        }
    }

    /// Whether the place is valid.
    pub fn fits(&self, place: Place) -> bool {
        self.places.contains(place)
    }
}

/// Markers whose arguments are keys of the attribute itself.
const GROUPED: &[(&str, Family)] = &[
    ("kubebuilder:rbac", Family::Rbac),
    ("kubebuilder:resource", Family::Resource),
    ("kubebuilder:webhook", Family::Webhook),
    ("kubebuilder:webhookconfiguration", Family::WebhookConfiguration),
];

/// Whether an example of a whole attribute includes the key: all of them together could contradict each
/// other.
pub(super) fn is_typical(family: Family, key: &KeySpec) -> bool {
    match family {
        Family::Rbac => matches!(key.name, "groups" | "resources" | "verbs"),
        Family::Webhook => key.required || matches!(key.name, "path" | "side_effects"),
        _ => true,
    }
}

/// The name of a key among the arguments of a marker: `path` of `plural` in `kubebuilder:resource`.
pub(super) fn argument_name(key: &KeySpec, marker: &str) -> Option<&'static str> {
    let is_grouped = GROUPED.iter().any(|(name, _)| *name == marker);
    key.markers.iter().find_map(|name| match name.rsplit_once(':') {
        Some((prefix, last)) => (is_grouped && prefix == marker).then_some(last),
        None => (!is_grouped).then_some(*name),
    })
}

/// All markers by name.
pub fn definitions() -> &'static BTreeMap<String, Definition> {
    static ALL: LazyLock<BTreeMap<String, Definition>> = LazyLock::new(collect);
    &ALL
}

fn collect() -> BTreeMap<String, Definition> {
    let mut all = BTreeMap::new();
    let mut add = |name: &str, target: Target, places: Places| {
        // The first row wins: `required` of modules and of fields have the same marker.
        all.entry(name.to_owned()).or_insert(Definition { name: name.to_owned(), target, places });
    };
    for family in FAMILIES {
        for name in family.markers {
            add(name, Target::Attribute(family.family), family.places);
        }
        for key in family.keys {
            let grouped = |name: &str| {
                GROUPED.iter().any(|(group, _)| name.rsplit_once(':').is_some_and(|(p, _)| p == *group))
            };
            for name in key.markers.iter().filter(|name| !grouped(name)) {
                add(name, Target::Key(family.family, key), family.places.and(key.places));
            }
            let Shape::Nested(keys) = key.shape else { continue };
            for inner in keys.iter().filter(|_| key.name == "items") {
                for name in inner.markers {
                    let name = name.replace("kubebuilder:validation:", "kubebuilder:validation:items:");
                    add(&name, Target::Item(key, inner), family.places.and(key.places));
                }
            }
        }
    }
    for (name, family) in GROUPED {
        add(name, Target::Arguments(*family), family.spec().places);
    }
    for key in MODULE {
        for name in key.markers {
            add(name, Target::Module(key), Places::NONE);
        }
    }
    all
}

/// The marker at the start of a text: the longest name first, then the marker of its first argument.
pub(crate) fn find(name: &str) -> Option<&'static Definition> {
    let all = definitions();
    let name = name.trim_end_matches(':');
    all.get(name).or_else(|| {
        let (outer, _) = name.rsplit_once(':')?;
        all.get(outer).filter(|definition| definition.arguments().is_some())
    })
}

/// A key as written, for messages.
#[derive(Clone, Copy, Debug)]
pub(in crate::grammar) struct Written {
    pub(in crate::grammar) key: &'static KeySpec,
    /// The marker that sets it; `None`: a key of an attribute.
    pub(in crate::grammar) marker: Option<&'static Definition>,
}

impl Written {
    pub(in crate::grammar) fn attribute(key: &'static KeySpec) -> Self {
        Self { key, marker: None }
    }

    /// The marker's key, or one of its arguments.
    fn is_argument(self) -> bool {
        self.marker.is_some_and(|marker| {
            let whole = marker.target.key().is_some_and(|key| std::ptr::eq(key, self.key));
            !whole && !self.key.markers.contains(&marker.name.as_str())
        })
    }

    /// `min_length`, `+kubebuilder:validation:MinLength` or `JSONPath`.
    pub(in crate::grammar) fn name(self) -> Cow<'static, str> {
        match self.marker {
            None => self.key.name.into(),
            Some(marker) if self.is_argument() => {
                argument_name(self.key, &marker.name).unwrap_or(self.key.name).into()
            }
            Some(marker) => format!("+{}", marker.name).into(),
        }
    }

    /// An example of it.
    pub(in crate::grammar) fn example(self) -> Cow<'static, str> {
        match self.marker {
            None => self.key.example.into(),
            Some(marker) => super::write::example(marker, self.key).into(),
        }
    }
}
