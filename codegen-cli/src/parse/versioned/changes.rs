//! Tracks a field or variant from version to version.

use proc_macro2::Ident;
use syn::{Attribute, LitStr, Meta, Type, parse_quote_spanned};

use super::{Mistake, Result, Version, is_versioned, metas, name, named, text, unknown};

/// Actions of a field or variant, by the numbers of the versions.
#[derive(Default)]
pub(super) struct Changes {
    added: Option<usize>,
    /// Changes in the order of the versions.
    changed: Vec<Change>,
    deprecated: Option<(usize, Option<LitStr>)>,
}

/// `changed(since = "..", from_name = "..", from_type = "..")`
struct Change {
    since: usize,
    from_name: Option<LitStr>,
    from_type: Option<Type>,
}

/// A field or variant in a version.
pub(super) struct State {
    pub(super) ident: Ident,
    /// The type, if it differs from the current one.
    pub(super) ty: Option<Type>,
    pub(super) deprecated: Option<Attribute>,
}

impl Changes {
    pub(super) fn of(attributes: &[Attribute], versions: &[Version]) -> Result<Self> {
        let mut out = Self::default();
        for attribute in attributes.iter().filter(|attribute| is_versioned(attribute)) {
            for action in metas(&attribute.meta)? {
                out.action(&action, versions)?;
            }
        }
        out.changed.sort_by_key(|change| change.since);
        Ok(out)
    }

    fn action(&mut self, action: &Meta, versions: &[Version]) -> Result<()> {
        let kind = name(action);
        if matches!(kind.as_str(), "nested" | "hint") {
            return Ok(());
        }
        let (mut since, mut change, mut note) = (None, (None, None), None);
        for argument in metas(action)? {
            match name(&argument).as_str() {
                "since" => since = Some(number(&text(&argument)?, versions)?),
                "from_name" | "from" => change.0 = Some(text(&argument)?),
                "from_type" => change.1 = Some(text(&argument)?.parse()?),
                "note" => note = Some(text(&argument)?),
                "default" | "upgrade_with" | "downgrade_with" => {}
                _ => return unknown(&argument),
            }
        }
        let missing =
            || Mistake::new(action.path().segments[0].ident.span(), format!("`{kind}` needs `since`"));
        let since = since.ok_or_else(missing)?;
        match kind.as_str() {
            "added" => self.added = Some(since),
            "changed" | "renamed" => {
                self.changed.push(Change { since, from_name: change.0, from_type: change.1 });
            }
            "deprecated" => self.deprecated = Some((since, note)),
            _ => return unknown(action),
        }
        Ok(())
    }

    /// The state in a version; `None` before it is added.
    pub(super) fn at(&self, version: usize, ident: &Ident) -> Option<State> {
        if self.added.is_some_and(|added| version < added) {
            return None;
        }
        let mut state = State { ident: ident.clone(), ty: None, deprecated: None };
        if let Some((since, note)) = &self.deprecated {
            if version < *since {
                state.ident = without_prefix(ident);
            } else {
                // Later versions drop the note.
                let note = note.as_ref().filter(|_| version == *since);
                let note = note.map(|note| quote::quote!(= #note));
                state.deprecated = Some(parse_quote_spanned! { ident.span() => #[deprecated #note] });
            }
        }
        for change in self.changed.iter().rev().filter(|change| version < change.since) {
            if let Some(name) = &change.from_name {
                state.ident = named(&name.value(), name.span()).unwrap_or(state.ident);
            }
            state.ty = change.from_type.clone().or(state.ty);
        }
        Some(state)
    }
}

fn number(name: &LitStr, versions: &[Version]) -> Result<usize> {
    let found = versions.iter().position(|version| version.name.value() == name.value());
    found.ok_or_else(|| Mistake::new(name.span(), format!("no version is called `{}`", name.value())))
}

/// The name before deprecation, which adds a prefix.
fn without_prefix(ident: &Ident) -> Ident {
    let text = ident.to_string();
    let name = text.strip_prefix("deprecated_").or_else(|| text.strip_prefix("Deprecated"));
    name.and_then(|name| named(name, ident.span())).unwrap_or_else(|| ident.clone())
}
