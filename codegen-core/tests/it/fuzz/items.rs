//! Items with given attributes or comments, read as the macros and as the command do.

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{Family, ItemAttributes, Place, parse_each};
use kubesmith_core::model::{
    ModuleAttrs, RbacAttrs, ResourceInput, TypeModel, WebhookAttrs, WebhookConfigurationAttrs,
};
use kubesmith_core::nesting;
use syn::{ItemEnum, ItemFn, ItemStruct};

const FAMILIES: [&str; 8] =
    ["resource", "genclient", "deepcopy", "validation", "schema", "rbac", "webhook", "webhook_configuration"];

/// Reads items that have `text` as the arguments of each attribute.
///
/// # Panics
/// When the macros and the command disagree.
pub(crate) fn attributes(text: &str) {
    for family in FAMILIES.into_iter().chain(["serde", "derive"]) {
        read(&format!("#[{family}({text})]\n"));
    }
    // syn reads these as an expression, for which it recurses: the command parses on threads with larger stacks.
    if text.len() < 64 {
        read(&format!("#[validation = {text}]\n"));
        read(&format!("#[doc = {text}]\n"));
    }
}

/// Reads items that have `text` as their documentation.
///
/// # Panics
/// When the macros and the command disagree.
pub(crate) fn markers(text: &str) {
    read(&text.lines().map(|line| format!("/// {line}\n")).collect::<String>());
    read(&format!("/**\n{text}\n*/\n"));
    read(&format!("#[doc = {text:?}]\n"));
    read_module(&text.lines().map(|line| format!("//! {line}\n")).collect::<String>());
}

fn read(before: &str) {
    // Who calls the crate refuses such text first.
    if nesting::check(before).is_err() {
        return;
    }
    read_struct(&format!(
        "{before} struct Foo {{ {before} metadata: ObjectMeta, {before} spec: Vec<i32>, {before} r#type: [u8; 3] }}"
    ));
    read_struct(&format!("{before} struct Foo({before} String);"));
    read_enum(&format!(
        "{before} enum Foo {{ {before} A, B({before} i32), C {{ {before} a: Option<i32> }} }}"
    ));
    read_alone(&format!("{before} fn reconcile() {{}}"));
}

fn read_struct(source: &str) {
    let Ok(item) = syn::parse_str::<ItemStruct>(source) else { return };
    let input = item.clone().into();
    let mut said = [(); 4].map(|()| Diagnostics::new());
    let [first, second, third, fourth] = &mut said;
    let roots = [ResourceInput::from_struct(&item, first), ResourceInput::from_derive(&input, second)];
    for (root, diagnostics) in roots.into_iter().zip([first, second]) {
        root.into_iter().for_each(|mut root| root.complete(&ModuleAttrs::default(), diagnostics));
    }
    TypeModel::from_struct(&item, Place::Struct, third);
    TypeModel::from_derive(&input, Place::Struct, fourth);
    let [first, second, third, fourth] = said.map(texts);
    assert_eq!(first, second, "as a resource: {source}");
    assert_eq!(third, fourth, "{source}");
}

fn read_enum(source: &str) {
    let Ok(item) = syn::parse_str::<ItemEnum>(source) else { return };
    let (mut first, mut second) = (Diagnostics::new(), Diagnostics::new());
    TypeModel::from_enum(&item, &mut first);
    TypeModel::from_derive(&item.into(), Place::Enum, &mut second);
    assert_eq!(texts(first), texts(second), "{source}");
}

/// The attributes that stand alone have one reader.
fn read_alone(source: &str) {
    let Ok(item) = syn::parse_str::<ItemFn>(source) else { return };
    let mut diagnostics = Diagnostics::new();
    let attributes = ItemAttributes::new(&item.attrs);
    for family in [Family::Rbac, Family::Webhook, Family::WebhookConfiguration] {
        for parsed in parse_each(family, &attributes, Place::Item, &mut diagnostics) {
            match family {
                Family::Rbac => drop(RbacAttrs::from_parsed(&parsed, &mut diagnostics)),
                Family::Webhook => drop(WebhookAttrs::from_parsed(&parsed, &mut diagnostics)),
                _ => drop(WebhookConfigurationAttrs::from_parsed(&parsed, &mut diagnostics)),
            }
        }
    }
    texts(diagnostics);
}

fn read_module(source: &str) {
    let Ok(file) = syn::parse_file(source) else { return };
    let mut diagnostics = Diagnostics::new();
    ModuleAttrs::read(&file.attrs, &mut diagnostics);
    texts(diagnostics);
}

fn texts(diagnostics: Diagnostics) -> Vec<String> {
    let texts: Vec<String> = diagnostics.into_vec().iter().map(|d| d.to_text()).collect();
    assert!(texts.iter().all(|text| !text.is_empty()));
    texts
}
