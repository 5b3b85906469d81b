//! The table and the code agree: every example is right, every key has an effect.

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{
    FAMILIES, Family, FamilySpec, ItemAttributes, KeySpec, Place, Places, Shape, parse_attributes,
};
use kubesmith_core::model::{ResourceInput, TypeModel};
use syn::parse_quote;

/// All keys with the attribute text that sets them: `print_column(name = "A", ...)` for nested ones.
fn keys(family: &FamilySpec) -> Vec<(&'static KeySpec, String)> {
    let mut all = Vec::new();
    for key in family.keys {
        all.push((key, key.example.to_owned()));
        if let Shape::Nested(inner) | Shape::FlagOrNested(inner) = key.shape {
            for nested in inner {
                let required =
                    inner.iter().filter(|k| k.required && k.name != nested.name).map(|k| k.example);
                let arguments: Vec<_> = required.chain([nested.example]).collect();
                all.push((nested, format!("{}({})", key.name, arguments.join(", "))));
            }
        }
    }
    all
}

fn place(family: &FamilySpec, key: &KeySpec) -> Place {
    if family.places == Places::ROOT {
        return Place::Root;
    }
    if key.places.contains(Place::Struct) { Place::Struct } else { Place::Field }
}

#[test]
fn names_are_unique_and_documented() {
    for family in FAMILIES {
        assert_eq!(family.family.spec().markers, family.markers);
        for (at, key) in family.keys.iter().enumerate() {
            assert!(
                family.keys[..at].iter().all(|other| other.name != key.name),
                "{} is there twice",
                key.name
            );
        }
        for (key, _) in keys(family) {
            assert!(!key.doc.is_empty() && !key.doc.ends_with('.'), "{}: {}", key.name, key.doc);
            assert!(key.example.starts_with(key.name), "{}: {}", key.name, key.example);
        }
    }
}

#[test]
fn examples_are_right() {
    for family in FAMILIES {
        for (key, text) in keys(family) {
            let tokens: proc_macro2::TokenStream = text.parse().unwrap();
            let name = quote::format_ident!("{}", family.family.name());
            let attribute: syn::Attribute = parse_quote!(#[#name(#tokens)]);
            let mut diagnostics = Diagnostics::new();
            let attributes = [attribute];
            let item = ItemAttributes::new(&attributes);
            let parsed = parse_attributes(family.family, &item, place(family, key), &mut diagnostics);
            let wrong: Vec<_> = diagnostics
                .take()
                .iter()
                .map(|d| d.to_text())
                .filter(|text| !text.starts_with("KS0009"))
                .collect();
            assert!(wrong.is_empty(), "{text}: {wrong:?}");
            assert_eq!(parsed.entries.len(), 1, "{text}");
        }
    }
}

/// The model of a resource, or of a struct with one field, as text without places.
fn model(family: Family, place: Place, text: &str) -> String {
    let attribute = match (family, text) {
        (Family::Genclient | Family::Deepcopy, "") => format!("#[{}]", family.name()),
        (_, "") => String::new(),
        _ => format!("#[{}({text})]", family.name()),
    };
    let mut diagnostics = Diagnostics::new();
    let model = if place == Place::Root {
        // The required keys are given apart, unless the text gives them.
        let given = |key: &str| text.starts_with(&format!("{key} ="));
        let group = if given("group") { "" } else { "#[resource(group = \"g.com\")]" };
        let version = if given("version") { "" } else { "#[resource(version = \"v9\")]" };
        let source =
            format!("{group}{version}{attribute} struct Foo {{ metadata: ObjectMeta, spec: S, status: T }}");
        let item: syn::ItemStruct = syn::parse_str(&source).unwrap();
        format!("{:?}", ResourceInput::from_struct(&item, &mut diagnostics).unwrap())
    } else {
        let source = match place {
            Place::Field => format!("struct Foo {{ {attribute} field: T }}"),
            _ => format!("{attribute} struct Foo {{ field: T }}"),
        };
        let item: syn::ItemStruct = syn::parse_str(&source).unwrap();
        format!("{:?}", TypeModel::from_struct(&item, Place::Struct, &mut diagnostics))
    };
    // Constraints between keys do not matter here.
    diagnostics.take();
    without_places(&model)
}

/// Places are `bytes(1..2)` where locations are built in, and differ with the text's length: that a
/// key moves what follows it is no effect.
pub(crate) fn without_places(debug: &str) -> String {
    let mut out = String::new();
    for (at, part) in debug.split("bytes(").enumerate() {
        out.push_str(if at == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) });
    }
    out
}

#[test]
fn every_key_has_an_effect_on_the_model() {
    for family in FAMILIES {
        for (key, text) in keys(family) {
            let place = place(family, key);
            let without = text.find('(').filter(|_| !family.keys.iter().any(|k| std::ptr::eq(k, key)));
            let base = match without {
                // A nested key: compare with the enclosing key and what it requires.
                Some(at) => {
                    let outer = family.keys.iter().find(|k| k.name == &text[..at]).unwrap();
                    let (Shape::Nested(inner) | Shape::FlagOrNested(inner)) = outer.shape else { panic!() };
                    let required: Vec<_> = inner
                        .iter()
                        .filter(|k| k.required && k.name != key.name)
                        .map(|k| k.example)
                        .collect();
                    if required.is_empty() {
                        String::new()
                    } else {
                        format!("{}({})", outer.name, required.join(", "))
                    }
                }
                None => String::new(),
            };
            // The attribute's own place shows in the model, so both have one, with another key.
            let filler = match (family.family, key.name) {
                (Family::Validation, "format") => "min_length = 1",
                (Family::Validation, _) => r#"format = "x""#,
                (Family::Schema, "title") => "preserve_unknown_fields",
                (Family::Schema, _) => r#"title = "x""#,
                _ => "",
            };
            let other = |text: &str| {
                let parts = [text, filler].into_iter().filter(|part| !part.is_empty());
                parts.collect::<Vec<_>>().join(", ")
            };
            let with = model(family.family, place, &other(&text));
            let plain = model(family.family, place, &other(&base));
            assert_ne!(with, plain, "{} of {:?} has no effect", key.name, family.family);
        }
    }
}

#[test]
fn deepcopy_and_genclient_have_an_effect_when_bare() {
    for attribute in ["#[deepcopy]", "#[genclient]"] {
        let root =
            "#[resource(group = \"g.com\", version = \"v1\")] struct Foo { metadata: ObjectMeta, spec: S }";
        let read = |source: &str| {
            let item: syn::ItemStruct = syn::parse_str(source).unwrap();
            let mut diagnostics = Diagnostics::new();
            let input = ResourceInput::from_struct(&item, &mut diagnostics).unwrap();
            assert!(diagnostics.is_empty());
            (input.deepcopy.is_some(), input.genclient.is_some())
        };
        assert_eq!(read(root), (false, false));
        let expected = (attribute == "#[deepcopy]", attribute == "#[genclient]");
        assert_eq!(read(&format!("{attribute} {root}")), expected);
    }
}
