//! The table and the code agree: every example is right, every key has an effect.

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{
    FAMILIES, Family, FamilySpec, ItemAttributes, KeySpec, Place, Places, Shape, parse_attributes,
};
use kubesmith_core::model::{RbacAttrs, ResourceInput, TypeModel, WebhookAttrs, WebhookConfigurationAttrs};
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
    if family.places == Places::ITEM {
        return Place::Item;
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
fn examples_of_the_table_parse() {
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

/// What every webhook says.
const WEBHOOK: &str = "mutating = true, side_effects = \"NoneOnDryRun\", failure_policy = \"Ignore\", groups = \"batch\", \
    resources = \"jobs\", verbs = \"delete\", versions = \"v2\", name = \"a.b.c\", admission_review_versions = \"v1beta1\"";

/// The model of an attribute that stands alone, with the keys that it needs, as text without places.
fn model_of_item(family: Family, text: &str) -> String {
    // Other values than those of the examples; what a key says must not contradict what is there beside it.
    let beside = match (family, text.split([' ', '(', '=']).next().unwrap_or_default()) {
        (Family::Rbac, "urls") => "verbs = \"create\"",
        (Family::Rbac, _) => "verbs = \"create\", groups = \"a\", resources = \"b\"",
        (Family::Webhook, "url") => WEBHOOK,
        (Family::Webhook, _) => &format!("{WEBHOOK}, path = \"/a\""),
        _ => "mutating = false",
    };
    let given = |other: &str| {
        let name = other.split([' ', '(', '=']).next().unwrap_or_default();
        [" ", "(", "="].iter().any(|end| text.starts_with(&format!("{name}{end}")))
    };
    let mut keys: Vec<&str> = beside.split(", ").filter(|key| !given(key)).collect();
    keys.push(text);
    let tokens: proc_macro2::TokenStream = keys.join(", ").parse().unwrap();
    let name = quote::format_ident!("{}", family.name());
    let attribute: syn::Attribute = parse_quote!(#[#name(#tokens)]);
    let mut diagnostics = Diagnostics::new();
    let attributes = [attribute];
    let parsed = parse_attributes(family, &ItemAttributes::new(&attributes), Place::Item, &mut diagnostics);
    let model = match family {
        Family::Rbac => format!("{:?}", RbacAttrs::from_parsed(&parsed, &mut diagnostics).unwrap()),
        Family::Webhook => format!("{:?}", WebhookAttrs::from_parsed(&parsed, &mut diagnostics).unwrap()),
        _ => format!("{:?}", WebhookConfigurationAttrs::from_parsed(&parsed, &mut diagnostics).unwrap()),
    };
    let errors: Vec<_> = diagnostics.take().iter().map(|d| d.to_text()).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    without_places(&model)
}

/// The model of a resource, or of a struct with one field, as text without places.
fn model(family: Family, place: Place, text: &str) -> String {
    if place == Place::Item {
        return model_of_item(family, text);
    }
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
        let attribute = if family == Family::Policy { policy(text) } else { attribute };
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

/// A policy with a key, and with what makes it complete beside it.
fn policy(text: &str) -> String {
    let is = |key: &str| text.starts_with(key);
    let mut keys = vec![if is("name") { "" } else { "name = \"a\"" }];
    keys.push(match text {
        _ if is("reinvocation_policy") => "mutation(json_patch = \"[]\")",
        _ if is("mutation") => "",
        _ => "validation(expression = \"1 == 1\")",
    });
    if is("param_kind") {
        keys.push("unbound");
    }
    keys.push(text);
    let keys: Vec<&str> = keys.into_iter().filter(|key| !key.is_empty()).collect();
    format!("#[policy({})]", keys.join(", "))
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
