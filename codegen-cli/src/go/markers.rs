//! Selects the effective markers of a Go declaration, as controller-gen does: unknown and misplaced markers
//! have no effect, and the last duplicate wins.

use kubesmith_core::grammar::{Definition, Family, Place, Shape, Target, marker_definition, marker_name};

use super::release::Release;
use super::syntax::Word;
use crate::ir::Beside;

/// Markers that make a field required or optional.
const PRESENCE: [&str; 6] = [
    "kubebuilder:validation:Optional",
    "kubebuilder:validation:Required",
    "optional",
    "k8s:optional",
    "required",
    "k8s:required",
];

/// Markers that take `true` or `false`, and have no effect with the latter.
const BOOLEAN: [&str; 3] = ["ExclusiveMaximum", "ExclusiveMinimum", "UniqueItems"];

/// Markers for packages in controller-gen's registry that types do not have.
const OF_PACKAGES: [&str; 5] = [
    "groupName",
    "versionName",
    "kubebuilder:skip",
    "kubebuilder:validation:Optional",
    "kubebuilder:validation:Required",
];

/// The name of a marker, which may end in the names of arguments. `:=` is the same as `=`.
pub(super) fn name(marker: &Word) -> &str {
    let name = marker_name(&marker.text).unwrap_or_default();
    // A space before `=` belongs to the name: `splitMarker` of controller-tools, pkg/markers/parse.go.
    let rest = marker.text.trim_start_matches('+').strip_prefix(name).unwrap_or_default();
    let is_longer = !rest.starts_with('=') && rest.trim_start().starts_with('=');
    if is_longer { "" } else { name.strip_suffix(':').unwrap_or(name) }
}

/// A marker of one value without the name that the value has, as in `+kubebuilder:default:string=no`: `splitMarker` and
/// `Definition.Parse` of controller-tools, pkg/markers/parse.go, ignore it.
pub(super) fn unnamed(marker: &str) -> String {
    let has_one_value = |name: &str| {
        let definition = marker_definition(name).filter(|definition| definition.name == name);
        let key = match definition.map(|definition| definition.target) {
            Some(Target::Key(Family::Schema | Family::Validation, key) | Target::Item(_, key)) => key,
            _ => return false,
        };
        !matches!(key.shape, Shape::Flag | Shape::Nested(_) | Shape::FlagOrNested(_))
    };
    let parts = marker.strip_prefix('+').and_then(|rest| rest.split_once('='));
    let outer = parts.and_then(|(said, value)| Some((said, said.rsplit_once(':')?.0, value)));
    match outer {
        Some((said, outer, value)) if marker_definition(said).is_none() && has_one_value(outer) => {
            format!("+{outer}={value}")
        }
        _ => marker.to_string(),
    }
}

/// Whether a marker, from its `+`, belongs to packages.
pub(super) fn is_of_package(text: &str) -> bool {
    let name = marker_name(text).unwrap_or_default();
    let name = name.strip_suffix(':').unwrap_or(name);
    OF_PACKAGES.contains(&name) || is_manifest(name)
}

/// Whether it declares roles or webhooks.
pub(super) fn is_manifest(name: &str) -> bool {
    is_beside(name, Beside { rules: true, webhooks: true })
}

/// Whether it declares one of these facts beside types.
pub(super) fn is_beside(name: &str, wanted: Beside) -> bool {
    let family = marker_definition(name).and_then(family).filter(|family| family.stands_alone());
    family.is_some_and(|family| if family == Family::Rbac { wanted.rules } else { wanted.webhooks })
}

/// The effective markers, in source order.
pub(super) fn effective(markers: &[Word], place: Place) -> Vec<&Word> {
    let kept: Vec<(&Word, &Definition)> =
        markers.iter().filter_map(|marker| Some((marker, counts(marker, place)?))).collect();
    let is_last = |at: usize| {
        let (marker, definition) = kept[at];
        let Some(key) = single(definition) else { return true };
        !kept.iter().enumerate().any(|(other, (later, found))| {
            single(found) == Some(key) && rank(later, other) > rank(marker, at)
        })
    };
    (0..kept.len()).filter(|at| is_last(*at)).map(|at| kept[at].0).collect()
}

/// Orders `+kubebuilder:default` after `+default` regardless of their order in the source.
fn rank(marker: &Word, at: usize) -> (bool, usize) {
    (name(marker) == "kubebuilder:default", at)
}

fn counts<'d>(marker: &Word, place: Place) -> Option<&'d Definition> {
    let name = name(marker);
    let definition = marker_definition(name)?;
    let family = family(definition)?;
    let is_foreign = family.stands_alone() || matches!(family, Family::Genclient | Family::Deepcopy);
    let value = marker.text.split_once('=').map_or("", |(_, value)| value.trim());
    let is_nothing = name == "default" && value.starts_with("ref(")
        || value == "false" && BOOLEAN.iter().any(|last| name.ends_with(last));
    (definition.fits(place) && !is_foreign && !is_nothing && !PRESENCE.contains(&name)).then_some(definition)
}

/// A marker that takes no value and has `=`, also after `:x`, the syntax of arguments: its definition, and what follows.
/// `Definition.Parse` of controller-tools, pkg/markers/parse.go, refuses that unless it is empty.
pub(super) fn flag(marker: &Word) -> Option<(&'static Definition, &str)> {
    let (said, value) = marker.text.trim_start_matches('+').split_once('=')?;
    let outer = || said.rsplit_once(':').and_then(|(outer, _)| marker_definition(outer));
    let definition = marker_definition(said).or_else(outer)?;
    let (Target::Key(_, key) | Target::Item(_, key)) = definition.target else { return None };
    let takes_none = matches!(key.shape, Shape::Flag)
        && !matches!(family(definition), Some(Family::Genclient | Family::Deepcopy))
        && !BOOLEAN.iter().any(|last| definition.name.ends_with(last));
    takes_none.then_some((definition, value.trim()))
}

fn family(definition: &Definition) -> Option<Family> {
    match definition.target {
        Target::Attribute(family) | Target::Key(family, _) | Target::Arguments(family) => Some(family),
        Target::Item(..) => Some(Family::Validation),
        Target::Module(_) => None,
    }
}

/// Markers that may occur once.
fn single(definition: &Definition) -> Option<(Option<Family>, bool, &'static str)> {
    match definition.target {
        Target::Key(_, key) => (!key.repeatable).then_some((family(definition), false, key.name)),
        Target::Item(_, key) => (!key.repeatable).then_some((family(definition), true, key.name)),
        Target::Arguments(_) => Some((family(definition), false, "")),
        Target::Attribute(_) | Target::Module(_) => None,
    }
}

/// Whether markers require a field, by their ranks in controller-gen; `None`: no marker decides.
pub(super) fn presence(markers: &[Word], release: Release) -> Option<bool> {
    let first = PRESENCE.iter().find(|wanted| release.knows(wanted) && has(markers, wanted))?;
    Some(first.to_lowercase().ends_with("required"))
}

/// Whether there is a marker of that name.
pub(super) fn has(markers: &[Word], wanted: &str) -> bool {
    markers.iter().any(|marker| name(marker) == wanted)
}

/// The value of the last marker of that name.
pub(super) fn value<'m>(markers: &'m [Word], wanted: &str) -> Option<&'m str> {
    let found = markers.iter().rev().find(|marker| name(marker) == wanted)?;
    Some(found.text.split_once('=').map_or("", |(_, value)| value.trim()).trim_matches(['"', '`']))
}

/// A marker whose bound is no whole number that Go's `float64` holds, or hexadecimal, with the number that controller-gen
/// writes for it.
pub(super) fn rounded(marker: String) -> String {
    let Some((name, value)) = marker.split_once('=') else { return marker };
    let name = name.trim_end_matches(':');
    if !["Maximum", "Minimum", "MultipleOf"].iter().any(|last| name.ends_with(last)) {
        return marker;
    }
    let value = value.trim();
    match (value.parse::<i64>(), hexadecimal(value)) {
        (Ok(number), _) if number.unsigned_abs() > EXACT => format!("{name}={}", number as f64),
        (_, Some(number)) => format!("{name}={number}"),
        _ => marker,
    }
}

/// A hexadecimal number, `0x1p-2`, which must have an exponent: `readFloat` of Go's strconv/atof.go.
fn hexadecimal(text: &str) -> Option<f64> {
    let (sign, rest) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let rest = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))?;
    let (digits, exponent) = rest.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = format!("{whole}{fraction}");
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mantissa = u64::from_str_radix(&digits, 16).ok().filter(|_| is_number)?;
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(4 * fraction.len()).ok()?)?;
    let value = sign * mantissa as f64 * 2_f64.powi(exponent);
    value.is_finite().then_some(value)
}

/// Up to this number, every whole number is a `float64`.
const EXACT: u64 = 1 << 53;

/// The kind of values that a constraint restricts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// A number.
    Number,
    /// A text.
    Text,
    /// A list.
    List,
    /// An object.
    Object,
}

impl Wants {
    /// The kind in words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Number => "numbers",
            Self::Text => "strings",
            Self::List => "lists",
            Self::Object => "objects",
        }
    }
}

/// The kind of values that controller-gen requires for a marker.
pub(super) fn wants(marker: &Word) -> Option<Wants> {
    let name = name(marker);
    if name.starts_with("kubebuilder:validation:items:") {
        return Some(Wants::List);
    }
    match name.strip_prefix("kubebuilder:validation:").unwrap_or(name) {
        "Maximum" | "Minimum" | "ExclusiveMaximum" | "ExclusiveMinimum" | "MultipleOf" => Some(Wants::Number),
        "MaxLength" | "MinLength" | "Pattern" => Some(Wants::Text),
        "MaxItems" | "MinItems" | "UniqueItems" | "listType" | "k8s:listType" => Some(Wants::List),
        "MaxProperties" | "MinProperties" | "mapType" => Some(Wants::Object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_bounds_are_written_as_decimals() {
        for (value, wanted) in [
            ("0x1p-2", "0.25"),
            ("-0X1.8P+1", "-3"),
            ("0x10", "0x10"),
            ("0x+1p0", "0x+1p0"),
            ("0x1p9999", "0x1p9999"),
            ("9007199254740993", "9007199254740992"),
        ] {
            let written = rounded(format!("+kubebuilder:validation:Maximum={value}"));
            assert_eq!(written, format!("+kubebuilder:validation:Maximum={wanted}"));
        }
    }
}
