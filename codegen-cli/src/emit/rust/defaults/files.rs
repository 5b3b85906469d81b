//! Emits the files of the functions that set defaults.

use std::collections::{BTreeMap, BTreeSet};

use heck::ToSnakeCase;

use super::super::{RustOptions, code, docs, names, plan};
use super::{Defaults, Step};
use crate::ir::{Group, Ir, Resource, TypeId, Version};

/// Emits them by their paths; none without a default.
pub(in super::super) fn files(ir: &Ir, options: &RustOptions) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let source = plan::packages(ir);
    let mut add = |path: &str, text: &str| {
        let (path, text) = code::file(options, &source, path, text);
        out.insert(path, text);
    };
    let (mut groups, mut tree) = (Vec::new(), String::new());
    for group in &ir.groups {
        let module = names::group_module(&group.module);
        let mut versions = Vec::new();
        for version in &group.versions {
            let Some(text) = VersionFile::new(ir, options, group, version).and_then(|file| file.text())
            else {
                continue;
            };
            let version = names::module(&version.name, &module);
            add(&format!("defaults/{module}/{version}.rs"), &text);
            versions.push(version);
        }
        if versions.is_empty() {
            continue;
        }
        let title = docs::plain(if group.name.is_empty() { "core" } else { &group.name });
        let modules: String = versions.iter().map(|version| format!("pub mod {version};\n")).collect();
        tree += &format!("/// Defaults of the group `{title}`.\npub mod {module} {{\n{modules}}}\n");
        groups.push((module, versions));
    }
    if !groups.is_empty() {
        add("defaults/mod.rs", &root(&groups, &tree));
    }
    out
}

fn root(groups: &[(String, Vec<String>)], modules: &str) -> String {
    let calls: String = groups
        .iter()
        .flat_map(|(group, versions)| {
            versions
                .iter()
                .map(move |version| format!("self::{group}::{version}::register_defaults(scheme);\n"))
        })
        .collect();
    format!(
        "//! Defaults, by group and version: what fields get that are unset.\n\n{modules}\n\
         /// Objects that have defaults.\n\
         pub trait SetDefaults {{\n\
             /// Gives every field that is unset its default, in everything that the object holds.\n\
             fn set_defaults(&mut self);\n\
         }}\n\n\
         /// Registers the defaults of every kind.\n\
         pub fn register_defaults(scheme: &mut ::kubesmith_runtime::scheme::Scheme) {{\n{calls}}}\n"
    )
}

/// The file of a version.
struct VersionFile<'i> {
    ir: &'i Ir,
    options: &'i RustOptions,
    defaults: &'i Defaults,
    api_version: String,
    kinds: Vec<&'i Resource>,
    /// The names of the functions, those of kinds first.
    functions: BTreeMap<TypeId, String>,
    /// The types in the order of their functions.
    order: Vec<TypeId>,
}

impl<'i> VersionFile<'i> {
    fn new(ir: &'i Ir, options: &'i RustOptions, group: &Group, version: &'i Version) -> Option<Self> {
        let defaults = &options.defaults;
        let kinds: Vec<&Resource> =
            version.resources.iter().filter(|resource| defaults.types.contains_key(&resource.root)).collect();
        let mut file = Self {
            ir,
            options,
            defaults,
            api_version: plan::api_version(group, version),
            kinds,
            functions: BTreeMap::new(),
            order: Vec::new(),
        };
        let mut open: Vec<TypeId> = file.kinds.iter().rev().map(|resource| resource.root).collect();
        let mut taken = BTreeSet::new();
        while let Some(id) = open.pop() {
            if file.functions.contains_key(&id) {
                continue;
            }
            let name = code::free(&mut taken, &file.name(id).to_snake_case());
            file.functions.insert(id, name);
            file.order.push(id);
            let steps = file.defaults.types.get(&id).into_iter().flatten();
            open.extend(steps.rev().filter_map(|step| match step {
                Step::Each(_, id) => Some(*id),
                Step::Literal(..) | Step::Structural(..) | Step::Object(_) => None,
            }));
        }
        (!file.kinds.is_empty()).then_some(file)
    }

    fn name(&self, id: TypeId) -> &'i str {
        code::name(self.ir, id)
    }

    fn path(&self, id: TypeId) -> String {
        code::path(self.ir, id, self.options)
    }

    fn text(&self) -> Option<String> {
        let mut out = format!("//! Defaults of `{}`.\n\n", docs::plain(&self.api_version));
        out += "/// Defaults that are written by hand, a method for each type: Go's `SetDefaults_...`. They are set before the generated ones.\n\
                pub trait DefaultingFuncs {\n";
        for id in &self.order {
            let (name, function, path) = (self.name(*id), &self.functions[id], self.path(*id));
            out += &format!(
                "/// Sets defaults of a `{name}`.\nfn set_defaults_{function}(&self, _object: &mut {path}) {{}}\n"
            );
        }
        out += "}\n\n/// Nothing is set by hand.\nimpl DefaultingFuncs for () {}\n\n";
        for kind in &self.kinds {
            out += &self.kind(kind)?;
        }
        out += &self.registration();
        for id in &self.order {
            out += &self.function(*id)?;
        }
        Some(out)
    }

    fn kind(&self, kind: &Resource) -> Option<String> {
        let (function, path) = (self.functions.get(&kind.root)?, self.path(kind.root));
        let name = self.name(kind.root);
        let root = plan::root_path(&self.options.package);
        Some(format!(
            "/// Sets the defaults of a `{name}`, those of everything that it holds included.\n\
             pub fn set_object_defaults_{function}(object: &mut {path}) {{ set_defaults_{function}(object, &()); }}\n\n\
             impl {root}::defaults::SetDefaults for {path} {{\n\
                 fn set_defaults(&mut self) {{ set_object_defaults_{function}(self); }}\n\
             }}\n\n"
        ))
    }

    fn registration(&self) -> String {
        let add = |kind: &&Resource| {
            let (function, path) = (&self.functions[&kind.root], self.path(kind.root));
            format!(
                "let own = funcs.clone();\n\
                 scheme.add_type_defaulting_func(move |object: &mut {path}| set_defaults_{function}(object, &own));\n"
            )
        };
        let kinds: String = self.kinds.iter().map(add).collect();
        format!(
            "/// Registers the defaults of the kinds.\n\
             pub fn register_defaults(scheme: &mut ::kubesmith_runtime::scheme::Scheme) {{\n\
                 register_defaults_with(scheme, &());\n\
             }}\n\n\
             /// Registers the defaults of the kinds, those that are written by hand included.\n\
             pub fn register_defaults_with<F>(scheme: &mut ::kubesmith_runtime::scheme::Scheme, funcs: &F)\n\
             where F: DefaultingFuncs + Clone + Send + Sync + 'static {{\n{kinds}}}\n\n"
        )
    }

    fn function(&self, id: TypeId) -> Option<String> {
        let (name, function, path) = (self.name(id), &self.functions[&id], self.path(id));
        let mut out = format!(
            "/// Sets the defaults of a `{name}`, first those that are written by hand.\n\
             pub fn set_defaults_{function}(object: &mut {path}, funcs: &impl DefaultingFuncs) {{\n\
             funcs.set_defaults_{function}(object);\n"
        );
        for step in self.defaults.types.get(&id)? {
            out += &match step {
                Step::Literal(field, value) => {
                    format!(
                        "::kubesmith_runtime::defaults::literal(&mut object.{field}, {});\n",
                        code::json(value)
                    )
                }
                Step::Each(field, id) => {
                    let inner = self.functions.get(id)?;
                    format!(
                        "::kubesmith_runtime::defaults::each(&mut object.{field}, |held| set_defaults_{inner}(held, funcs));\n"
                    )
                }
                Step::Object(schema) => {
                    format!("::kubesmith_runtime::defaults::structural(object, {});\n", code::json(schema))
                }
                Step::Structural(field, schema) => {
                    format!(
                        "::kubesmith_runtime::defaults::structural(&mut object.{field}, {});\n",
                        code::json(schema)
                    )
                }
            };
        }
        Some(out + "}\n\n")
    }
}
