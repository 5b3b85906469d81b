//! Emits the client package: clientset, apply configurations, informers and listers.
//!
//! Input: the [`Ir`] and [`RustOptions`]. Output: file texts by relative path. It decides nothing about the API and does no
//! I/O: [`plan`] settles names, the modules of the parts build items with quote or take them from [`skeleton`]s, and
//! [`crate::format`] prints them, block by block. For the kind `EcsBinding` the tree is
//!
//! ```text
//! lib.rs                       applyconfigurations/ecs/v1.rs
//! clientset/{mod,fake}.rs      clientset/typed/ecs/v1.rs
//! conversions/{mod,ecs/ecs_binding}.rs   defaults/{mod,ecs/v1}.rs
//! informers/{mod,ecs/v1}.rs    listers/ecs/v1.rs
//! validations/{mod,ecs/v1}.rs  crds.json
//! ```

mod apply;
mod clients;
mod code;
mod conversions;
mod defaults;
mod docs;
mod informers;
mod listers;
mod manifest;
mod methods;
mod modules;
mod names;
mod package;
mod plan;
mod root_docs;
mod skeleton;
mod validations;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use crate::ir::{Ir, TypeId};
use crate::load::Git;
use crate::parallel;

pub use apply::shared_configurations;
pub(crate) use names::KindNames;
use plan::{GroupPlan, Part, Plan};

pub use defaults::{Defaults, defaults};

/// The options of the emitter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RustOptions {
    /// Parts to generate.
    pub parts: Parts,
    /// A separate crate or a module.
    pub package: Package,
    /// The names of the embedded CRDs by the types that they validate: see
    /// [`embedded::names`](super::embedded::names). Kinds without a name here have no validation.
    pub validated: BTreeMap<TypeId, String>,
    /// The defaults from [`defaults`](fn@defaults); if empty, no functions set defaults.
    pub defaults: Defaults,
    /// Whether functions convert between versions; this requires `client`.
    pub conversions: bool,
    /// Handwritten files below the source folder that extend the package, `/`-separated: those for a kind's
    /// file or the scheme become modules. See [`crate::load::hand_written`].
    pub hand_written: BTreeSet<String>,
    /// Text at the start of every file, such as a licence; `""`: none. Other lines than comments become
    /// comments.
    pub header: String,
}

/// Parts of the client package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Clientset, scheme and typed clients.
    pub client: bool,
    /// Apply configurations, which clients then take; this requires `client`.
    pub apply: bool,
    /// The fake clientset; this requires `client`.
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

/// The place of the generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Package {
    /// A package of its own; paths in the output begin with `src/`.
    Crate {
        /// Package name.
        name: String,
        /// The dependency on `kubesmith-runtime`.
        runtime: Dependency,
        /// The dependency on `kubesmith-testenv`.
        testenv: Dependency,
        /// The dependencies on the API crates, by package name.
        apis: BTreeMap<String, Dependency>,
    },
    /// A module of an existing crate; its file is `mod.rs`.
    Module {
        /// Path of the module: `crate::generated`.
        path: String,
        /// Library name of the API crate that contains the module, if there is one: its types are then
        /// written `crate::...`.
        own_lib: Option<String>,
    },
}

impl Package {
    /// The prefix of source file paths.
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

/// A dependency in a generated Cargo.toml.
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
    /// In a git repository. Cargo takes packages of equal repositories and references for one source.
    Git(Git),
}

/// Items that are formatted together: those of a kind or of a type, or the start of a file.
type Block<'p> = Box<dyn Fn() -> TokenStream + Send + Sync + 'p>;

/// A file of the package.
struct File<'p> {
    /// Path relative to the package's source folder.
    path: String,
    /// The source of the API, for the header.
    source: &'p str,
    blocks: Vec<Block<'p>>,
}

impl<'p> File<'p> {
    fn new(plan: &'p Plan<'p>, path: impl Into<String>) -> Self {
        Self { path: path.into(), source: &plan.sources, blocks: Vec::new() }
    }

    fn block(&mut self, items: impl Fn() -> TokenStream + Send + Sync + 'p) {
        self.blocks.push(Box::new(items));
    }
}

/// Emits the package: file texts by path relative to the package's or module's folder.
pub fn emit(ir: &Ir, options: &RustOptions) -> BTreeMap<String, String> {
    let ir = &*ir.for_clients();
    let plan = Plan::new(ir, options);
    let mut files = package::files(&plan);
    for (path, blocks) in plan.apply.files() {
        files.push(File { path: format!("applyconfigurations/{path}"), source: &plan.sources, blocks });
    }
    files.extend(clients::files(&plan));
    files.extend(informers::files(&plan));
    files.extend(listers::files(&plan));
    files.extend(validations::files(&plan));
    let texts = render(files, &options.header);
    let mut tree: BTreeMap<String, String> =
        texts.into_iter().map(|(path, text)| (options.package.source_path(&path), text)).collect();
    if options.parts.client {
        tree.extend(defaults::files(ir, options));
        if options.conversions {
            tree.extend(conversions::files(ir, options));
        }
    }
    if let Some(manifest) = manifest::emit(&plan) {
        tree.insert("Cargo.toml".to_owned(), manifest);
    }
    tree
}

/// The places of handwritten extensions, one for each kind's file: the path of the extension below the source folder,
/// without `_expansion.rs`.
pub fn extension_points(ir: &Ir, options: &RustOptions) -> Vec<String> {
    let ir = &*ir.for_clients();
    let plan = Plan::new(ir, options);
    let points = |folder: &str, parts: Vec<Part<'_>>| {
        let of_part = |part: &Part<'_>| {
            let folder = format!("{folder}/{}/{}", part.group.module, part.version.module);
            part.kinds.iter().map(move |kind| format!("{folder}/{}", kind.module)).collect::<Vec<_>>()
        };
        parts.iter().flat_map(of_part).collect::<Vec<_>>()
    };
    let mut out = points("clientset/typed", plan.clients());
    out.extend(points("listers", plan.listers()));
    out
}

/// The texts of files by their paths. Threads share the blocks.
fn render(files: Vec<File<'_>>, header: &str) -> Vec<(String, String)> {
    let blocks: Vec<(bool, &Block<'_>)> = files
        .iter()
        .flat_map(|file| file.blocks.iter().enumerate().map(|(at, block)| (at == 0, block)))
        .collect();
    let mut texts = parallel::map(&blocks, |(is_head, block)| {
        let items = code::items(&block());
        if *is_head { crate::format::head(&items) } else { crate::format::items(&items) }
    })
    .into_iter();
    drop(blocks);
    let boilerplate = comments(header, "//");
    let text = |file: File<'_>| {
        let blocks: Vec<String> = texts.by_ref().take(file.blocks.len()).collect();
        (file.path, file_header(&boilerplate, "//", file.source) + "\n" + &blocks.join("\n"))
    };
    files.into_iter().map(text).collect()
}

/// The text of a file with these items.
fn render_file(blocks: Vec<Block<'_>>, source: &str) -> String {
    let file = File { path: String::new(), source, blocks };
    render(vec![file], "").into_iter().map(|(_, text)| text).collect()
}

/// The versions of a part by their groups.
fn by_group<'a, 'p>(parts: &'a [Part<'p>]) -> Vec<(&'p GroupPlan<'p>, Vec<&'a Part<'p>>)> {
    let mut groups: Vec<(&GroupPlan<'_>, Vec<&Part<'_>>)> = Vec::new();
    for part in parts {
        match groups.last_mut() {
            Some((group, parts)) if std::ptr::eq(*group, part.group) => parts.push(part),
            _ => groups.push((part.group, vec![part])),
        }
    }
    groups
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

/// Boilerplate, the mark of generated files, and the source.
fn file_header(boilerplate: &str, mark: &str, source: &str) -> String {
    let gap = if boilerplate.is_empty() { "" } else { "\n" };
    let version = env!("CARGO_PKG_VERSION");
    // A file name may contain any characters, but must stay in the comment.
    let source = source.replace(|c: char| c.is_control(), "?");
    format!(
        "{boilerplate}{gap}{mark} Code generated by kubesmith v{version}. DO NOT EDIT.\n{mark} @generated from {source}\n"
    )
}

#[cfg(test)]
mod tests;
