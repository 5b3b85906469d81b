//! Selects the kinds to lower: those in the selection, without those of other projects.

mod by_hand;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kubesmith_core::diag::{Code, Severity};
use kubesmith_core::names;
use kubesmith_core::names::closest;

use super::{Ctx, Root};
use crate::diag::Diagnostic;
use crate::resolve::ItemId;
use crate::selection::Choice;
use crate::syntax::facts::ResourceFacts;
use crate::syntax::kube::{CustomResource, SchemaMode};

/// Modules that hold copies of other projects' types, by convention.
const VENDORED: [&str; 3] = ["third_party", "vendor", "vendored"];

/// The most bytes before the notice of a file's generator.
const NOTICE: usize = 400;

/// A kind of the inputs.
struct Kind<'a> {
    id: ItemId,
    group: String,
    facts: &'a ResourceFacts,
    custom: Option<&'a CustomResource>,
}

/// The selected kinds.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Their root types.
    pub(super) ids: BTreeSet<ItemId>,
    /// Their root types with names.
    pub(super) roots: Vec<Root>,
    /// Whether other kinds were left out.
    pub(super) is_part: bool,
}

impl<'a> Ctx<'a> {
    /// Chooses among the kinds of the inputs. An entry of the selection without a kind is an error; a kind
    /// left out by default gets a warning.
    pub(super) fn choose(&mut self) -> Chosen {
        let kinds = self.kinds();
        let by_hand = self.made_by_hand();
        let of_kinds = kinds.iter().map(|kind| (kind.group.clone(), kind.facts.kind.text.clone()));
        let names: Vec<(String, String)> =
            of_kinds.chain(by_hand.iter().map(|root| (root.group.clone(), root.kind.clone()))).collect();
        let selection = self.options.selection;
        for entry in selection.without_match(&names) {
            self.diagnostics.push(unknown(entry, &names));
        }
        let mut chosen = Chosen::default();
        for (kind, name) in kinds.iter().zip(names) {
            let left_out = match selection.choice(&kind.group, &name.1) {
                Choice::LeftOut => Some(None),
                Choice::Kind => None,
                Choice::Group => self.disabled(kind).map(Some),
                Choice::Implied => self.disabled(kind).or_else(|| self.foreign(kind)).map(Some),
            };
            chosen.is_part |= left_out.is_some();
            match left_out {
                Some(warning) => self.diagnostics.extend(warning),
                None => {
                    chosen.ids.insert(kind.id);
                    chosen.roots.push(Root {
                        group: kind.group.clone(),
                        kind: name.1,
                        krate: kind.id.krate,
                        path: self.resolver.public_root_path(kind.id),
                        loc: kind.facts.loc,
                    });
                }
            }
        }
        for root in by_hand {
            let is_left_out = selection.choice(&root.group, &root.kind) == Choice::LeftOut;
            chosen.is_part |= is_left_out;
            if !is_left_out {
                self.report_by_hand(&root);
                chosen.roots.push(root);
            }
        }
        chosen
    }

    /// Every kind of the inputs.
    fn kinds(&self) -> Vec<Kind<'a>> {
        let found = self.resolver.items().filter(|(id, item)| {
            // Core refuses root types with parameters.
            self.crates.list[id.krate].is_input
                && (item.generics.is_empty() || item.custom_resource.is_some())
                && !self.resolver.module_facts(*id).skip
        });
        // Several programs of a package may have the same file as a module.
        let mut seen: BTreeMap<(PathBuf, u32, String), usize> = BTreeMap::new();
        let kinds = found.filter_map(|(id, item)| {
            let custom = item.custom_resource.as_deref();
            let facts = item.resource.as_deref().or(custom.map(|custom| &custom.facts))?;
            let loc = self.sources.real(facts.loc).loc;
            let place = (self.sources.file(loc.file).path.clone(), loc.start, item.name.text.clone());
            if *seen.entry(place).or_insert(id.krate) != id.krate {
                return None;
            }
            let group = facts.group.clone().or_else(|| self.resolver.module_facts(id).group);
            Some(Kind { id, group: group.map(|name| name.text).unwrap_or_default(), facts, custom })
        });
        kinds.collect()
    }

    /// The warning about a kind without a schema, which a server refuses.
    fn disabled(&self, kind: &Kind<'_>) -> Option<Diagnostic> {
        let custom = kind.custom.filter(|custom| custom.schema == SchemaMode::Disabled)?;
        let note = "its schema is disabled, and an API server refuses a definition without one, so a program has to add it";
        Some(left_out(kind, custom, note))
    }

    /// The warning about a copy of another project's kind: only its owner may install the definition.
    fn foreign(&self, kind: &Kind<'_>) -> Option<Diagnostic> {
        let custom = kind.custom?;
        let is_approved = kind.facts.crd.annotations.contains_key(names::API_APPROVED);
        let text = &self.sources.file(self.sources.real(custom.loc).loc.file).text;
        let notice = text.bytes().take(NOTICE).collect::<Vec<_>>();
        let note = if names::is_protected_group(&kind.group) && !is_approved {
            format!(
                "the group {} belongs to Kubernetes, and no annotation `{}` says that the kind is approved",
                kind.group,
                names::API_APPROVED
            )
        } else if String::from_utf8_lossy(&notice).contains("generated by kopium") {
            "kopium generated the type from a definition that is already there".to_string()
        } else {
            let path = self.resolver.definition_path(kind.id);
            let module = path.split("::").find(|part| VENDORED.contains(part))?;
            format!("the module `{module}` holds types of other projects")
        };
        Some(left_out(kind, custom, &note))
    }

    /// Names the kind in errors that only a change or omission of a type resolves.
    pub(super) fn add_skip_hint(&mut self, from: usize, kind: &str) {
        let found = self.diagnostics[from..]
            .iter_mut()
            .filter(|found| found.code == Code::SCHEMA_AT_RUN_TIME && found.severity == Severity::Error);
        found.for_each(|found| found.notes.push(format!("`--exclude {kind}` leaves the kind out")));
    }
}

fn left_out(kind: &Kind<'_>, custom: &CustomResource, note: &str) -> Diagnostic {
    let name = &kind.facts.kind.text;
    Diagnostic::warning(Code::KIND_LEFT_OUT, custom.loc, format!("the kind {name} is left out"))
        .note(note)
        .help(format!("`--exclude {name}` hides this note, and `--kind {name}` generates the kind"))
}

fn unknown(entry: &str, kinds: &[(String, String)]) -> Diagnostic {
    let known = kinds.iter().flat_map(|(group, kind)| [group.as_str(), kind.as_str()]);
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    let help = match closest(entry, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the inputs have {}", known.join(", ")),
    };
    Diagnostic::error(Code::UNKNOWN_KIND, None, format!("no kind of the inputs matches `{entry}`")).help(help)
}
