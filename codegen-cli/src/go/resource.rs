//! Translates `+kubebuilder:resource`: the names of a kind, as controller-gen combines them.

use super::markers;
use super::packages::TypeId;
use super::syntax::Word;
use super::text::Text;
use super::translate::Translator;

/// The markers with that name.
fn own(markers: &[Word]) -> impl Iterator<Item = &Word> {
    markers.iter().filter(|marker| markers::name(marker).starts_with("kubebuilder:resource"))
}

/// The raw value of an argument.
fn argument<'m>(marker: &'m Word, name: &str) -> Option<&'m str> {
    let rest = marker.text.strip_prefix("+kubebuilder:resource:")?;
    rest.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))
}

impl Translator<'_> {
    /// Writes the names of a kind. The last marker wins, except for a plural and singular that only earlier
    /// ones have. The names from one version apply to all versions of the kind.
    pub(super) fn resource(&self, text: &mut Text, id: TypeId) {
        let decl = self.resolver.packages.decl(id);
        let mut markers: Vec<&Word> = own(&decl.comments.markers).collect();
        let is_own = !markers.is_empty();
        if !is_own {
            let group = |package| {
                let found =
                    self.package_markers(package).find(|(_, marker)| markers::name(marker) == "groupName");
                found.map(|(_, marker)| marker.text.clone())
            };
            let others = self.kinds.iter().map(|other| (other, self.resolver.packages.decl(*other)));
            let other = others.into_iter().find(|(other, found)| {
                found.name.text == decl.name.text
                    && group(other.package) == group(id.package)
                    && own(&found.comments.markers).next().is_some()
            });
            markers.extend(other.into_iter().flat_map(|(_, found)| own(&found.comments.markers)));
        }
        let Some((last, before)) = markers.split_last() else { return };
        let mut written = last.text.clone();
        for name in ["path", "singular"] {
            let earlier = before.iter().rev().find_map(|marker| argument(marker, name));
            if let (None, Some(value)) = (argument(last, name), earlier) {
                written.push_str(&format!(",{name}={value}"));
            }
        }
        text.push("/// ");
        text.part(&written, if is_own { &last.place } else { &decl.name.place });
        text.push("\n");
    }
}
