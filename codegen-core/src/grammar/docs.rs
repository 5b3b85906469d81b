//! Writes docs/attributes.md from the table.

use std::fmt::Write as _;

use super::{FAMILIES, FamilySpec, KeySpec, PLANNED, Places, Shape};

/// The text of docs/attributes.md: every key with its value, places, marker, meaning and example,
/// and the markers that are planned.
pub fn attributes_markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    for family in FAMILIES {
        write_family(&mut out, family);
    }
    out.push_str(PLANNED_INTRODUCTION);
    for planned in PLANNED {
        let _ = writeln!(out, "| `{}` | `{}` | {} |", cell(planned.marker), cell(planned.key), planned.doc);
    }
    out
}

const INTRODUCTION: &str = "\
# Attributes

<!-- Written from the table in codegen-core/src/grammar/table.rs. `KUBESMITH_UPDATE=1 cargo test -p kubesmith-core` writes it anew. -->

Keys are named after the markers of controller-gen and code-generator, in Rust's case. Every key that is accepted has
an effect: unknown keys, keys in the wrong place, keys given twice and contradictions are errors, with the same code
and words from the derive macros and from `kubesmith generate`.

Values are literals, since the source is read without running it: strings, numbers, `true`, `false`, `null`, lists
`[1, 2]` and objects `{\"a\": 1}`. Keys may be spread over several attributes of the same name.
";

const PLANNED_INTRODUCTION: &str = "
## Planned

These markers have no key. Using one of the keys below is an error.

| Marker | Key | Meaning |
|---|---|---|
";

fn write_family(out: &mut String, family: &FamilySpec) {
    let name = family.family.name();
    let _ = write!(out, "\n## `#[{name}]`\n\n{}\n\n", family.doc);
    let _ = writeln!(out, "- Stands on: {}", family.places.describe());
    let _ = writeln!(out, "- Stands for: `{}`", family.marker);
    if family.keys.is_empty() {
        let _ = writeln!(out, "- Takes no keys: `#[{name}]`");
        return;
    }
    if family.bare {
        let _ = writeln!(out, "- May be empty: `#[{name}]`");
    }
    write_keys(out, family.keys);
    for key in family.keys {
        // `items` has the keys of `validation` itself.
        let (Shape::Nested(keys) | Shape::FlagOrNested(keys)) = key.shape else { continue };
        if key.name != "items" {
            let _ = writeln!(out, "\n### `{}(...)` of `#[{name}]`", key.name);
            write_keys(out, keys);
        }
    }
}

fn write_keys(out: &mut String, keys: &[KeySpec]) {
    out.push_str("\n| Key | Value | Marker | Meaning | Example |\n|---|---|---|---|---|\n");
    for key in keys {
        let mut value = describe(key.shape);
        if key.repeatable {
            value.push_str(", repeatable");
        }
        if key.required {
            value.push_str(", required");
        }
        if key.places == Places::FIELD {
            value.push_str(", fields only");
        }
        let _ = writeln!(
            out,
            "| `{}` | {value} | `{}` | {} | `{}` |",
            key.name,
            cell(key.marker),
            cell(key.doc),
            cell(key.example)
        );
    }
}

fn describe(shape: Shape) -> String {
    let names = |names: &[&str]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Flag => "flag".to_owned(),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Word(values) => format!("one of {}, in any letter case", names(values)),
        Shape::List => "strings, or one with `;`".to_owned(),
        Shape::String => "string".to_owned(),
        Shape::OneOf(values) => format!("one of {}", names(values)),
        Shape::Strings => "strings".to_owned(),
        Shape::SomeOf(values) => format!("some of {}", names(values)),
        Shape::StringMap => "names and strings".to_owned(),
        Shape::Integer => "integer".to_owned(),
        Shape::Unsigned => "count".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Json => "literal".to_owned(),
        Shape::Jsons => "literals".to_owned(),
        Shape::Nested(_) => "keys".to_owned(),
        Shape::FlagOrNested(_) => "flag or keys".to_owned(),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
