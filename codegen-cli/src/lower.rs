//! From resolved syntax to the intermediate representation.
//!
//! Every resource is lowered with the types that are reachable from it. A type without a JSON form that a schema can describe is
//! a diagnostic here. `validate` checks rules between resources.

mod enums;
mod generics;
mod known;
mod kube;
mod manifests;
mod methods;
mod policies;
mod resource;
mod rust_types;
mod selection;
mod shape;
mod types;
mod values;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use kubesmith_core::diag::Code;

use self::generics::Instance;
use self::generics::Scope;
use crate::diag::{self, Diagnostic};
use crate::ir::{InputCrate, Ir, Places, RustType, TypeDef, TypeId, TypeRef};
use crate::load::Crates;
use crate::paths::display;
use crate::resolve::{ItemId, Resolver};
use crate::selection::Selection;
use crate::source::{Loc, SourceMap};
use crate::syntax::facts;

/// What lowering may accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowerOptions<'a> {
    /// Which kinds are lowered.
    pub selection: &'a Selection,
    /// Floating point fields, whose text differs between implementations.
    pub allow_dangerous_types: bool,
    /// Which generated code names root types.
    pub client: ClientUse,
}

/// Which generated code names root types by their paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientUse {
    /// No client is generated.
    #[default]
    None,
    /// A module that is generated.
    Module,
    /// A package that is generated.
    Package,
}

/// What was lowered.
#[derive(Debug)]
pub struct Lowering {
    /// The representation.
    pub ir: Ir,
    /// The fault.
    pub diagnostics: Vec<Diagnostic>,
    /// Crates that types lead into and that were not read, by their indices in [`Crates::foreign`].
    pub wanted: BTreeSet<usize>,
    /// The root types of the kinds that were chosen, those with errors included.
    pub roots: Vec<Root>,
    /// Whether a type was used whose own attributes have errors.
    pub is_broken: bool,
}

/// The root type of a kind in a version.
#[derive(Clone, Debug)]
pub struct Root {
    /// The group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// Its crate, by its index.
    pub krate: usize,
    /// A path by which the root type of kube-rs's dialect can be named from outside of its crate.
    pub path: Option<String>,
    /// Where the kind is declared.
    pub loc: Loc,
}

impl Root {
    /// The kind with its group, as a selection names it.
    pub fn name(&self) -> String {
        format!("{}.{}", self.kind, self.group)
    }
}

/// Lowers the chosen resources of the input crates.
pub fn lower(crates: &Crates, sources: &SourceMap, options: LowerOptions<'_>) -> Lowering {
    let resolver = Resolver::new(crates);
    let mut ctx = Ctx {
        crates,
        resolver: &resolver,
        sources,
        options,
        types: Vec::new(),
        known: HashMap::new(),
        known_aliases: HashMap::new(),
        declared_aliases: RefCell::default(),
        made: HashMap::new(),
        open: Vec::new(),
        aliases: Vec::new(),
        withheld: Vec::new(),
        diagnostics: Vec::new(),
    };
    let chosen = ctx.choose();
    let mut resources = Vec::new();
    for (id, item) in resolver.items().filter(|(id, _)| chosen.ids.contains(id)) {
        if let Some(facts) = &item.resource {
            resources.extend(ctx.resource(id, item, facts));
        }
    }
    resources.extend(ctx.custom_resources(&chosen.ids));
    let manifests = manifests::lower(crates, sources, &mut ctx.diagnostics);
    let nothing = resources.is_empty() && manifests.is_empty();
    if nothing {
        ctx.report_roots_without_derive();
    }
    if nothing && !diag::has_errors(&ctx.diagnostics) && !crates.list.is_empty() {
        let inputs = crates.list.iter().filter(|krate| krate.is_input);
        let names: Vec<String> = inputs.map(|krate| display(&krate.folder)).collect();
        let is_go = crates.list.iter().any(|krate| krate.is_go);
        ctx.diagnostics.push(nothing_found(&names.join(", "), chosen.is_part, is_go));
    }
    let groups = ctx.groups(resources);
    let has_types = |lib: &str| ctx.types.iter().any(|ty| ty.path.split("::").next() == Some(lib));
    let inputs = crates.list.iter().filter(|krate| krate.is_input && has_types(&krate.lib));
    let list = inputs.map(|krate| InputCrate {
        package: krate.package.clone(),
        lib: krate.lib.clone(),
        version: krate.version.clone(),
        path: display(&krate.folder),
        go: krate.is_go,
        keeps_both_enums: krate.keeps_both_enums,
    });
    let ir = Ir { crates: list.collect(), groups, types: ctx.types, manifests, ..Ir::default() };
    Lowering {
        ir,
        diagnostics: ctx.diagnostics,
        wanted: resolver.wanted(),
        roots: chosen.roots,
        is_broken: resolver.is_broken(),
    }
}

/// What makes a kind in Go.
pub(crate) const GO_RESOURCE: &str = "a resource is a struct that embeds `metav1.TypeMeta` and `metav1.ObjectMeta`, in a package with the marker `+groupName`";

fn nothing_found(inputs: &str, has_left_out: bool, is_go: bool) -> Diagnostic {
    if has_left_out {
        let message = format!("every kind in {inputs} is left out");
        return Diagnostic::error(Code::NO_RESOURCE, None, message)
            .help("look at `--kind`, `--group` and `--exclude`, and at the same keys of kubesmith.toml");
    }
    let found = Diagnostic::error(Code::NO_RESOURCE, None, format!("no resource in {inputs}"));
    if is_go {
        return found.help(GO_RESOURCE);
    }
    found.help(
        "a resource is a struct with `#[derive(Resource)]` and `#[resource(group = \"...\", version = \"...\")]`, or kube's \
         `#[derive(CustomResource)]`; types that procedural macros make are not seen",
    )
}

impl Ctx<'_> {
    /// Reports types with `#[resource]` that derive nothing.
    fn report_roots_without_derive(&mut self) {
        for (id, item) in self.resolver.items() {
            let unread = item.unread.as_ref().filter(|unread| unread.derive == "Resource");
            if let Some(unread) = unread.filter(|_| self.crates.list[id.krate].is_input) {
                self.diagnostics.push(shape::without_effect(&item.name, unread));
            }
        }
    }
}

/// State of a lowering.
pub(crate) struct Ctx<'a> {
    crates: &'a Crates,
    pub(crate) resolver: &'a Resolver<'a>,
    sources: &'a SourceMap,
    options: LowerOptions<'a>,
    types: Vec<TypeDef>,
    /// Types that were lowered; of those with mistakes the diagnostics in `withheld`.
    known: HashMap<Instance, Result<TypeId, usize>>,
    /// What aliases stand for.
    known_aliases: HashMap<Instance, Result<TypeRef, usize>>,
    /// What aliases with their arguments stand for, as it is declared.
    declared_aliases: RefCell<HashMap<(ItemId, Vec<RustType>), RustType>>,
    /// Types that were made of known ones, by their paths with arguments.
    made: HashMap<String, TypeId>,
    /// Types being lowered, outermost first: a type that is met again contains itself.
    open: Vec<Instance>,
    /// Aliases being looked at, outermost first.
    aliases: Vec<Instance>,
    /// Diagnostics that may be reported again, or not at all.
    withheld: Vec<Vec<Diagnostic>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Ctx<'_> {
    /// Places as the representation stores them.
    fn spans(&self, places: &facts::Places) -> Places {
        places.iter().map(|(name, loc)| (name.clone(), self.sources.span(*loc))).collect()
    }
}
