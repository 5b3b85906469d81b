//! Writes docs/reference/attributes.md from the table.

use std::fmt::Write as _;

use super::{
    FAMILIES, FamilySpec, KeySpec, MEANINGLESS, MODULE, Places, Shape, Target, definitions, marker_text,
};

/// The text of docs/reference/attributes.md: every key with its value, places, marker, meaning and example.
pub fn attributes_markdown() -> String {
    let mut out = String::from(INTRODUCTION);
    for family in FAMILIES {
        write_family(&mut out, family);
    }
    write_modules(&mut out);
    write_markers(&mut out);
    out
}

const INTRODUCTION: &str = "\
# Attributes and markers

<!-- Written from the table in codegen-core/src/grammar/table. `KUBESMITH_UPDATE=1 cargo test -p kubesmith-core` writes it anew. -->

Keys are named after the markers of controller-gen and code-generator, in Rust's case. Every key that is accepted has
an effect: unknown keys, keys in the wrong place, keys given twice and contradictions are errors, with the same code
and words from the derive macros and from `kubesmith generate`.

Values are literals, since the source is read without running it: strings, numbers, `true`, `false`, `null`, lists
`[1, 2]` and objects `{\"a\": 1}`. A default may also be a constant, `default = ref(PATH)`, as far as its value can be read. Keys
may be spread over several attributes of the same name.

Keys of keys stand in parentheses or in braces, which mean the same: `print_column(name = \"Age\", ...)` or
`print_column { name = \"Age\", ... }`. Clippy's `duplicated_attributes` takes a word that is said twice in the same place for a
mistake, as in two `method(..., verb = \"create\")` or two `print_column(..., type = \"string\")`, in one attribute or in several. It
does not look into an attribute that has braces in it, so write `method { ... }` there.

The markers themselves, as lines of a doc comment, mean the same as the attributes, so that a Go type is ported by
copying its comments:

    /// How many loaves.
    /// +kubebuilder:validation:Minimum=1
    /// +kubebuilder:default=12
    pub loaves: i32,

They are written as for controller-gen: bare, quoted and raw (backtick) strings, lists `a;b` or `{a, b}`, maps
`{key: value}`, and arguments as in `+kubebuilder:printcolumn:name=\"Loaves\",JSONPath=\".spec.loaves\"`. They never
become part of a description. A marker that is unknown or in the wrong place is an error, so is one that says again
what an attribute says; lines that begin with `+` and a letter are therefore always markers, unless in a fence. Markers
that mean the same may stand together and must then agree; of two defaults `+kubebuilder:default` counts.

On a type alias, `pub type Name = String;`, only markers may stand, as rustc knows no attributes of ours there. They hold
wherever the alias is used, like those of a newtype, and fields may add to them.

Markers that are rules of roles and webhooks (`+kubebuilder:rbac`, `+kubebuilder:webhook`,
`+kubebuilder:webhookconfiguration`) stand anywhere between items, in plain `//` comments as well, as in Go.
";

const MODULES_INTRODUCTION: &str = "
## Modules

What is true of all types of a Go package stands in the doc comment of the module, and holds for its child modules:
`//! +groupName=hopegi.com`. There is no attribute for it. For a module's resources the group and version need not be
said again with `#[resource]`.

| Marker | Meaning |
|---|---|
";

const MARKERS_INTRODUCTION: &str = "
## Markers

Every marker, with what it stands for and an example of it.

| Marker | Attribute | Stands on | Example |
|---|---|---|---|
";

const MEANINGLESS_INTRODUCTION: &str = "
These markers have no meaning for Rust types; a warning says so.

| Marker | Why |
|---|---|
";

/// Markers, each in quotes.
fn names(markers: &[&str]) -> String {
    markers.iter().map(|name| format!("`+{name}`")).collect::<Vec<_>>().join(", ")
}

fn write_modules(out: &mut String) {
    out.push_str(MODULES_INTRODUCTION);
    for key in MODULE {
        let _ = writeln!(out, "| {} | {} |", names(key.markers), cell(key.doc));
    }
}

fn write_markers(out: &mut String) {
    out.push_str(MARKERS_INTRODUCTION);
    for definition in definitions().values().filter(|d| !matches!(d.target, Target::Module(_))) {
        let _ = writeln!(
            out,
            "| `+{}` | `{}` | {} | `{}` |",
            definition.name,
            cell(&definition.attribute()),
            definition.describe_places(),
            cell(&marker_text(definition))
        );
    }
    out.push_str(MEANINGLESS_INTRODUCTION);
    for meaningless in MEANINGLESS {
        let _ = writeln!(out, "| {} | {} |", names(meaningless.markers), meaningless.reason);
    }
}

fn write_family(out: &mut String, family: &FamilySpec) {
    let name = family.family.name();
    let _ = write!(out, "\n## `#[{name}]`\n\n{}\n\n", family.doc);
    let _ = writeln!(out, "- Stands on: {}", family.places.describe());
    if !family.markers.is_empty() {
        let _ = writeln!(out, "- Stands for: {}", names(family.markers));
    }
    if family.keys.is_empty() {
        let _ = writeln!(out, "- Takes no keys: `#[{name}]`");
        return;
    }
    if family.bare {
        let _ = writeln!(out, "- May be empty: `#[{name}]`");
    }
    write_keys(out, family.keys, true);
    for key in family.keys {
        // `items` has the same keys as `validation`.
        let (Shape::Nested(keys) | Shape::FlagOrNested(keys)) = key.shape else { continue };
        if key.name != "items" {
            let _ = writeln!(out, "\n### `{}(...)` of `#[{name}]`", key.name);
            write_keys(out, keys, false);
        }
    }
}

fn write_keys(out: &mut String, keys: &[KeySpec], markers: bool) {
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
        let marker = match key.markers {
            [] if key.name == "items" => "`+kubebuilder:validation:items:*`".to_owned(),
            [] => "(none)".to_owned(),
            names if markers => self::names(names),
            arguments => format!("`{}`", arguments.join("`, `")),
        };
        let (name, doc, example) = (key.name, cell(key.doc), cell(key.example));
        let _ = writeln!(out, "| `{name}` | {value} | {} | {doc} | `{example}` |", cell(&marker));
    }
}

fn describe(shape: Shape) -> String {
    let names = |names: &[&str]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Flag => "flag".to_owned(),
        Shape::Bool => "flag, or `false`".to_owned(),
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
        Shape::JsonOrRef => "literal, or `ref(CONSTANT)`".to_owned(),
        Shape::Jsons => "literals".to_owned(),
        Shape::Nested(_) => "keys".to_owned(),
        Shape::FlagOrNested(_) => "flag or keys".to_owned(),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
