//! The command and the macros say the same: what the macros' recorded errors say of an input is what
//! reading the same input as source says.

use std::fs;
use std::path::Path;

use kubesmith_core::diag::{Diagnostics, Severity};
use kubesmith_core::grammar::{Family, ItemAttributes, Place, parse_each};
use kubesmith_core::model::{
    ModuleAttrs, PolicyAttrs, RbacAttrs, ResourceInput, TypeModel, WebhookAttrs, WebhookConfigurationAttrs,
};
use syn::{DeriveInput, Item};

fn derives(input: &DeriveInput, name: &str) -> bool {
    let derive = input.attrs.iter().filter(|attribute| attribute.path().is_ident("derive"));
    derive.into_iter().any(|attribute| quote::quote!(#attribute).to_string().contains(name))
}

/// What both do once they know the modules around the type.
fn complete(input: Option<ResourceInput>, diagnostics: &mut Diagnostics) {
    if let Some(mut input) = input {
        input.complete(&ModuleAttrs::default(), diagnostics);
    }
}

/// What the attributes that stand alone say of an item: one reader for both, which sees one of them at a time.
fn alone(item: &Item) -> Vec<String> {
    let attributes = match item {
        Item::Fn(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        _ => return Vec::new(),
    };
    let mut diagnostics = Diagnostics::new();
    let attributes = ItemAttributes::new(attributes);
    for family in [Family::Rbac, Family::Webhook, Family::WebhookConfiguration] {
        for parsed in parse_each(family, &attributes, Place::Item, &mut diagnostics) {
            match family {
                Family::Rbac => drop(RbacAttrs::from_parsed(&parsed, &mut diagnostics)),
                Family::Webhook => drop(WebhookAttrs::from_parsed(&parsed, &mut diagnostics)),
                _ => drop(WebhookConfigurationAttrs::from_parsed(&parsed, &mut diagnostics)),
            }
        }
    }
    if let Item::Struct(item) = item
        && !derives(&item.clone().into(), "Resource")
    {
        let is_kind = item.attrs.iter().any(|attribute| attribute.path().is_ident("kube"));
        let place = if is_kind { Place::Root } else { Place::Struct };
        for parsed in parse_each(Family::Policy, &attributes, place, &mut diagnostics) {
            PolicyAttrs::from_parsed(&parsed, &mut diagnostics);
        }
    }
    diagnostics.into_vec().iter().map(|d| d.to_text()).collect()
}

/// What reading an item as a derive does says, and what reading it as source says.
fn read(item: &Item) -> Option<(Vec<String>, Vec<String>)> {
    let input: DeriveInput = match item.clone() {
        Item::Struct(item) => item.into(),
        Item::Enum(item) => item.into(),
        Item::Union(item) => item.into(),
        _ => return None,
    };
    // The others have only attributes that stand alone.
    if matches!(item, Item::Struct(_)) && !derives(&input, "Resource") && !derives(&input, "Schema") {
        return None;
    }
    let (mut derived, mut sourced) = (Diagnostics::new(), Diagnostics::new());
    if derives(&input, "Resource") {
        complete(ResourceInput::from_derive(&input, &mut derived), &mut derived);
    } else if derives(&input, "Schema") {
        TypeModel::from_derive(&input, Place::Struct, &mut derived);
    }
    match item {
        Item::Struct(item) if derives(&input, "Resource") => {
            complete(ResourceInput::from_struct(item, &mut sourced), &mut sourced);
        }
        Item::Struct(item) => {
            TypeModel::from_struct(item, Place::Struct, &mut sourced);
        }
        Item::Enum(item) if derives(&input, "Schema") => {
            TypeModel::from_enum(item, &mut sourced);
        }
        // Only a derive gets to see these.
        _ => {
            derived.iter().cloned().for_each(|diagnostic| sourced.push(diagnostic));
        }
    }
    // A macro cannot warn.
    let texts = |diagnostics: Diagnostics| {
        let all = diagnostics.into_vec().into_iter();
        all.filter(|d| d.severity == Severity::Error).map(|d| d.to_text()).collect()
    };
    Some((texts(derived), texts(sourced)))
}

#[test]
fn macros_and_command_report_the_same_diagnostics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen-macros/tests/ui/fail");
    let mut cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        cases += 1;
        let file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
        let recorded = fs::read_to_string(path.with_extension("stderr")).unwrap();
        let mut count = 0;
        for text in file.items.iter().flat_map(alone) {
            count += 1;
            let first = text.lines().next().unwrap_or_default();
            assert!(recorded.contains(&format!("error: {first}\n")), "{}: {first}", path.display());
        }
        for (derived, sourced) in file.items.iter().filter_map(read) {
            assert_eq!(derived, sourced, "{}", path.display());
            count += derived.len();
            for text in derived {
                let first = text.lines().next().unwrap_or_default();
                assert!(recorded.contains(&format!("error: {first}\n")), "{}: {first}", path.display());
            }
        }
        assert_eq!(recorded.matches("error: KS").count(), count, "{}", path.display());
    }
    assert!(cases >= 15, "{cases} cases");
}
