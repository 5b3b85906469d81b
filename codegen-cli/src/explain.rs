//! Prints the attribute table and the code table: `kubesmith explain`.

use std::fmt::Write as _;

use kubesmith_core::book;
use kubesmith_core::diag::{CODES, Code};
use kubesmith_core::grammar::{
    Definition, FAMILIES, Family, FamilySpec, KeySpec, MEANINGLESS, Places, Shape, Target, definitions,
    marker_name, marker_text, near,
};
use kubesmith_core::names::closest;

/// The width of running text.
const WIDTH: usize = 90;

/// Explains an attribute (`resource`), a key (`resource.scope`, `minimum`), a Go marker or a code; without a
/// topic, gives an overview.
///
/// # Errors
/// Returns an error with similar topics if the topic is unknown.
pub fn explain(topic: Option<&str>) -> Result<String, String> {
    let Some(topic) = topic else { return Ok(overview()) };
    if let Some(code) = Code::parse(topic) {
        let info = code.info();
        return Ok(format!("{}: {}\n\n{}\n", info.code, info.title, paragraph(info.help)));
    }
    // A marker may lack its plus sign if no attribute has the name.
    let bare = format!("+{topic}");
    if let Some(marker) = marker_name(topic).or_else(|| marker_name(&bare).filter(|name| is_marker(name))) {
        return explain_marker(marker);
    }
    let name = topic.trim_start_matches("#[").trim_end_matches(']');
    if let Some(family) = FAMILIES.iter().find(|family| family.family.name() == name) {
        return Ok(describe_family(family));
    }
    let found: Vec<String> = keys()
        .into_iter()
        .filter(|(path, key, _)| path == name || key.name == name)
        .map(|(path, key, places)| describe_key(&path, key, places))
        .collect();
    if !found.is_empty() {
        return Ok(found.join("\n"));
    }
    let known: Vec<String> = keys()
        .into_iter()
        .flat_map(|(path, key, _)| [path, key.name.to_string()])
        .chain(FAMILIES.iter().map(|family| family.family.name().to_string()))
        .chain(CODES.iter().map(|info| info.code.to_string()))
        .collect();
    let near = closest(name, known.iter().map(String::as_str));
    Err(match near {
        Some(near) => format!("unknown topic `{topic}`; did you mean `{near}`?"),
        None => format!("unknown topic `{topic}`; `kubesmith explain` lists attributes and codes"),
    })
}

/// Explains a marker with the equivalent attribute.
fn explain_marker(name: &str) -> Result<String, String> {
    let outer = name.rsplit_once(':').map_or(name, |(outer, _)| outer);
    let all = definitions();
    if let Some(definition) = all.get(name) {
        return Ok(describe_marker(definition));
    }
    if let Some(meaningless) = MEANINGLESS.iter().find(|marker| marker.covers(name)) {
        return Ok(format!("+{name}\n\n  It has no meaning for Rust types: {}.\n", meaningless.reason));
    }
    if let Some(definition) = all.get(outer) {
        return Ok(describe_marker(definition));
    }
    Err(match near(name) {
        Some(near) => format!("unknown topic `+{name}`; did you mean `+{near}`?"),
        None => format!("unknown topic `+{name}`; {} lists the markers", book!("reference/attributes.md")),
    })
}

/// Whether a topic can only be a marker.
fn is_marker(name: &str) -> bool {
    name.contains(':')
}

fn describe_marker(definition: &Definition) -> String {
    let doc = match definition.target {
        Target::Key(_, key) | Target::Item(_, key) | Target::Module(key) => sentence(key.doc),
        Target::Attribute(family) | Target::Arguments(family) => sentence(family.spec().doc),
    };
    let mut out = format!("+{}\n\n  {doc}\n", definition.name);
    let _ = writeln!(out, "  Example:   {}", marker_text(definition));
    let _ = writeln!(out, "  Attribute: {}", definition.attribute());
    let _ = writeln!(out, "  Stands on: {}", definition.describe_places());
    out
}

/// A key with its path, `resource.scale.spec_path`, and its valid places.
type Key = (String, &'static KeySpec, Places);

fn keys() -> Vec<Key> {
    let mut out = Vec::new();
    for family in FAMILIES {
        collect(family.family.name(), family.places, family.keys, 0, &mut out);
    }
    out
}

fn collect(prefix: &str, within: Places, keys: &'static [KeySpec], depth: usize, out: &mut Vec<Key>) {
    // `items` contains itself: lists of lists.
    const DEPTH: usize = 2;
    for key in keys {
        let path = format!("{prefix}.{}", key.name);
        let places = within.and(key.places);
        out.push((path.clone(), key, places));
        if let Shape::Nested(inner) | Shape::FlagOrNested(inner) = key.shape
            && depth < DEPTH
            && key.name != "items"
        {
            collect(&path, places, inner, depth + 1, out);
        }
    }
}

fn overview() -> String {
    let mut out = String::from("Attributes:\n");
    for family in FAMILIES {
        let _ = writeln!(out, "  #[{}]  {}", family.family.name(), family.doc);
        let names: Vec<&str> = family.keys.iter().map(|key| key.name).collect();
        for line in wrapped(&names) {
            let _ = writeln!(out, "      {line}");
        }
    }
    out.push_str("\nDiagnostics:\n");
    for info in CODES {
        let _ = writeln!(out, "  {}  {}", info.code, info.title);
    }
    out.push_str("\n`kubesmith explain NAME` says more of an attribute, a key, a Go marker or a code.\n");
    out
}

fn markers(names: &[&str]) -> String {
    names.iter().map(|name| format!("+{name}")).collect::<Vec<_>>().join(", ")
}

/// The text with a full stop.
fn sentence(text: &str) -> String {
    format!("{}.", text.trim_end_matches('.'))
}

/// Text in lines of at most [`WIDTH`] characters.
fn paragraph(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    lines(&words, " ").join("\n")
}

/// Names separated by commas, in lines.
fn wrapped(names: &[&str]) -> Vec<String> {
    lines(names, ", ")
}

fn lines(words: &[&str], separator: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let text = if at + 1 < words.len() { format!("{word}{separator}") } else { (*word).to_string() };
        match lines.last_mut() {
            Some(line) if line.len() + word.len() <= WIDTH => line.push_str(&text),
            _ => lines.push(text),
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_string()).collect()
}

fn describe_family(family: &FamilySpec) -> String {
    let mut out = format!("#[{}]\n\n{}\n", family.family.name(), sentence(family.doc));
    let _ = writeln!(out, "Stands on: {}", family.places.describe());
    if !family.markers.is_empty() {
        let _ = writeln!(out, "Markers: {}", markers(family.markers));
    }
    if family.family == Family::Deepcopy {
        return out;
    }
    out.push_str("\nKeys:\n");
    for key in family.keys {
        let _ = writeln!(out, "  {:<26} {}", key.name, key.doc);
    }
    out
}

fn describe_key(path: &str, key: &KeySpec, places: Places) -> String {
    let mut out = format!("{path}\n\n  {}\n", sentence(key.doc));
    let _ = writeln!(out, "  Example:   {}", key.example);
    match (key.markers, path.matches('.').count()) {
        ([], _) => {}
        (names, 1) => drop(writeln!(out, "  Marker:    {}", markers(names))),
        (names, _) => drop(writeln!(out, "  Argument:  {}", names.join(", "))),
    }
    let _ = writeln!(out, "  Stands on: {}", places.describe());
    if key.repeatable {
        out.push_str("  May be given several times.\n");
    }
    if key.required {
        out.push_str("  Must be given.\n");
    }
    if let Shape::Nested(inner) | Shape::FlagOrNested(inner) = key.shape {
        let names: Vec<&str> = inner.iter().map(|key| key.name).collect();
        for (at, line) in wrapped(&names).iter().enumerate() {
            let _ = writeln!(out, "  {}{line}", if at == 0 { "Keys:      " } else { "           " });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explain_knows_keys_markers_and_codes() {
        for topic in [
            "resource",
            "#[validation]",
            "resource.scope",
            "minimum",
            "+kubebuilder:validation:Minimum",
            "KS0001",
            "ks0407",
        ] {
            assert!(explain(Some(topic)).is_ok(), "{topic}");
        }
        for info in CODES {
            assert!(explain(None).unwrap().contains(info.title));
        }
    }

    #[test]
    fn explain_shows_the_place_of_the_outer_attribute() {
        for topic in ["scale", "resource.scale", "resource.scale.spec_path"] {
            let text = explain(Some(topic)).unwrap();
            assert!(text.contains("Stands on: the type that derives `Resource`\n"), "{text}");
        }
    }

    #[test]
    fn marker_is_explained_with_or_without_its_plus() {
        let method = explain(Some("+genclient:method")).unwrap();
        assert!(method.contains("#[genclient(method("), "{method}");
        let minimum = explain(Some("+kubebuilder:validation:Minimum")).unwrap();
        assert_eq!(explain(Some("kubebuilder:validation:Minimum")).unwrap(), minimum);
        assert!(explain(Some("kubebuilder:validation:Minimun")).unwrap_err().contains("did you mean"));
    }

    #[test]
    fn unknown_topic_gets_a_suggestion() {
        assert!(explain(Some("minimun")).unwrap_err().contains("did you mean `minimum`"));
        assert!(explain(Some("zzzzzz")).is_err());
    }
}
