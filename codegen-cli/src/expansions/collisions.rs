//! Finds duplicate definitions in a package, at least one of them handwritten.

use std::collections::{BTreeMap, BTreeSet};

use kubesmith_core::diag::Code;

use super::modules::{Id, Module, Modules};
use super::start;
use crate::diag::Diagnostic;
use crate::load::REGISTER_CUSTOM;
use crate::source::Loc;
use crate::syntax::{Name, Visibility};

/// Finds them file by file.
pub(super) fn check(modules: &Modules<'_>) -> Vec<Diagnostic> {
    let known = Known::new(modules);
    let mut out = Vec::new();
    for (at, module) in modules.list.iter().enumerate().filter(|(_, module)| module.by_hand) {
        known.types(module, &mut out);
        known.implementations(at, &mut out);
        known.members(at, &mut out);
        if module.is(REGISTER_CUSTOM) {
            out.extend(without_function(module));
        }
    }
    out
}

/// A member and the module that defines it.
type Member<'m> = (usize, &'m Name);

/// An implementation of a trait: for a type, or for all types with another trait.
struct Given {
    module: usize,
    owner: Id,
    of_trait: TraitId,
    is_bound: bool,
    loc: Loc,
}

/// A trait: by its definition in the package, or else by its name and arguments.
#[derive(PartialEq, Eq)]
enum TraitId {
    Own(Id, String),
    Foreign(String, String),
}

/// The members and traits of all types, over all modules.
struct Known<'m> {
    modules: &'m Modules<'m>,
    members: BTreeMap<Id, Vec<Member<'m>>>,
    /// The verbs of generated clients, which other members with the same name hide.
    verbs: BTreeMap<Id, Vec<Member<'m>>>,
    given: Vec<Given>,
}

impl<'m> Known<'m> {
    fn new(modules: &'m Modules<'m>) -> Self {
        let mut known = Self { modules, members: BTreeMap::new(), verbs: BTreeMap::new(), given: Vec::new() };
        for (at, module) in modules.list.iter().enumerate() {
            for (owner, name) in &module.index.members {
                let Some(owner) = modules.resolve(module, owner) else { continue };
                known.members.entry(owner).or_default().push((at, name));
            }
            for (owner, name) in &module.index.verbs {
                let Some(owner) = modules.resolve(module, owner) else { continue };
                known.verbs.entry(owner).or_default().push((at, name));
            }
            for given in &module.index.implemented {
                let Some(owner) = modules.resolve(module, &given.owner) else { continue };
                let arguments = given.arguments.clone();
                let of_trait = match modules.resolve(module, &given.of_trait) {
                    Some(id) => TraitId::Own(id, arguments),
                    None => TraitId::Foreign(given.of_trait.last().cloned().unwrap_or_default(), arguments),
                };
                let (is_bound, loc) = (given.is_bound, given.loc);
                known.given.push(Given { module: at, owner, of_trait, is_bound, loc });
            }
        }
        known
    }

    fn module(&self, at: usize) -> &'m Module {
        &self.modules.list[at]
    }

    /// Whether a collision with another module is reported at `at`: each pair is reported once.
    fn counts(&self, other: usize, at: usize) -> bool {
        !self.module(other).by_hand || other < at
    }

    /// Types with the name of a type in the extended file.
    fn types(&self, module: &Module, out: &mut Vec<Diagnostic>) {
        let Some((_, beside)) = module.path.split_last() else { return };
        let Some(beside) = self.modules.list.iter().find(|other| other.path == beside) else { return };
        for name in &module.index.types {
            let Some(other) = beside.index.types.iter().find(|other| other.text == name.text) else {
                continue;
            };
            let message = format!("`{}` is the name of a generated type", name.text);
            out.push(
                collision(name.loc, message)
                    .label("another type of that name")
                    .secondary(other.loc, "the generated one")
                    .note("in this file the name means the type that is written here, even behind `use super::*`")
                    .help("give it another name"),
            );
        }
    }

    /// Traits that a type has already.
    fn implementations(&self, at: usize, out: &mut Vec<Diagnostic>) {
        for given in self.given.iter().filter(|given| given.module == at && !given.is_bound) {
            let is_same = |other: &&Given| {
                !other.is_bound
                    && self.counts(other.module, at)
                    && other.owner == given.owner
                    && other.of_trait == given.of_trait
            };
            let Some(other) = self.given.iter().filter(|other| other.module != at).find(is_same) else {
                continue;
            };
            let (TraitId::Own((_, name), _) | TraitId::Foreign(name, _)) = &given.of_trait;
            let message = format!("`{}` implements `{name}` already", given.owner.1);
            out.push(
                collision(given.loc, message)
                    .label("implemented again")
                    .secondary(other.loc, self.first(other.module))
                    .note("rustc refuses a package in which a type implements a trait twice")
                    .help("remove one of the two"),
            );
        }
    }

    /// Methods, constants and types that a type has already, inherent or by another trait.
    fn members(&self, at: usize, out: &mut Vec<Diagnostic>) {
        let mut told = BTreeSet::new();
        for (owner, members) in &self.members {
            for (_, name) in members.iter().filter(|(module, _)| *module == at) {
                let found = self.again(at, owner, name).or_else(|| self.through(at, owner, name));
                let found = found.or_else(|| self.hidden(owner, name));
                out.extend(found.filter(|_| told.insert(name.loc)));
            }
        }
    }

    /// An inherent member with the same name from another module.
    fn again(&self, at: usize, owner: &Id, name: &Name) -> Option<Diagnostic> {
        let (other, first) = self.member(owner, name, at)?;
        let message = format!("`{}` has `{}` already", owner.1, name.text);
        let diagnostic = collision(name.loc, message)
            .label("defined again")
            .secondary(first.loc, self.first(other))
            .note("rustc refuses a package in which a type has two items of one name")
            .help("give it another name");
        Some(diagnostic)
    }

    /// A member with the same name on types with the trait.
    fn through(&self, at: usize, of_trait: &Id, name: &Name) -> Option<Diagnostic> {
        let has = |given: &&Given| matches!(&given.of_trait, TraitId::Own(id, _) if id == of_trait);
        self.given.iter().filter(has).find_map(|given| {
            let own = self.member(&given.owner, name, at).map(|member| (member, given.is_bound));
            let ((other, first), is_ambiguous) =
                own.or_else(|| self.of_another_trait(at, given, of_trait, name).map(|member| (member, true)))?;
            let (message, note) = match is_ambiguous {
                true => (
                    format!("`{}` of `{}` is not the only one of `{}`", name.text, of_trait.1, given.owner.1),
                    "a call by this name is ambiguous where both traits are in scope",
                ),
                false => (
                    format!("`{}` of `{}` is hidden by that of `{}`", name.text, of_trait.1, given.owner.1),
                    "a call by this name means what the type has in itself, and never what a trait gives to it",
                ),
            };
            let diagnostic = collision(name.loc, message)
                .label("defined again")
                .secondary(first.loc, self.first(other))
                .note(note)
                .help("give it another name");
            Some(diagnostic)
        })
    }

    /// The verb with this name on the client that has the member, inherent or by a trait.
    fn hidden(&self, owner: &Id, name: &Name) -> Option<Diagnostic> {
        let by_trait = self.given.iter().filter(|given| match &given.of_trait {
            TraitId::Own(id, _) => id == owner && !given.is_bound,
            TraitId::Foreign(..) => false,
        });
        let mut clients = by_trait.map(|given| &given.owner).chain([owner]);
        let (client, (_, verb)) = clients.find_map(|client| {
            let verbs = self.verbs.get(client)?;
            Some((client, verbs.iter().find(|(_, verb)| verb.text == name.text)?))
        })?;
        let message = format!("`{}` hides the verb of `{}`", name.text, client.1);
        let diagnostic = collision(name.loc, message)
            .label("defined again")
            .secondary(verb.loc, "the generated client has it by this trait")
            .note("a call by this name means what is written here, wherever it is in scope")
            .help("give it another name");
        Some(diagnostic)
    }

    /// A member with the same name in another handwritten trait.
    fn of_another_trait(&self, at: usize, given: &Given, of_trait: &Id, name: &Name) -> Option<Member<'m>> {
        let others = self.given.iter().filter(|other| other.owner == given.owner);
        others
            .filter_map(|other| match &other.of_trait {
                TraitId::Own(id, _) if id != of_trait => self.member(id, name, at),
                _ => None,
            })
            .find(|(module, _)| self.module(*module).by_hand)
    }

    fn member(&self, owner: &Id, name: &Name, at: usize) -> Option<Member<'m>> {
        let same = |(module, other): &&Member<'m>| {
            *module != at && self.counts(*module, at) && other.text == name.text
        };
        self.members.get(owner)?.iter().find(same).copied()
    }

    fn first(&self, module: usize) -> &'static str {
        if self.module(module).by_hand { "written here as well" } else { "the generated one" }
    }
}

/// A `register_custom.rs` without the function that the scheme calls.
fn without_function(module: &Module) -> Option<Diagnostic> {
    const NAME: &str = "add_to_scheme";
    let index = &module.index;
    let bound = |name: &Option<String>| name.as_deref().is_none_or(|name| name == NAME);
    let reexported =
        index.uses.iter().any(|used| used.visibility != Visibility::Private && bound(&used.binding));
    if reexported || index.has_macros {
        return None;
    }
    let (loc, message) = match index.functions.iter().find(|(name, _)| name.text == NAME) {
        Some((_, Visibility::Public | Visibility::Restricted)) => return None,
        Some((name, Visibility::Private)) => (name.loc, "`add_to_scheme` is private"),
        None => (start(module.file), "there is no function `add_to_scheme`"),
    };
    let diagnostic = collision(loc, message.to_owned())
        .note("the generated clientset/mod.rs calls it, so that rustc refuses the package")
        .help("write `pub fn add_to_scheme(scheme: &mut Scheme)`, or remove the file");
    Some(diagnostic)
}

fn collision(loc: Loc, message: String) -> Diagnostic {
    Diagnostic::warning(Code::EXPANSION_COLLISION, loc, message)
}
