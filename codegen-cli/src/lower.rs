//! Lowers resolved syntax to the intermediate representation.
//!
//! Every resource is lowered with all types that it uses. A type without a JSON form that a schema can
//! describe gets a diagnostic here. `validate` checks rules between resources.

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
use crate::load::{Crate, Crates};
use crate::paths::display;
use crate::resolve::{ItemId, Resolver};
use crate::selection::Selection;
use crate::source::{Loc, SourceMap};
use crate::syntax::facts;

/// Options of lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowerOptions<'a> {
    /// The kinds to lower.
    pub selection: &'a Selection,
    /// Whether to allow floating point fields, whose text differs between implementations.
    pub allow_dangerous_types: bool,
    /// The generated code that names root types.
    pub client: ClientUse,
}

/// The generated code that names root types by their paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientUse {
    /// No client is generated.
    #[default]
    None,
    /// A generated module.
    Module,
    /// A generated package.
    Package,
}

/// The result of lowering.
#[derive(Debug)]
pub struct Lowering {
    /// The representation.
    pub ir: Ir,
    /// The diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// Unread crates that types refer to, by their indices in [`Crates::foreign`].
    pub wanted: BTreeSet<usize>,
    /// The root types of the chosen kinds, including those with errors.
    pub roots: Vec<Root>,
    /// Whether a used type has errors in its own attributes.
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
    /// A path of the root type of kube-rs's dialect that is valid outside its crate.
    pub path: Option<String>,
    /// The location of the kind's declaration.
    pub loc: Loc,
}

impl Root {
    /// The kind with its group, in the notation of a selection.
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
    if nothing && !diag::has_errors(&ctx.diagnostics) {
        ctx.diagnostics.extend(nothing_in(&crates.list, chosen.is_part));
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
        older: krate.older,
    });
    let is_go_kind = |id: &ItemId| crates.list[id.krate].is_go && resolver.item(*id).resource.is_some();
    let known = ctx.known.iter().filter(|((id, _), _)| is_go_kind(id));
    let go_kinds = known.filter_map(|(_, known)| known.ok()).collect();
    let ir = Ir { crates: list.collect(), groups, types: ctx.types, manifests, go_kinds, ..Ir::default() };
    Lowering {
        ir,
        diagnostics: ctx.diagnostics,
        wanted: resolver.wanted(),
        roots: chosen.roots,
        is_broken: resolver.is_broken(),
    }
}

/// The help that defines a kind in Go.
pub(crate) const GO_RESOURCE: &str = "a resource is a struct that embeds `metav1.TypeMeta` and `metav1.ObjectMeta`, in a package with the marker `+groupName`";

/// The note for a crate whose kinds a feature may enable.
const OFF: &str = "kube is an optional dependency that no enabled feature turns on: try `--all-features`, or `--features` with \
                   the features of the program that prints the CRDs";

/// Returns the error for inputs without a kind; `None` if the run does not read types.
fn nothing_in(crates: &[Crate], has_left_out: bool) -> Option<Diagnostic> {
    if crates.is_empty() || crates.iter().any(|krate| krate.has_unread_kinds) {
        return None;
    }
    let inputs = crates.iter().filter(|krate| krate.is_input);
    let names: Vec<String> = inputs.clone().map(named).collect();
    let found = nothing_found(&names.join(", "), has_left_out, crates.iter().any(|krate| krate.is_go));
    let is_off = inputs.into_iter().any(|krate| krate.optional.contains_key("kube"));
    Some(if is_off { found.note(OFF) } else { found })
}

/// The folder of an input, which for Go may be a pattern such as `./...`.
fn named(krate: &Crate) -> String {
    let folder = display(&krate.folder);
    let plain = folder.strip_suffix("...").map_or(folder.as_str(), |rest| rest.trim_end_matches('/'));
    if plain.is_empty() { "the current folder".to_string() } else { plain.to_string() }
}

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
    /// Reports types that have `#[resource]` and lack its derive.
    fn report_roots_without_derive(&mut self) {
        for (id, item) in self.resolver.items() {
            let unread = item.unread.as_ref().filter(|unread| unread.derive == Some("Resource"));
            if let Some(unread) = unread.filter(|_| self.is_input(id)) {
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
    /// Lowered types; for those with errors, the index of their diagnostics in `withheld`.
    known: HashMap<Instance, Result<TypeId, usize>>,
    /// The targets of aliases.
    known_aliases: HashMap<Instance, Result<TypeRef, usize>>,
    /// The targets of aliases with arguments, as declared.
    declared_aliases: RefCell<HashMap<(ItemId, Vec<RustType>), RustType>>,
    /// Types made from known ones, by their paths with arguments.
    made: HashMap<String, TypeId>,
    /// The types being lowered, outermost first: a second occurrence is a type that contains itself.
    open: Vec<Instance>,
    /// The aliases being resolved, outermost first.
    aliases: Vec<Instance>,
    /// Diagnostics to report once if they turn out to matter.
    withheld: Vec<Vec<Diagnostic>>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Ctx<'_> {
    /// Whether a type is of an input, so that users can change it.
    fn is_input(&self, id: ItemId) -> bool {
        self.crates.list[id.krate].is_input
    }

    /// The places in the form that the representation stores.
    fn spans(&self, places: &facts::Places) -> Places {
        places.iter().map(|(name, loc)| (name.clone(), self.sources.span(*loc))).collect()
    }
}
