//! Writes the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use kubesmith_apimachinery::yaml;
use kubesmith_core::diag::Code;
use kubesmith_core::model::RenameRule;

use super::attributes::{self, Key};
use super::model::{
    BTREE_MAP, Body, Choice, Constant, Field, Flattened, MAP, Module, Text, Ty, Type, VALUE, last,
};
use super::naming;

/// Writes a module.
pub(super) fn module(module: &Module) -> String {
    let mut out = match &module.shared {
        Some(package) => format!("{SHARED}{package}`.\n\n"),
        None => format!("//! Version `{}` of group `{}`.\n\n", module.version, module.group),
    };
    uses(module, &mut out);
    let mut was_plain = false;
    for constant in &module.constants {
        let is_plain = constant.docs.is_empty();
        if !(is_plain && was_plain) {
            out.push('\n');
        }
        self::constant(constant, "&str", 0, &mut out);
        was_plain = is_plain;
    }
    // Resources come first, as the main content of the file.
    let (roots, others): (Vec<&Type>, Vec<&Type>) =
        module.types.iter().partition(|ty| !ty.resource.is_empty());
    for ty in roots.into_iter().chain(others) {
        out.push('\n');
        definition(module, ty, &mut out);
    }
    out
}

/// The beginning of a module of shared types.
const SHARED: &str = "//! Types of the Go package `";

/// Whether a text begins as the modules written here do, with a version, group or package.
pub(crate) fn is_module(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let begins = (first.starts_with("//! Version `") && first.contains("` of group `"))
        || first.starts_with("//! Group `")
        || first.starts_with(SHARED);
    begins && first.ends_with("`.")
}

/// A constant: `pub const NAME: &str = "value";`
fn constant(constant: &Constant, ty: &str, indent: usize, out: &mut String) {
    docs(&constant.docs, indent, out);
    let (margin, value) = (" ".repeat(indent), attributes::string(&constant.value));
    let line = format!("{margin}pub const {}: {ty} = {value};", constant.name);
    if line.chars().count() <= 100 {
        let _ = writeln!(out, "{line}");
    } else {
        let _ = writeln!(out, "{margin}pub const {}: {ty} =\n{margin}    {value};", constant.name);
    }
}

/// Imports, ordered as rustfmt orders them.
fn uses(module: &Module, out: &mut String) {
    let mut paths: BTreeSet<&str> = module.paths().into_iter().filter(|path| module.imports(path)).collect();
    if paths.remove(BTREE_MAP) {
        out.push_str("use std::collections::BTreeMap;\n\n");
    }
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        let Some((module, name)) = path.rsplit_once("::") else { continue };
        modules.entry(module).or_default().push(name);
    }
    for (path, names) in modules {
        use_line(path, names, out);
    }
    let is_root = |ty: &Type| !ty.resource.is_empty();
    let has_other = module.types.iter().any(|ty| !is_root(ty));
    out.push_str(match (module.types.iter().any(is_root), has_other) {
        (true, true) => "use kubesmith_runtime::{Resource, Schema};\n",
        (true, false) => "use kubesmith_runtime::Resource;\n",
        (false, true) => "use kubesmith_runtime::Schema;\n",
        (false, false) => "",
    });
    if has_other {
        out.push_str("use serde::{Deserialize, Serialize};\n");
    }
}

fn use_line(path: &str, mut names: Vec<&str>, out: &mut String) {
    // rustfmt's version sort orders types alphabetically.
    names.sort_unstable();
    if let [name] = names[..] {
        let _ = writeln!(out, "use {path}::{name};");
        return;
    }
    let line = format!("use {path}::{{{}}};", names.join(", "));
    if line.len() <= 100 {
        out.push_str(&line);
        out.push('\n');
        return;
    }
    let _ = writeln!(out, "use {path}::{{");
    let mut row = String::from("   ");
    for name in names {
        if row.len() + name.len() + 2 > 100 {
            let _ = writeln!(out, "{row}");
            row = String::from("   ");
        }
        let _ = write!(row, " {name},");
    }
    let _ = writeln!(out, "{row}\n}};");
}

fn definition(module: &Module, ty: &Type, out: &mut String) {
    docs(&ty.annotations.docs, 0, out);
    let is_root = !ty.resource.is_empty();
    let mut derives = vec!["Clone"];
    match &ty.body {
        Body::Texts(_) => derives.extend(["Copy", "Debug", "PartialEq", "Eq", "PartialOrd", "Ord"]),
        Body::Newtype { ty: Ty::Plain("String"), .. } => {
            derives.extend(["Debug", "Default", "PartialEq", "Eq", "PartialOrd", "Ord"]);
        }
        _ if ty.has_default => derives.extend(["Debug", "Default", "PartialEq"]),
        _ => derives.extend(["Debug", "PartialEq"]),
    }
    derives.extend(if is_root { &["Resource"][..] } else { &["Serialize", "Deserialize", "Schema"][..] });
    let _ = writeln!(out, "#[derive({})]", derives.join(", "));
    for (name, keys) in &ty.resource {
        if keys.is_empty() {
            let _ = writeln!(out, "#[{name}]");
        }
        attributes::write(out, 0, name, keys);
    }
    attributes::write(out, 0, "validation", &ty.annotations.validation);
    attributes::write(out, 0, "schema", &ty.annotations.schema);
    match &ty.body {
        Body::Struct { fields, open, choice } => {
            structure(module, ty, fields, (open.as_deref(), choice.as_ref()), out);
        }
        Body::Texts(variants) => texts(&ty.name, variants, out),
        Body::OneOf(choices) => choice(module, &ty.name, choices, out),
        Body::Newtype { ty: held, is_schemaless } => {
            let attribute = if *is_schemaless { "#[schema(schemaless)] " } else { "" };
            let _ = writeln!(out, "pub struct {}({attribute}pub {});", ty.name, text(module, held));
        }
    }
    if !ty.constants.is_empty() {
        let _ = writeln!(out, "\nimpl {} {{", ty.name);
        for (at, constant) in ty.constants.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            self::constant(constant, "&'static str", 4, out);
        }
        out.push_str("}\n");
    }
}

fn docs(lines: &[String], indent: usize, out: &mut String) {
    let margin = " ".repeat(indent);
    for line in lines {
        let space = if line.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{margin}///{space}{line}");
    }
}

/// `open` and `choice` are flattened.
fn structure(
    module: &Module,
    ty: &Type,
    fields: &[Field],
    (open, choice): (Option<&str>, Option<&Flattened>),
    out: &mut String,
) {
    let by_camel =
        |field: &&Field| !field.is_flat && naming::serialised(&field.ident, RenameRule::Camel) == field.name;
    let by_itself = |field: &&Field| naming::serialised(&field.ident, RenameRule::None) == field.name;
    let camel = fields.iter().any(|field| by_camel(&field) && !by_itself(&field));
    let rule = if camel { RenameRule::Camel } else { RenameRule::None };
    if camel {
        out.push_str("#[serde(rename_all = \"camelCase\")]\n");
    }
    if fields.is_empty() && open.is_none() && choice.is_none() {
        let _ = writeln!(out, "pub struct {} {{}}", ty.name);
        return;
    }
    let _ = writeln!(out, "pub struct {} {{", ty.name);
    for field in fields {
        docs(&field.annotations.docs, 4, out);
        serde(field, rule, out);
        attributes::write(out, 4, "validation", &field.annotations.validation);
        attributes::write(out, 4, "schema", &field.annotations.schema);
        if weight(&field.ty, 1) > HEAVIEST {
            out.push_str("    #[allow(clippy::type_complexity)]\n");
        }
        let ty = text(module, &field.ty);
        // rustfmt breaks lines wider than 100 columns.
        let space = if field.ident.len() + ty.len() + 11 > 100 { "\n        " } else { " " };
        let _ = writeln!(out, "    pub {}:{space}{ty},", field.ident);
    }
    if let Some(choice) = choice {
        out.push_str("    /// One of these is given.\n    #[serde(flatten)]\n");
        let _ = writeln!(out, "    pub {}: {},", choice.ident, module.types[choice.ty].name);
    }
    if let Some(name) = open {
        out.push_str("    /// Fields that the schema does not name.\n    #[serde(flatten)]\n");
        let _ = writeln!(out, "    pub {name}: BTreeMap<String, serde_json::Value>,");
    }
    out.push_str("}\n");
}

fn serde(field: &Field, rule: RenameRule, out: &mut String) {
    let mut keys = Vec::new();
    if field.is_flat {
        keys.push(Key::Plain("flatten".to_string()));
    } else if naming::serialised(&field.ident, rule) != field.name {
        keys.push(Key::text("rename", &field.name));
    }
    if field.is_optional {
        keys.push(Key::Plain("default".to_string()));
        // A required field is written as null.
        if !field.is_null_written() {
            keys.push(Key::text("skip_serializing_if", "Option::is_none"));
        }
    }
    attributes::write(out, 4, "serde", &keys);
}

fn texts(name: &str, variants: &[Text], out: &mut String) {
    let idents: Vec<String> = variants.iter().map(|text| text.ident.clone()).collect();
    let values: Vec<&str> = variants.iter().map(|text| text.value.as_str()).collect();
    let (rule, rule_name) = naming::variant_rule(&idents, &values);
    if !rule_name.is_empty() {
        let _ = writeln!(out, "#[serde(rename_all = \"{rule_name}\")]");
    }
    let _ = writeln!(out, "pub enum {name} {{");
    for Text { ident, value, docs } in variants {
        match docs.is_empty() {
            true => {
                let _ = writeln!(out, "    /// {}", shown(value));
            }
            false => self::docs(docs, 4, out),
        }
        if rule.apply_to_variant(ident) != *value {
            attributes::write(out, 4, "serde", &[Key::text("rename", value)]);
        }
        let _ = writeln!(out, "    {ident},");
    }
    out.push_str("}\n");
}

/// A value as documentation shows it.
fn shown(value: &str) -> String {
    let is_plain = !value.is_empty() && value.chars().all(|c| !yaml::is_hidden(c) && c != '`');
    if is_plain && value.trim() == value {
        format!("`{value}`")
    } else {
        attributes::escaped(value).replace('`', "'")
    }
}

fn choice(module: &Module, name: &str, choices: &[Choice], out: &mut String) {
    let idents: Vec<String> = choices.iter().map(|choice| choice.ident.clone()).collect();
    let values: Vec<&str> = choices.iter().map(|choice| choice.name.as_str()).collect();
    let (rule, rule_name) = naming::variant_rule(&idents, &values);
    if !rule_name.is_empty() {
        let _ = writeln!(out, "#[serde(rename_all = \"{rule_name}\")]");
    }
    let _ = writeln!(out, "pub enum {name} {{");
    for choice in choices {
        docs(&choice.docs, 4, out);
        if rule.apply_to_variant(&choice.ident) != choice.name {
            attributes::write(out, 4, "serde", &[Key::text("rename", &choice.name)]);
        }
        let _ = writeln!(out, "    {}({}),", choice.ident, text(module, &choice.ty));
    }
    out.push_str("}\n");
}

/// clippy's `type-complexity-threshold`.
const HEAVIEST: usize = 250;

/// The complexity of a type for clippy: the sum over its names of a weight that grows with depth.
fn weight(ty: &Ty, depth: usize) -> usize {
    let own = 10 * depth;
    match ty {
        Ty::Known(path) if *path == MAP => own + 20 * (depth + 1),
        Ty::Plain(_) | Ty::Known(_) | Ty::Own(_) | Ty::Other(_) => own,
        Ty::List(inner) | Ty::Option(inner) => own + weight(inner, depth + 1),
        Ty::Map(inner) => own + 10 * (depth + 1) + weight(inner, depth + 1),
    }
}

fn text(module: &Module, ty: &Ty) -> String {
    match ty {
        Ty::Plain(name) => (*name).to_string(),
        Ty::Known(path) if *path == MAP => "serde_json::Map<String, serde_json::Value>".to_string(),
        Ty::Known(path) if *path == VALUE => (*path).to_string(),
        Ty::Known(path) if module.imports(path) => last(path).to_string(),
        Ty::Known(path) => (*path).to_string(),
        Ty::Other(path) if module.imports(path) => last(path).to_string(),
        Ty::Other(path) => path.clone(),
        Ty::Own(index) => module.types[*index].name.clone(),
        Ty::List(inner) => format!("Vec<{}>", text(module, inner)),
        Ty::Map(inner) => format!("BTreeMap<String, {}>", text(module, inner)),
        Ty::Option(inner) => format!("Option<{}>", text(module, inner)),
    }
}

/// The options in the crate's configuration, apart from folders.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    /// Whether a definition sets `preserveUnknownFields`, so that the generated one must turn it off.
    pub(super) refuse_unknown_fields: bool,
    /// Whether embedded metadata has its fields.
    pub(super) embedded_object_meta: bool,
    /// The length at which descriptions in definitions are cut.
    pub(super) max_desc_len: Option<usize>,
    /// Whether there are rules of roles.
    pub(super) has_rules: bool,
    /// Whether there are webhooks.
    pub(super) has_webhooks: bool,
    /// The module of webhook stubs, behind a feature of that name.
    pub(super) stubs: Option<&'static str>,
}

/// The files of the crate, by their paths.
pub(super) fn files(package: &str, modules: &[Module], options: Options) -> BTreeMap<String, String> {
    let groups: BTreeSet<&str> = modules.iter().map(|module| module.group.as_str()).collect();
    let folders: BTreeMap<&str, String> = folders(&groups).into_iter().collect();
    let placed = modules.iter().map(|module| {
        let folder = folders.get(module.group.as_str()).filter(|_| groups.len() > 1);
        let path = folder.into_iter().cloned().chain([naming::module(&module.version)]);
        (path.collect::<Vec<_>>(), module)
    });
    crate_files(package, &placed.collect::<Vec<_>>(), BTreeMap::new(), options)
}

/// The files of a crate: modules by their paths, and other files by their names.
pub(super) fn crate_files(
    package: &str,
    placed: &[(Vec<String>, &Module)],
    others: BTreeMap<String, String>,
    options: Options,
) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let groups = placed.iter().map(|(_, module)| module.group.as_str()).filter(|group| !group.is_empty());
    let groups: BTreeSet<&str> = groups.collect();
    let mut declared: BTreeSet<String> = others.keys().cloned().collect();
    let mut inner: BTreeMap<&String, (&str, BTreeSet<String>)> = BTreeMap::new();
    for (path, module) in placed {
        if let [folder, name] = &path[..] {
            let versions = inner.entry(folder).or_insert_with(|| (&module.group, BTreeSet::new()));
            versions.1.insert(format!("pub mod {name};\n"));
        }
        declared.extend(path.first().cloned());
        out.insert(format!("src/{}.rs", path.join("/")), self::module(module));
    }
    for (folder, (group, versions)) in inner {
        let versions: String = versions.into_iter().collect();
        out.insert(format!("src/{folder}.rs"), format!("//! Group `{group}`.\n\n{versions}"));
    }
    out.extend(others.into_iter().map(|(name, text)| (format!("src/{name}.rs"), text)));
    let mut lib = format!("//! API types of {}.\n\n", groups.into_iter().collect::<Vec<_>>().join(", "));
    declared.iter().for_each(|name| {
        // The types alone need no server.
        let gate = match options.stubs {
            Some(stubs) if stubs == name => format!("#[cfg(feature = {stubs:?})]\n"),
            _ => String::new(),
        };
        let _ = writeln!(lib, "{gate}pub mod {name};");
    });
    out.insert("src/lib.rs".to_string(), lib);
    let uses_json = out.values().any(|text| text.contains("serde_json::"));
    out.insert("Cargo.toml".to_string(), manifest(package, uses_json, options.stubs));
    let has_float = out.values().any(|text| text.contains("f64") || text.contains("f32"));
    out.insert("kubesmith.toml".to_string(), config(package, has_float, options));
    out
}

/// The paths of the files of modules.
pub(super) fn paths(modules: &[Module]) -> Vec<String> {
    let groups: BTreeSet<&str> = modules.iter().map(|module| module.group.as_str()).collect();
    let folders: BTreeMap<&str, String> = folders(&groups).into_iter().collect();
    let folder = |module: &Module| folders.get(module.group.as_str()).filter(|_| groups.len() > 1);
    modules.iter().map(|module| path(module, folder(module))).collect()
}

/// The path of a module's file; several groups get a folder each.
fn path(module: &Module, folder: Option<&String>) -> String {
    let name = naming::module(&module.version);
    folder.map_or_else(|| format!("src/{name}.rs"), |folder| format!("src/{folder}/{name}.rs"))
}

/// Folders of groups, in the order of their names.
fn folders<'g>(groups: &BTreeSet<&'g str>) -> Vec<(&'g str, String)> {
    let named = naming::groups(groups).into_iter();
    let mut out: Vec<_> = named.map(|(group, name)| (group, naming::module(&name))).collect();
    out.sort_by(|a, b| a.1.cmp(&b.1));
    out
}

/// The dependency on the published runtime.
fn published() -> String {
    format!("kubesmith-runtime = {{ version = {:?}, default-features = false }}\n", env!("CARGO_PKG_VERSION"))
}

/// The manifest with this dependency on the runtime.
pub(super) fn with_runtime(manifest: &str, dependency: &str) -> String {
    manifest.replace(&published(), &format!("kubesmith-runtime = {dependency}\n"))
}

/// Clippy lints that imported documentation and enums would fail.
const LINTS: [&str; 4] =
    ["doc_lazy_continuation", "doc_overindented_list_items", "large_enum_variant", "tabs_in_doc_comments"];

/// rustdoc lints that descriptions would fail, as they are no Markdown.
const RUSTDOC: [&str; 5] = [
    "bare_urls",
    "broken_intra_doc_links",
    "invalid_codeblock_attributes",
    "invalid_html_tags",
    "invalid_rust_codeblocks",
];

fn manifest(package: &str, uses_json: bool, stubs: Option<&str>) -> String {
    let features = stubs.map(|name| {
        format!("[features]\n# Stubs of webhooks.\n{name} = [\"kubesmith-runtime/webhook\"]\n\n")
    });
    let allowed =
        |lints: &[&str]| lints.iter().map(|lint| format!("{lint} = \"allow\"\n")).collect::<String>();
    let json = if uses_json { "serde_json = \"1\"\n" } else { "" };
    format!(
        "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\n# Descriptions hold examples \
         that are no Rust.\ndoctest = false\n\n{}[dependencies]\n# Kubernetes' version, which is one in a program: another crate \
         may choose it.\nk8s-openapi = {{ version = \"0.29\", features = [\"v1_36\"] }}\n{}serde = {{ version = \"1\", \
         features = [\"derive\"] }}\n{json}\n[lints.clippy]\n# Documentation and variants are what the definitions have.\n{}\n\
         [lints.rustdoc]\n{}",
        features.unwrap_or_default(),
        published(),
        allowed(&LINTS),
        allowed(&RUSTDOC),
    )
}

/// Makes the configuration allow warnings that every run would repeat.
pub(super) fn allow(files: &mut BTreeMap<String, String>, codes: &BTreeSet<Code>) {
    if let Some(config) = files.get_mut("kubesmith.toml").filter(|_| !codes.is_empty()) {
        let codes = codes.iter().map(|code| format!("\"{code}\"")).collect::<Vec<_>>().join(", ");
        let _ =
            write!(config, "\n[lints]\n# Conventions that the definitions do not keep.\nallow = [{codes}]\n");
    }
}

fn config(package: &str, has_float: bool, options: Options) -> String {
    let mut crd = String::from("[crd]\noutput = \"crds\"\n");
    if has_float {
        crd.push_str("# The definitions have floating point numbers.\nallow_dangerous_types = true\n");
    }
    if options.embedded_object_meta {
        crd.push_str("generate_embedded_object_meta = true\n");
    }
    if let Some(limit) = options.max_desc_len {
        let _ = writeln!(crd, "max_desc_len = {limit}");
    }
    if options.refuse_unknown_fields {
        crd.push_str("deprecated_v1beta1_compatibility_preserve_unknown_fields = false\n");
    }
    for (table, is_used) in [("rbac", options.has_rules), ("webhook", options.has_webhooks)] {
        if is_used {
            let _ = write!(crd, "\n[{table}]\noutput = \"{table}\"\n");
        }
    }
    let client = format!("{}-client", package.trim_end_matches("-api"));
    format!("input = [\".\"]\n\n{crd}\n[client]\noutput = \"client\"\ncrate_name = \"{client}\"\n")
}
