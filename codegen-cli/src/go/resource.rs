//! Translates `+kubebuilder:resource`: the names of a kind, as controller-gen combines them.

use super::arguments;
use super::markers;
use super::packages::TypeId;
use super::syntax::Word;
use super::text::Text;
use super::translate::Translator;

/// The markers with that name.
fn own(markers: &[Word]) -> impl Iterator<Item = &Word> {
    markers.iter().filter(|marker| markers::name(marker).starts_with("kubebuilder:resource"))
}

impl Translator<'_> {
    /// Writes the names of a kind. The last marker wins, except for a plural and singular that only earlier
    /// ones or those of other versions have, and a kind without one has the marker of another version:
    /// `NeedCRDFor` of controller-tools, pkg/crd/spec.go, applies the markers of all versions to one definition.
    pub(super) fn resource(&self, text: &mut Text, id: TypeId) {
        let decl = self.resolver.packages.decl(id);
        let group = |package| {
            let found =
                self.package_markers(package).find(|(_, marker)| markers::name(marker) == "groupName");
            found.map(|(_, marker)| marker.text.clone())
        };
        let others = self.kinds.iter().map(|other| (other, self.resolver.packages.decl(*other)));
        let others = others.filter(|(other, found)| {
            **other != id && found.name.text == decl.name.text && group(other.package) == group(id.package)
        });
        let settled = |markers: &[Word]| own(markers).filter_map(arguments::settled).collect::<Vec<_>>();
        let own = settled(&decl.comments.markers);
        let mut given = vec![own.clone()];
        given.extend(others.map(|(_, found)| settled(&found.comments.markers)));
        given.retain(|markers| !markers.is_empty());
        let Some(last) = given.first().and_then(|markers| markers.last()) else { return };
        let all = || given.iter().flat_map(|markers| markers.iter().rev()).flat_map(arguments::of);
        let mut written = arguments::of(last);
        for name in ["path", "singular"] {
            let is_it = |argument: &&str| arguments::name(argument) == name;
            if !written.iter().any(is_it) {
                written.extend(all().find(is_it));
            }
        }
        if !written.is_empty() {
            text.push("/// ");
            let place = own.last().map_or(&decl.name.place, |own| &own.place);
            text.part(&arguments::text("kubebuilder:resource", &written), place);
            text.push("\n");
        }
    }
}
