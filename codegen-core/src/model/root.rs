//! Models the root type of a resource.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, ItemStruct, Path, Token, Type};

use super::notation::Notation;
use super::{Body, FieldModel, GenclientAttrs, ModuleAttrs, PolicyAttrs, ResourceAttrs, TypeModel};
use crate::diag::{Code, Diagnostic, Diagnostics, Severity};
use crate::grammar::{
    Family, ItemAttributes, KeySpec, Place, definitions, marker_text, parse_attributes, parse_each,
};
use crate::names::Scope;

/// The root type of a resource, read and checked.
#[derive(Clone, Debug)]
pub struct ResourceInput {
    /// `#[resource(...)]`
    pub attrs: ResourceAttrs,
    /// `#[genclient(...)]`
    pub genclient: Option<GenclientAttrs>,
    /// `#[deepcopy]`
    pub deepcopy: Option<Span>,
    /// Each `#[policy(...)]`.
    pub policies: Vec<PolicyAttrs>,
    /// The type itself, with its fields.
    pub model: TypeModel,
}

impl ResourceInput {
    /// Reads a struct that derives `Resource`; `None` after a diagnostic about an error too severe to
    /// continue. Other errors may also have been reported.
    pub fn from_struct(item: &ItemStruct, diagnostics: &mut Diagnostics) -> Option<Self> {
        check_shape(Some(&item.fields), &item.generics, &item.ident, diagnostics);
        // Diagnostics about the type precede those about its fields.
        let mut of_fields = Diagnostics::new();
        let model = TypeModel::from_struct(item, Place::Root, &mut of_fields);
        let input = Self::read(&item.attrs, model, diagnostics);
        diagnostics.append(of_fields);
        input
    }

    /// Reads the input of a derive macro; otherwise like [`ResourceInput::from_struct`].
    pub fn from_derive(input: &DeriveInput, diagnostics: &mut Diagnostics) -> Option<Self> {
        let fields = match &input.data {
            Data::Struct(data) => Some(&data.fields),
            _ => None,
        };
        check_shape(fields, &input.generics, &input.ident, diagnostics);
        fields?;
        let mut of_fields = Diagnostics::new();
        let model = TypeModel::from_derive(input, Place::Root, &mut of_fields);
        let resource = model.and_then(|model| Self::read(&input.attrs, model, diagnostics));
        diagnostics.append(of_fields);
        resource
    }

    fn read(attributes: &[Attribute], model: TypeModel, diagnostics: &mut Diagnostics) -> Option<Self> {
        check_root_derives(attributes, diagnostics);
        check_serde(&model, diagnostics);
        let item = &ItemAttributes::new(attributes);
        let resource = parse_attributes(Family::Resource, item, Place::Root, diagnostics);
        let genclient = parse_attributes(Family::Genclient, item, Place::Root, diagnostics);
        let deepcopy = parse_attributes(Family::Deepcopy, item, Place::Root, diagnostics).span;
        let policies = parse_each(Family::Policy, item, Place::Root, diagnostics);
        let policies = policies.iter().filter_map(|parsed| PolicyAttrs::from_parsed(parsed, diagnostics));
        let policies = policies.collect();
        let notation = Notation::of(&[&resource, &genclient]);
        let (attrs, genclient) = notation.check(diagnostics, |out| {
            let attrs = ResourceAttrs::from_parsed(&resource, &model.ident, out);
            let genclient = GenclientAttrs::from_parsed(&genclient, out);
            if matches!(model.body, Body::Named(_)) {
                check_fields(&model, resource.given("status"), out);
            }
            if let Some(genclient) = &genclient {
                genclient.check_status(field(&model, "status").is_some(), out);
            }
            if let (Some(attrs), Some(genclient)) = (&attrs, &genclient) {
                check_scope(attrs, genclient, out);
                genclient.check_resource(attrs, out);
            }
            (attrs, genclient)
        });
        Some(Self { attrs: attrs?, genclient, deepcopy, policies, model })
    }

    /// Takes the group and version from the enclosing modules if the type does not set them.
    pub fn complete(&mut self, module: &ModuleAttrs, diagnostics: &mut Diagnostics) {
        let attrs = &mut self.attrs;
        attrs.group = attrs.group.take().or_else(|| module.group.clone());
        attrs.version = attrs.version.take().or_else(|| module.version.clone());
        let has = (attrs.group.is_some(), attrs.version.is_some());
        for missing in missing_facts(&self.model.ident.to_string(), attrs.is_given, has) {
            diagnostics.push(Diagnostic::error(missing.code, attrs.span, missing.message).help(missing.help));
        }
    }

    /// The field `status`, if there is one.
    pub fn status(&self) -> Option<&FieldModel> {
        field(&self.model, "status")
    }
}

/// A missing fact that neither a type nor its modules state.
#[derive(Clone, Debug)]
pub struct MissingFact {
    /// The code.
    pub code: Code,
    /// The message.
    pub message: String,
    /// Advice.
    pub help: String,
}

/// Reports a root type whose group or version is unknown; `has` says whether (the group, the version) is known.
pub fn missing_facts(name: &str, has_attribute: bool, has: (bool, bool)) -> Vec<MissingFact> {
    if has == (false, false) && !has_attribute {
        return vec![MissingFact {
            code: Code::MISSING_RESOURCE,
            message: format!("`{name}` derives `Resource` but has no #[resource]"),
            help: "add #[resource(group = \"example.com\", version = \"v1\")]".to_owned(),
        }];
    }
    let keys = Family::Resource.spec().keys.iter();
    let missing = keys.filter(|key| (key.name == "group" && !has.0) || (key.name == "version" && !has.1));
    missing
        .map(|key| MissingFact {
            code: Code::MISSING_KEY,
            message: format!("#[resource] needs the key `{}`", key.name),
            help: format!("add {}, or `//! {}` to the module", key.example, marker_of(key)),
        })
        .collect()
}

/// `+groupName=hopegi.com`
fn marker_of(key: &KeySpec) -> String {
    let marker = key.markers.first().and_then(|name| definitions().get(*name));
    marker.map(|marker| marker_text(marker).replace('"', "")).unwrap_or_default()
}

fn field<'a>(model: &'a TypeModel, name: &str) -> Option<&'a FieldModel> {
    model.named_fields().iter().find(|field| field.ident.as_ref().is_some_and(|ident| ident.unraw() == name))
}

/// Checks that a root type is a struct with named fields and without parameters.
fn check_shape(fields: Option<&Fields>, generics: &Generics, ident: &Ident, diagnostics: &mut Diagnostics) {
    if !matches!(fields, Some(Fields::Named(_))) {
        let message = format!("`{ident}` must be a struct with named fields to be a resource");
        let help = format!("write struct {ident} {{ metadata: ObjectMeta, spec: {ident}Spec }}");
        diagnostics.push(Diagnostic::error(Code::ROOT_NOT_A_STRUCT, ident.span(), message).help(help));
    }
    if let Some(first) = generics.params.first() {
        let message = format!("the resource `{ident}` cannot have generic parameters");
        let help = "use concrete types; nested types may be generic";
        diagnostics.push(Diagnostic::error(Code::ROOT_GENERICS, first.span(), message).help(help));
    }
}

/// Reports `Serialize` and `Deserialize` among the derives of a root type.
///
/// A derive macro does not see the other derives; there rustc reports the conflict.
pub fn check_root_derives(attributes: &[Attribute], diagnostics: &mut Diagnostics) {
    for attribute in attributes.iter().filter(|a| a.path().is_ident("derive")) {
        // Without generic arguments, for which syn would recurse.
        let names = Punctuated::<Path, Token![,]>::parse_terminated_with;
        let Ok(paths) =
            attribute.parse_args_with(|input: ParseStream<'_>| names(input, Path::parse_mod_style))
        else {
            continue;
        };
        for path in &paths {
            let Some(last) = path.segments.last() else { continue };
            if last.ident == "Serialize" || last.ident == "Deserialize" {
                let message = format!("a resource must not derive `{}`: `Resource` writes it", last.ident);
                diagnostics.push(
                    Diagnostic::error(Code::ROOT_DERIVES_SERDE, last.ident.span(), message)
                        .note("the derived implementations carry apiVersion and kind beside the fields")
                        .help(format!("remove `{}` from the derives", last.ident)),
                );
            }
        }
    }
}

/// Refuses serde attributes that would change the shape of the object.
fn check_serde(model: &TypeModel, diagnostics: &mut Diagnostics) {
    const REFUSED: [&str; 10] =
        ["tag", "content", "untagged", "transparent", "from", "try_from", "into", "remote", "crate", "bound"];
    for key in model.serde.keys.iter().filter(|key| REFUSED.contains(&key.value.as_str())) {
        let message = format!("#[serde({})] cannot be used on a resource", key.value);
        diagnostics.push(
            Diagnostic::error(Code::ROOT_SERDE_ATTRIBUTE, key.span, message)
                .note("an object is a map with apiVersion, kind, metadata and the fields")
                .help("remove it, or put it on the type of the spec"),
        );
    }
}

/// Checks that `metadata`, `spec` and `status` are present and valid.
fn check_fields(model: &TypeModel, status_flag: Option<Span>, diagnostics: &mut Diagnostics) {
    let span = model.ident.span();
    let missing = |code, name: &str, help: String| {
        Diagnostic::error(code, span, format!("`{}` has no field `{name}`", model.ident)).help(help)
    };
    match field(model, "metadata") {
        None => {
            let help = "add pub metadata: ObjectMeta".to_owned();
            diagnostics.push(missing(Code::MISSING_METADATA, "metadata", help));
        }
        Some(metadata) => check_metadata(metadata, diagnostics),
    }
    if field(model, "spec").is_none() {
        let help = format!("add pub spec: {}Spec, unless the kind only holds data", model.ident);
        let missing = missing(Code::MISSING_SPEC, "spec", help);
        diagnostics.push(Diagnostic { severity: Severity::Warning, ..missing });
    }
    if let Some(flag) = status_flag.filter(|_| field(model, "status").is_none()) {
        let message = format!("the status subresource of `{}` has no field to hold it", model.ident);
        diagnostics.push(
            Diagnostic::warning(Code::MISSING_STATUS, flag, message)
                .secondary(span, "this type")
                .help(format!("add pub status: {}Status, or remove the subresource", model.ident)),
        );
    }
    for name in ["metadata", "spec", "status"] {
        if let Some(field) = field(model, name) {
            check_standard_field(field, name, diagnostics);
        }
    }
    for field in model.named_fields() {
        if matches!(field.name.as_str(), "apiVersion" | "kind") && !field.serde.flatten {
            let message = format!("the field is {:?} in JSON, which the derive writes itself", field.name);
            let help = "remove the field; #[resource] says the group, version and kind";
            diagnostics.push(Diagnostic::error(Code::ROOT_RESERVED_FIELD, field.span(), message).help(help));
        }
    }
}

fn check_metadata(field: &FieldModel, diagnostics: &mut Diagnostics) {
    let named = match &field.ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "ObjectMeta"),
        _ => false,
    };
    if !named {
        diagnostics.push(
            Diagnostic::error(Code::WRONG_METADATA, field.ty.span(), "`metadata` must be of the type `ObjectMeta`")
                .help("write metadata: ObjectMeta, with use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta"),
        );
    }
    // Only its presence can be set.
    if let Some(span) = field.validation.beyond_presence.or(field.schema.beyond_presence) {
        diagnostics.push(
            Diagnostic::error(Code::WRONG_PLACE, span, "`metadata` cannot be constrained")
                .note("the schema of metadata is the API server's own")
                .help("remove the attribute; a rule(...) on the type may look at self.metadata.name"),
        );
    }
}

/// Checks that a standard field keeps its name and place.
fn check_standard_field(field: &FieldModel, name: &str, diagnostics: &mut Diagnostics) {
    let key = |name: &str| field.serde.key(name);
    if field.serde.flatten {
        let span = key("flatten").unwrap_or_else(|| field.span());
        let diagnostic =
            Diagnostic::error(Code::ROOT_FIELD_NAME, span, format!("`{name}` cannot be flattened"));
        diagnostics.push(diagnostic.help("remove `flatten`"));
    } else if field.serde.skip_serializing || field.serde.skip_deserializing {
        let span = key("skip").or_else(|| key("skip_serializing")).or_else(|| key("skip_deserializing"));
        let message = format!("`{name}` cannot be skipped");
        let diagnostic =
            Diagnostic::error(Code::ROOT_FIELD_NAME, span.unwrap_or_else(|| field.span()), message);
        diagnostics.push(diagnostic.help("remove it; skip_serializing_if leaves out what is empty"));
    } else if field.name != name {
        let span = key("rename").unwrap_or_else(|| field.span());
        let message = format!("`{name}` must have this name in JSON, but it is {:?}", field.name);
        let diagnostic = Diagnostic::error(Code::ROOT_FIELD_NAME, span, message);
        diagnostics.push(diagnostic.help(format!("remove the renaming, or add #[serde(rename = {name:?})]")));
    }
}

/// Checks that `#[genclient(non_namespaced)]` agrees with the scope.
fn check_scope(attrs: &ResourceAttrs, genclient: &GenclientAttrs, diagnostics: &mut Diagnostics) {
    let scope = attrs.scope.value;
    let (span, message, help) = match (scope, genclient.non_namespaced) {
        (Scope::Namespaced, Some(span)) => (
            span,
            "the client is `non_namespaced`, but the resource is namespaced",
            "add scope = \"Cluster\" to #[resource], or remove `non_namespaced`",
        ),
        (Scope::Cluster, None) => (
            genclient.span,
            "the resource is cluster scoped, but the client is not `non_namespaced`",
            "write #[genclient(non_namespaced)]",
        ),
        _ => return,
    };
    diagnostics.push(
        Diagnostic::error(Code::SCOPE_MISMATCH, span, message)
            .secondary(attrs.scope.span, format!("the scope is {}", scope.as_str()))
            .help(help),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_identifiers_are_recognised_as_fields() {
        let item = syn::parse_quote! {
            #[resource(group = "example.com", version = "v1", status)]
            pub struct Widget { pub r#metadata: ObjectMeta, pub r#spec: Spec, pub r#status: Status }
        };
        let mut found = Diagnostics::new();
        assert!(ResourceInput::from_struct(&item, &mut found).is_some());
        assert_eq!(found.take().len(), 0);
    }
}
