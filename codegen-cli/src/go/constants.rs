//! Lists constants as the values of their type.

use kubesmith_apimachinery::golang::json_string;
use kubesmith_core::diag::Code;

use super::markers;
use super::packages::TypeId;
use super::resolve::At;
use super::syntax::{Constant, Word};
use super::text::Text;
use super::translate::Translator;
use crate::diag::Diagnostic;

impl Translator<'_> {
    /// `+k8s:enum`: the string constants of the type are its values. `K8sEnum.ApplyToSchema` of
    /// controller-tools, pkg/crd/markers/validation.go, leaves out computed ones.
    pub(super) fn enum_of_constants(&mut self, text: &mut Text, id: TypeId) {
        let decl = self.resolver.packages.decl(id);
        let mut all = decl.comments.markers.iter();
        let marker = all.find(|marker| markers::name(marker) == "k8s:enum").cloned();
        let Some(marker) = marker.filter(|_| self.options.release.knows("k8s:enum")) else { return };
        let files = &self.resolver.packages.list[id.package].files;
        let constants = files.iter().flat_map(|(_, file)| file.constants());
        let own = constants.filter(|constant| constant.ty.as_ref() == Some(&decl.name.text));
        // Upstream sorts the JSON, and keeps values that several constants have.
        let mut values: Vec<String> = own.filter_map(Constant::literal).map(json_string).collect();
        values.sort();
        let is_text = self.resolver.underlying(id, 0) == Some("string");
        if values.is_empty() || !is_text {
            return self.report_enum(id, &marker, is_text);
        }
        let written = format!("+kubebuilder:validation:Enum={}", values.join(";"));
        text.push("/// ");
        text.part(&written, &marker.place);
        text.push("\n");
    }

    /// `K8sEnumField.ApplyToSchema` of the same file refuses the marker on fields.
    pub(super) fn refuse_enum_of_field(&mut self, at: At, all: &[Word]) {
        let marker = all.iter().find(|marker| markers::name(marker) == "k8s:enum");
        let Some(marker) = marker.filter(|_| self.options.release.knows("k8s:enum")) else { return };
        let loc = self.resolver.loc(at, &marker.place);
        self.resolver.diagnostics.push(
            Diagnostic::error(Code::WRONG_PLACE, loc, "`+k8s:enum` is for types, and this is a field")
                .help("put it on the declaration of the field's type"),
        );
    }

    fn report_enum(&mut self, id: TypeId, marker: &Word, is_text: bool) {
        let name = &self.resolver.packages.decl(id).name.text;
        let (message, help) = match is_text {
            true => (
                format!("`{name}` has no constant that is written as a text"),
                format!("add its values: `const A {name} = \"a\"`"),
            ),
            false => (
                format!("`+k8s:enum` is for strings, and `{name}` is none"),
                "list the values with `+kubebuilder:validation:Enum`".to_string(),
            ),
        };
        let loc = self.resolver.loc(id.into(), &marker.place);
        self.resolver.diagnostics.push(Diagnostic::error(Code::WRONG_TYPE_FOR_KEY, loc, message).help(help));
    }
}
