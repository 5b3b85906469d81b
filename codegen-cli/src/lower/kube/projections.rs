//! Resolves associated types: `<T as Trait>::Name` and `Self::Name`.

use super::types::{Dialect, Env, Ty};
use crate::syntax::{PathExpr, TypeExpr};

impl Dialect<'_, '_> {
    /// The associated type of this name; `None`: no implementation has it, or several traits do.
    pub(super) fn projected(&mut self, env: &Env, path: &PathExpr, depth: usize) -> Option<Ty> {
        let (name, of) = path.segments.split_last()?;
        if of.is_empty() {
            return None;
        }
        let of = TypeExpr::Path(PathExpr { segments: of.to_vec(), ..path.clone() });
        let owner = self.quiet(|dialect| dialect.ty_at(env, &of, depth + 1))?;
        let Ty::Item(id, params) = &owner else { return None };
        let blocks = self.ctx.resolver.impls(*id).iter();
        let mut found = blocks.filter_map(|(krate, module, block)| {
            let (_, ty) = block.types.iter().find(|(known, _)| known == name)?;
            Some((*krate, *module, ty))
        });
        let (krate, module, ty) = found.next()?;
        if found.next().is_some() {
            return None;
        }
        let mut inner = self.env_of(*id, params);
        (inner.krate, inner.module) = (krate, module);
        self.ty_at(&inner, ty, depth + 1)
    }
}
