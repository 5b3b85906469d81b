//! Collects facts of packages beside schemas: constants, methods, and markers of clients, roles and webhooks.

use std::collections::BTreeMap;

use super::arguments;
use super::markers;
use super::packages::{Package, Packages};
use super::syntax::Place;
use super::text::loc;
use crate::source::{FileId, SourceMap};

/// The facts of a package beside schemas.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    /// Its name in Rust, as in [`super::Translation::modules`].
    pub(crate) module: String,
    /// Its import path.
    pub(crate) path: String,
    /// Whether it was named as an input.
    pub(crate) is_input: bool,
    /// Its exported string constants, in source order.
    pub(crate) constants: Vec<SurveyedConstant>,
    /// The handwritten methods, in source order.
    pub(crate) methods: Vec<SurveyedMethod>,
    /// The markers of its types, by their names.
    pub(crate) markers: BTreeMap<String, Vec<String>>,
    /// The markers of roles and webhooks.
    pub(crate) manifests: Vec<String>,
}

/// A string constant.
#[derive(Clone, Debug)]
pub(crate) struct SurveyedConstant {
    /// Its name.
    pub(crate) name: String,
    /// Its type in the package; `None`: a plain string.
    pub(crate) ty: Option<String>,
    /// Its value.
    pub(crate) value: String,
    /// Its comments.
    pub(crate) description: String,
}

/// A method.
#[derive(Clone, Debug)]
pub(crate) struct SurveyedMethod {
    /// The type of its receiver.
    pub(crate) receiver: String,
    /// Its name.
    pub(crate) name: String,
    /// Its position in its module: `api/v1/types.go:12`.
    pub(crate) place: String,
}

/// Surveys packages.
pub(super) fn survey(packages: &Packages, sources: &SourceMap) -> Vec<Survey> {
    (0..packages.list.len()).map(|package| of(packages, package, sources)).collect()
}

fn of(packages: &Packages, at: usize, sources: &SourceMap) -> Survey {
    let package = &packages.list[at];
    let by_hand = package.files.iter().filter(|(_, file)| !file.is_generated);
    let methods = by_hand.flat_map(|(id, file)| file.methods.iter().map(move |method| (*id, method)));
    let methods = methods.map(|(id, method)| SurveyedMethod {
        receiver: method.receiver.clone(),
        name: method.name.text.clone(),
        place: place(packages, at, (id, sources), &method.name.place),
    });
    let types = package.files.iter().flat_map(|(_, file)| file.types());
    let markers = types.map(|ty| {
        let texts = ty.comments.markers.iter().map(|marker| marker.text.clone());
        (ty.name.text.clone(), texts.collect())
    });
    let said = package.files.iter().flat_map(|(_, file)| &file.markers);
    let manifests = said.filter(|marker| markers::is_manifest(markers::name(marker)));
    Survey {
        module: package.module_name.clone(),
        path: package.path.clone(),
        is_input: package.is_input,
        constants: constants(packages, at, package),
        methods: methods.collect(),
        markers: markers.collect(),
        manifests: manifests.filter_map(arguments::settled).map(|marker| marker.text).collect(),
    }
}

fn constants(packages: &Packages, at: usize, package: &Package) -> Vec<SurveyedConstant> {
    let by_hand = package.files.iter().filter(|(_, file)| !file.is_generated);
    let all = by_hand.flat_map(|(_, file)| file.constants());
    let exported = all.filter(|constant| constant.name.text.starts_with(char::is_uppercase));
    let surveyed = exported.filter_map(|constant| {
        Some(SurveyedConstant {
            name: constant.name.text.clone(),
            ty: constant.ty.clone().filter(|ty| ty != "string"),
            value: packages.text_of(at, constant)?,
            description: constant.description.clone(),
        })
    });
    surveyed.collect()
}

/// A position relative to the module, as the module's folder differs between machines.
fn place(packages: &Packages, package: usize, (id, sources): (FileId, &SourceMap), place: &Place) -> String {
    let line = sources.position(loc(id, place)).line;
    let file = sources.file(id);
    let name = packages.path_in_module(package, &file.path).unwrap_or_else(|| file.name.to_string());
    format!("{name}:{line}")
}
