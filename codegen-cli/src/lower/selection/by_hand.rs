//! Finds kinds with a hand-written `impl CustomResourceExt`, whose definition only running the code gives.

use std::collections::BTreeSet;

use kubesmith_core::diag::Code;

use crate::diag::Diagnostic;
use crate::load::ModuleId;
use crate::lower::{Ctx, Root};
use crate::resolve::{ItemId, Value};
use crate::syntax::{ImplItem, ValueExpr, ValueKind};

/// The most constants that stand for each other.
const CONSTANTS: usize = 16;

/// kube-core's trait of types with definitions.
const TRAIT: &str = "CustomResourceExt";

impl Ctx<'_> {
    /// The root types of such kinds of the inputs.
    pub(super) fn made_by_hand(&self) -> Vec<Root> {
        let modules = self.crates.list.iter().filter(|krate| krate.is_input).flat_map(|krate| &krate.modules);
        let mut blocks = modules.flat_map(|module| &module.impls);
        // Finding the types of all blocks takes its time.
        if !blocks.any(|block| is_of(block, TRAIT)) {
            return Vec::new();
        }
        let items = self.resolver.items().filter(|(id, item)| {
            self.crates.list[id.krate].is_input
                && item.resource.is_none()
                && item.custom_resource.is_none()
                && !self.resolver.module_facts(*id).skip
        });
        // Several programs of a package may have the same file as a module.
        let mut seen = BTreeSet::new();
        let mut roots: Vec<Root> = items.filter_map(|(id, item)| self.by_hand(id, &item.name.text)).collect();
        roots.retain(|root| {
            let loc = self.sources.real(root.loc).loc;
            seen.insert((self.sources.file(loc.file).path.clone(), loc.start))
        });
        roots
    }

    fn by_hand(&self, id: ItemId, name: &str) -> Option<Root> {
        let blocks = || self.resolver.impls(id).iter().map(|(_, module, block)| (*module, *block));
        let (_, definition) = blocks().find(|(_, block)| is_of(block, TRAIT))?;
        let made = definition.values.iter().find(|value| value.name.text == "crd")?;
        let said = |name: &str| {
            let resource = blocks().filter(|(_, block)| is_of(block, "Resource"));
            let mut values =
                resource.flat_map(|(module, block)| block.values.iter().map(move |value| (module, value)));
            // kube's trait has functions, k8s-openapi's constants.
            let (module, value) = values.find(|(_, value)| value.name.text.eq_ignore_ascii_case(name))?;
            self.text(id.krate, module, &value.expr, CONSTANTS)
        };
        Some(Root {
            group: said("group").unwrap_or_default(),
            kind: said("kind").unwrap_or_else(|| name.to_string()),
            krate: id.krate,
            path: self.resolver.public_path(id),
            loc: made.name.loc,
        })
    }

    /// The text that a function returns as a literal or constant, over at most `left` constants.
    fn text(&self, krate: usize, module: ModuleId, expr: &ValueExpr, left: usize) -> Option<String> {
        match &expr.kind {
            ValueKind::Text(text) => Some(text.clone()),
            ValueKind::Converted(_, inner) | ValueKind::Function(_, inner) => {
                self.text(krate, module, inner, left)
            }
            // `Cow::Borrowed("..")`
            ValueKind::Call(_, arguments) => self.text(krate, module, arguments.first()?, left),
            ValueKind::Path(path) => match self.resolver.value(krate, module, path)? {
                Value::Item(krate, module, item) => {
                    self.text(krate, module, &item.expr, left.checked_sub(1)?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Reports the definition.
    pub(super) fn report_by_hand(&mut self, root: &Root) {
        let from = self.diagnostics.len();
        let message = format!("the definition of {} is not known before the program runs", root.kind);
        self.diagnostics.push(
            Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, root.loc, message)
                .note(format!("an `impl {TRAIT}` makes it; the source is read, not run"))
                .help("generate with `--evaluate`, which runs the program"),
        );
        self.add_skip_hint(from, &root.kind);
    }
}

fn is_of(block: &ImplItem, of: &str) -> bool {
    block.of_trait.as_ref().is_some_and(|name| name.text == of)
}
