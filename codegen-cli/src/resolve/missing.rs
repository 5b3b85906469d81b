//! Finds paths of functions that lead nowhere for certain.

use std::collections::HashSet;

use super::{Missing, Place, Resolver, Target, Visited};
use crate::load::ModuleId;
use crate::syntax::{PathExpr, Step};

impl Resolver<'_> {
    /// The name that the path of a function, or of a module, lacks. `None`: the path leads somewhere, or an
    /// import or macro that is not read here may add the name.
    pub fn lacks(&self, krate: usize, module: ModuleId, path: &PathExpr, is_module: bool) -> Option<String> {
        let is_name = |name: &String| name.chars().all(|letter| letter == '_' || letter.is_alphanumeric());
        let (last, rest) = path.segments.split_last()?;
        if path.global || !path.segments.iter().all(is_name) {
            return None;
        }
        let searched = if is_module { &path.segments[..] } else { rest };
        let (name, place) = match self.path(krate, module, false, searched, &mut Visited::default()) {
            Ok(Target::Module(krate, module)) if !is_module => {
                let is_found = self.value_in(krate, module, last, 0).is_some()
                    || self.names[krate][module].bindings.contains_key(last.as_str());
                (Some(last.clone()).filter(|_| !is_found)?, (krate, module))
            }
            Ok(_) => return None,
            Err(Missing { name, at }) => (name, at?),
        };
        // A type parameter, `Self`, or a trait of the prelude: not every one of those is known.
        let is_type = name.starts_with(char::is_uppercase);
        (!is_type && self.is_closed(place, &mut HashSet::new())).then_some(name)
    }

    /// Whether all names of a module are known: every call of a macro is expanded, and every glob leads to
    /// another such module.
    fn is_closed(&self, place: Place, visited: &mut HashSet<Place>) -> bool {
        if !visited.insert(place) {
            return true;
        }
        let (krate, module) = place;
        let m = &self.crates.list[krate].modules[module];
        !self.has_unknown_calls(place)
            && m.uses.iter().filter(|item| item.binding.is_none()).all(|item| {
                match self.path(krate, module, item.global, &item.segments, &mut Visited::default()) {
                    Ok(Target::Module(krate, module)) => self.is_closed((krate, module), visited),
                    Ok(Target::Item(_)) => true,
                    Ok(Target::External(_) | Target::Unread(..)) | Err(_) => false,
                }
            })
    }

    /// Whether a module calls macros in the position of items that are not expanded.
    pub fn has_unknown_calls(&self, (krate, module): (usize, ModuleId)) -> bool {
        let steps = &self.crates.list[krate].modules[module].steps;
        steps.iter().any(|step| matches!(step, Step::Call(_)))
    }
}
