//! Emits the client package: clientset, apply configurations, informers and listers.
//!
//! Input: the [`Ir`] and [`RustOptions`]. Output: file texts by relative path. It decides nothing
//! about the API and does no I/O: [`plan`] says which files there are and what their placeholders
//! stand for, [`skeleton`] fills the embedded skeletons in, [`crate::format`] prints them, [`layout`]
//! does so once for all kinds of one shape. For the kind `EcsBinding` the tree is
//!
//! ```text
//! clientset/{mod,scheme}.rs   clientset/typed/ecs/v1/ecs_binding.rs   clientset/typed/ecs/v1/ecs_binding/interface.rs
//! clientset/fake/mod.rs
//! applyconfigurations/ecs/v1/{ecs_binding,ecs_binding_spec}.rs
//! conversions/ecs/ecs_binding.rs   defaults/ecs/v1.rs
//! informers/{mod,factory,generic}.rs   informers/ecs/v1/ecs_binding.rs
//! listers/ecs/v1/ecs_binding.rs
//! validations/ecs/v1/ecs_binding.rs   crds.json
//! ```

mod apply;
mod code;
mod conversions;
mod defaults;
mod docs;
mod imports;
mod layout;
mod manifest;
mod methods;
mod names;
mod plan;
mod root_docs;
mod skeleton;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;

use crate::ir::{Ir, TypeId};

use layout::Layout;
pub(crate) use names::KindNames;
use plan::{Job, Plan};
use skeleton::{Bindings, Skeleton};

pub use defaults::{Defaults, defaults};

/// What to emit and for where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustOptions {
    /// Parts to generate.
    pub parts: Parts,
    /// A crate of its own or a module.
    pub package: Package,
    /// The names of the embedded CRDs by the types that they validate: see [`embedded::names`](super::embedded::names). Kinds
    /// that are not in it have no validation.
    pub validated: BTreeMap<TypeId, String>,
    /// What has defaults, as [`defaults`](fn@defaults) tells it; nothing: there are no functions that set them.
    pub defaults: Defaults,
    /// Whether there are functions that convert between versions; without `client` there are none.
    pub conversions: bool,
    /// Files below the source folder that were written by hand to extend the package, `/`-separated: those that belong to a
    /// kind's file or to the scheme become modules.
    pub hand_written: BTreeSet<String>,
    /// Text that begins every file, such as a licence; `""`: none. A line that is no comment
    /// becomes one.
    pub header: String,
}

/// Parts of the client package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Clientset, scheme and typed clients.
    pub client: bool,
    /// Apply configurations, which clients then take; without `client` there are none.
    pub apply: bool,
    /// The fake clientset; without `client` there is none.
    pub fake: bool,
    /// Listers.
    pub lister: bool,
    /// Informers and their factory.
    pub informer: bool,
}

impl Parts {
    /// Whether there is a fake clientset.
    #[must_use]
    pub fn has_fake(self) -> bool {
        self.client && self.fake
    }
}

/// Where the generated code lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Package {
    /// A package of its own; paths in the output begin with `src/`.
    Crate {
        /// Package name.
        name: String,
        /// Where `kubesmith-runtime` is found.
        runtime: Dependency,
        /// Where `kubesmith-testenv` is found.
        testenv: Dependency,
        /// Where the API crates are found, by package name.
        apis: BTreeMap<String, Dependency>,
    },
    /// A module of an existing crate; its file is `mod.rs`.
    Module {
        /// Path of the module: `crate::generated`.
        path: String,
        /// Library name of the API crate that the module lies in, if it does: its types are then
        /// written `crate::...`.
        own_lib: Option<String>,
    },
}

impl Package {
    /// How paths of source files begin.
    fn prefix(&self) -> &'static str {
        match self {
            Package::Crate { .. } => "src/",
            Package::Module { .. } => "",
        }
    }

    /// The path of a source file, relative to the folder of the package or module.
    #[must_use]
    pub fn source_path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix())
    }
}

/// How a generated Cargo.toml finds a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// By version requirement, in a registry.
    Version(String),
    /// By path.
    Path {
        /// Folder relative to the generated Cargo.toml, `/`-separated.
        path: String,
        /// Version requirement for when the package is published.
        version: Option<String>,
    },
}

/// How many files are worth a thread of their own.
const FILES_PER_THREAD: usize = 64;

/// Emits the package: file texts by path relative to the package's or module's folder.
pub fn emit(ir: &Ir, options: &RustOptions) -> BTreeMap<String, String> {
    let ir = &*ir.for_clients();
    let plan = Plan::new(ir, options);
    let files = plan.jobs().len();
    let threads =
        std::thread::available_parallelism().map_or(1, NonZero::get).min(1 + files / FILES_PER_THREAD);
    let mut tree: BTreeMap<String, String> = std::thread::scope(|scope| {
        let plan = &plan;
        let others: Vec<_> = (1..threads)
            .map(|share| scope.spawn(move || render_share(plan, options, share, threads)))
            .collect();
        let mut tree: BTreeMap<_, _> = render_share(plan, options, 0, threads).into_iter().collect();
        for other in others {
            match other.join() {
                Ok(files) => tree.extend(files),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        tree
    });
    if options.parts.client {
        tree.extend(defaults::files(ir, options));
        if options.conversions {
            tree.extend(conversions::files(ir, options));
        }
    }
    if let Some(manifest) = manifest::emit(ir, options) {
        tree.insert("Cargo.toml".to_owned(), manifest);
    }
    tree
}

/// Renders every `of`-th file, beginning with number `share`. Syntax trees cannot be shared
/// between threads, so each thread has its own skeletons; they cost little.
fn render_share(plan: &Plan, options: &RustOptions, share: usize, of: usize) -> Vec<(String, String)> {
    let mut printer = Printer::default();
    let boilerplate = comments(&options.header, "//");
    let render = |job: Job<'_>| {
        let header = file_header(&boilerplate, "//", job.source);
        let text = printer.print(&header, job.template, &plan.package, &job.bindings);
        (options.package.source_path(&job.path), text)
    };
    plan.jobs().into_iter().skip(share).step_by(of).map(render).collect()
}

/// Skeletons and layouts, made when first used.
#[derive(Default)]
struct Printer {
    skeletons: BTreeMap<Template, Skeleton>,
    layouts: BTreeMap<(Template, Vec<bool>), Layout>,
}

impl Printer {
    fn print(&mut self, header: &str, template: Template, package: &Bindings, file: &Bindings) -> String {
        let skeleton = self.skeletons.entry(template).or_insert_with(|| Skeleton::parse(template.source()));
        if !template.has_layouts() || (template.has_methods() && file.rows().is_some()) {
            return crate::format::rust(header, &skeleton.fill(&[package, file]));
        }
        let shape = Layout::shape(file);
        let layout =
            self.layouts.entry((template, shape)).or_insert_with(|| Layout::new(skeleton, package, file));
        layout.print(skeleton, header, package, file)
    }
}

/// The header text as comments.
fn comments(text: &str, mark: &str) -> String {
    let mut out = String::new();
    for line in text.trim().lines().map(str::trim_end) {
        let line = if mark == "//" { line } else { line.strip_prefix("//").map_or(line, str::trim_start) };
        match line {
            "" => out.push_str(mark),
            line if line.starts_with(mark) => out.push_str(line),
            line => out.extend([mark, " ", line]),
        }
        out.push('\n');
    }
    out
}

/// Boilerplate, the mark by which generated files are known, and the source.
fn file_header(boilerplate: &str, mark: &str, source: &str) -> String {
    let gap = if boilerplate.is_empty() { "" } else { "\n" };
    let version = env!("CARGO_PKG_VERSION");
    // A file name may hold anything; what it holds must stay in the comment.
    let source = source.replace(|c: char| c.is_control(), "?");
    format!(
        "{boilerplate}{gap}{mark} Code generated by kubesmith v{version}. DO NOT EDIT.\n{mark} @generated from {source}\n"
    )
}

/// The skeletons, parsed when first used.
macro_rules! templates {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
        /// A skeleton's name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        enum Template { $($(#[$doc])* $name,)* }

        impl Template {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$name,)*];

            fn name(self) -> &'static str {
                match self { $(Self::$name => $file,)* }
            }
        }
    };
}

templates! {
    /// `lib.rs` or the module's `mod.rs`.
    Root = "root";
    /// `clientset/mod.rs`.
    Clientset = "clientset";
    /// `clientset/scheme.rs`.
    Scheme = "scheme";
    /// `clientset/fake/mod.rs`.
    Fake = "fake";
    /// `clientset/typed/mod.rs`.
    Typed = "typed";
    /// `clientset/typed/<group>/mod.rs`.
    TypedGroup = "typed_group";
    /// `clientset/typed/<group>/<version>/mod.rs`.
    TypedVersion = "typed_version";
    /// `clientset/typed/<group>/<version>/<kind>.rs`.
    TypedKind = "typed_kind";
    /// `clientset/typed/<group>/<version>/<kind>/interface.rs`.
    TypedInterface = "typed_interface";
    /// `applyconfigurations/mod.rs`.
    Apply = "apply";
    /// `applyconfigurations/<group>/mod.rs`.
    ApplyGroup = "apply_group";
    /// `applyconfigurations/<group>/<version>/mod.rs`.
    ApplyVersion = "apply_version";
    /// `applyconfigurations/<group>/<version>/<type>.rs`.
    ApplyType = "apply_type";
    /// `informers/mod.rs`.
    Informers = "informers";
    /// `informers/factory.rs`.
    InformerFactory = "informer_factory";
    /// `informers/generic.rs`.
    InformerGeneric = "informer_generic";
    /// `informers/<group>/mod.rs`.
    InformerGroup = "informer_group";
    /// `informers/<group>/<version>/mod.rs`.
    InformerVersion = "informer_version";
    /// `informers/<group>/<version>/<kind>.rs`.
    InformerKind = "informer_kind";
    /// `listers/mod.rs`.
    Listers = "listers";
    /// `listers/<group>/mod.rs`.
    ListersGroup = "listers_group";
    /// `listers/<group>/<version>/mod.rs`.
    ListersVersion = "listers_version";
    /// `listers/<group>/<version>/<kind>.rs`.
    ListerKind = "lister_kind";
    /// `validations/mod.rs`.
    Validations = "validations";
    /// `validations/<group>/mod.rs`.
    ValidationsGroup = "validations_group";
    /// `validations/<group>/<version>/mod.rs`.
    ValidationsVersion = "validations_version";
    /// `validations/<group>/<version>/<kind>.rs`.
    ValidationKind = "validation_kind";
}

impl Template {
    /// The skeleton's text.
    ///
    /// # Panics
    /// There is no such skeleton; a test parses each.
    fn source(self) -> &'static str {
        let name = self.name();
        kubesmith_templates::rust(name).unwrap_or_else(|| panic!("no skeleton is called {name}"))
    }

    /// Whether there is such a file for every kind or type, so that layouts pay.
    fn has_layouts(self) -> bool {
        matches!(
            self,
            Self::TypedKind | Self::TypedInterface | Self::ApplyType | Self::InformerKind | Self::ListerKind
        )
    }

    /// Whether it shows the methods of the kind's client that have names of their own, which a layout does not know.
    fn has_methods(self) -> bool {
        matches!(self, Self::TypedKind | Self::TypedInterface)
    }
}

#[cfg(test)]
mod tests;
