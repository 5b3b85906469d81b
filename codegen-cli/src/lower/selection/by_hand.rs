//! Kinds whose definitions code makes: types with an `impl CustomResourceExt` of their own. Only running it gives the definition.

use kubesmith_core::diag::Code;

use crate::diag::Diagnostic;
use crate::lower::{Ctx, Root};
use crate::resolve::ItemId;
use crate::syntax::{ImplItem, ValueExpr, ValueKind};

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
        let items = self.resolver.items().filter(|(id, _)| self.crates.list[id.krate].is_input);
        items.filter_map(|(id, item)| self.by_hand(id, &item.name.text)).collect()
    }

    fn by_hand(&self, id: ItemId, name: &str) -> Option<Root> {
        let blocks = || self.resolver.impls(id).iter().map(|(.., block)| *block);
        let definition = blocks().find(|block| is_of(block, TRAIT))?;
        let made = definition.values.iter().find(|value| value.name.text == "crd")?;
        let said = |name: &str| {
            let mut values =
                blocks().filter(|block| is_of(block, "Resource")).flat_map(|block| &block.values);
            values.find(|value| value.name.text == name).and_then(|value| text(&value.expr))
        };
        Some(Root {
            group: said("group").unwrap_or_default(),
            kind: said("kind").unwrap_or_else(|| name.to_string()),
            krate: id.krate,
            path: self.resolver.public_path(id),
            loc: made.name.loc,
        })
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

/// The text that a function returns as a literal.
fn text(expr: &ValueExpr) -> Option<String> {
    match &expr.kind {
        ValueKind::Text(text) => Some(text.clone()),
        ValueKind::Converted(_, inner) | ValueKind::Function(_, inner) => text(inner),
        // `Cow::Borrowed("..")`
        ValueKind::Call(_, arguments) => text(arguments.first()?),
        _ => None,
    }
}
