//! Warns of types and functions that rustc will miss: the definition can be written, the program not built.

use kubesmith_core::diag::Code;

use super::known;
use super::types::{Dialect, Env, Param, Ty};
use crate::diag::Diagnostic;
use crate::resolve::ItemId;
use crate::source::Loc;
use crate::syntax::PathExpr;
use crate::syntax::kube::{Body, Field};

/// The traits of serde that a type needs.
#[derive(Clone, Copy)]
pub(super) struct Needed {
    pub(super) serialize: bool,
    pub(super) deserialize: bool,
}

impl Dialect<'_, '_> {
    /// Checks the functions that serde's attributes name.
    pub(super) fn check_functions(&mut self, env: &Env, field: &Field) {
        if !self.open.last().is_some_and(|open| matches!(open, Ty::Item(id, _) if self.ctx.is_input(*id))) {
            return;
        }
        for function in &field.serde.functions {
            if let Some(found) = self.missing_function(env, &function.path, function.is_module) {
                self.error(Diagnostic::warning(Code::MISSING_FUNCTION, function.path.loc, found).help(HELP));
            }
        }
    }

    /// Checks the type of a field for the traits that the derives of its owner need.
    pub(super) fn check_serde(&mut self, field: &Field, ty: &Ty) {
        let Some(Ty::Item(owner, _)) = self.open.last() else { return };
        let owner = *owner;
        let item = self.item(owner);
        let Some(derived) = item.schemars.as_ref().filter(|_| self.ctx.is_input(owner)) else { return };
        // Other types and functions read and write the fields.
        let is_converted = derived.serde.read_as.is_some() || derived.serde.written_as.is_some();
        let is_content = !matches!(derived.body, Body::Named(_));
        if is_converted || is_content {
            return;
        }
        let serde = &field.serde;
        let needed = Needed {
            serialize: item.derived.serialize && !serde.serialize_with && !serde.skip_serializing,
            deserialize: item.derived.deserialize && !serde.deserialize_with && !serde.skip_deserializing,
        };
        self.check_derives(ty, needed, field.ty.loc(), &item.name.text);
    }

    /// Warns if a type lacks traits of serde that `owner` needs.
    pub(super) fn check_derives(&mut self, ty: &Ty, needed: Needed, used: Option<Loc>, owner: &str) {
        match ty {
            Ty::Item(id, _) => self.check_type(*id, needed, used, owner),
            Ty::Known(path, arguments) if known::is_container(path) => {
                for argument in arguments.iter() {
                    if let Param::Type(ty) = argument {
                        self.check_derives(ty, needed, used, owner);
                    }
                }
            }
            Ty::Known(..) => {}
            Ty::Array(inner, _) | Ty::Slice(inner) => self.check_derives(inner, needed, used, owner),
            Ty::Tuple(items) => {
                items.iter().for_each(|item| self.check_derives(item, needed, used, owner));
            }
        }
    }

    fn check_type(&mut self, id: ItemId, needed: Needed, used: Option<Loc>, owner: &str) {
        let item = self.item(id);
        let is_derived = item.schemars.as_ref().is_some_and(|derived| derived.derives_schema);
        let has_unknown_calls = self.ctx.resolver.has_unknown_calls((id.krate, id.module));
        if !is_derived || !item.derived.is_complete || has_unknown_calls || !self.ctx.is_input(id) {
            return;
        }
        let blocks = self.ctx.resolver.impls(id);
        let is_written = |name: &str| {
            let mut traits = blocks.iter().filter_map(|(_, _, block)| block.of_trait.as_ref());
            traits.any(|known| known.text == name)
        };
        let wanted = [
            ("Serialize", needed.serialize && !item.derived.serialize),
            ("Deserialize", needed.deserialize && !item.derived.deserialize),
        ];
        let missing: Vec<&str> = wanted
            .into_iter()
            .filter_map(|(name, is_wanted)| (is_wanted && !is_written(name)).then_some(name))
            .collect();
        if missing.is_empty() {
            return;
        }
        let name = &item.name;
        let lacks = match &missing[..] {
            [one] => format!("does not derive `{one}`"),
            _ => "derives neither `Serialize` nor `Deserialize`".to_string(),
        };
        let message = format!("`{}` {lacks}, which `{owner}` needs", name.text);
        self.error(
            Diagnostic::warning(Code::MISSING_DERIVE, name.loc, message)
                .secondary(used.filter(|used| *used != name.loc), "used here")
                .note("the CRD can be written, but rustc will refuse the program")
                .help(format!("add `{}` to the derives of `{}`", missing.join("` and `"), name.text)),
        );
    }

    /// The message for a function or module that does not exist.
    fn missing_function(&self, env: &Env, path: &PathExpr, is_module: bool) -> Option<String> {
        let name = self.ctx.resolver.lacks(env.krate, env.module, path, is_module)?;
        let what = match path.segments.last() {
            Some(last) if *last == name && !is_module => "function",
            _ => "module",
        };
        let of = if path.segments.len() > 1 { format!(" of `{}`", path.text()) } else { String::new() };
        Some(format!("cannot find the {what} `{name}`{of}"))
    }

    /// Reports the function of a default that does not exist; returns whether there is such an error.
    pub(super) fn report_missing_default(&mut self, env: &Env, path: &PathExpr) -> bool {
        let found = self.missing_function(env, path, false);
        let is_missing = found.is_some();
        if let Some(message) = found {
            self.error(Diagnostic::error(Code::MISSING_FUNCTION, path.loc, message).help(HELP));
        }
        is_missing
    }
}

const HELP: &str = "define it, or name one that exists: the path is looked up from the module of the type";
