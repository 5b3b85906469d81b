//! The differences of the pipeline for Go packages.

use std::path::PathBuf;

use kubesmith_core::diag::Code;

use crate::config::Settings;
use crate::diag::Diagnostic;
use crate::load::Loaded;
use crate::source::{Loc, SourceMap};

/// A run with the options of a Go project's calls of controller-gen.
pub(super) struct OfProject {
    /// The settings; if packages differ, without the output of CRDs.
    pub(super) settings: Settings,
    /// The settings of packages, if they differ.
    pub(super) parts: Vec<Part>,
    /// Warnings about the options.
    pub(super) warnings: Vec<Diagnostic>,
}

/// The settings for CRDs of packages below some folders; without a folder, for all others.
#[cfg_attr(not(feature = "go"), allow(dead_code, reason = "only Go packages are divided"))]
pub(super) struct Part {
    pub(super) settings: Settings,
    pub(super) folders: Vec<PathBuf>,
}

impl OfProject {
    fn plain(settings: &Settings) -> Self {
        Self { settings: settings.clone(), parts: Vec::new(), warnings: Vec::new() }
    }
}

/// The settings of a run with the options of a Go project's calls of controller-gen. `divides`: packages of several calls
/// may have settings of their own.
#[cfg(feature = "go")]
pub(super) fn with_options(settings: &Settings, divides: bool) -> OfProject {
    use crate::go;

    let mut out = OfProject::plain(settings);
    let is_go = !settings.input.is_empty() && settings.input.iter().all(|input| go::is_input(input));
    match is_go.then(|| go::generator_options(&settings.input)).flatten() {
        Some(go::Found::Shared(found, place)) => {
            out.warnings.extend(take(&mut out.settings, &found, &place));
        }
        Some(go::Found::ByPackages(parts)) if divides => {
            for part in parts {
                let mut own = settings.clone();
                out.warnings.extend(take(&mut own, &part.options, &part.place));
                // The run reads what any of them allows.
                out.settings.allow_dangerous_types |= own.allow_dangerous_types;
                out.settings.ignore_unexported_fields |= own.ignore_unexported_fields;
                out.parts.push(Part { settings: own, folders: part.folders });
            }
            out.parts.push(Part { settings: settings.clone(), folders: Vec::new() });
            if out.settings.crd_output.take().is_none() {
                out.parts.clear();
            }
        }
        Some(go::Found::ByPackages(parts)) => {
            let places: Vec<String> = parts.into_iter().map(|part| part.place).take(2).collect();
            out.warnings.push(differing(&places.join(" and ")));
        }
        Some(go::Found::Differing(first, other)) => {
            out.warnings.push(differing(&format!("{first} and {other}")));
        }
        None => {}
    }
    out
}

/// Adds the options of calls at a place that the settings do not have, and returns a warning about them.
#[cfg(feature = "go")]
fn take(settings: &mut Settings, found: &crate::go::GeneratorOptions, place: &str) -> Option<Diagnostic> {
    let (mut taken, mut left) = (Vec::new(), found.left.clone());
    if let (None, Some(limit)) = (settings.max_desc_len, found.max_desc_len) {
        settings.max_desc_len = Some(limit);
        taken.push(format!("max_desc_len = {limit}"));
    }
    let flags = [
        ("allow_dangerous_types = true", found.allow_dangerous_types, &mut settings.allow_dangerous_types),
        (
            "generate_embedded_object_meta = true",
            found.embedded_object_meta,
            &mut settings.generate_embedded_object_meta,
        ),
        ("ignore_unexported_fields = true", found.ignore_unexported, &mut settings.ignore_unexported_fields),
        (
            "deprecated_v1beta1_compatibility_preserve_unknown_fields = false",
            found.refuse_unknown_fields,
            &mut settings.refuse_unknown_fields,
        ),
    ];
    for (shown, wanted, own) in flags {
        if wanted && !*own {
            *own = true;
            taken.push(shown.to_string());
        }
    }
    if let (true, Some(file)) = (settings.crd_header.is_empty(), &found.header_file) {
        // Without a year, controller-gen leaves ` YEAR` out.
        let year = Some(found.year.as_deref().unwrap_or_default());
        let is_known = !left.iter().any(|name| name == "year");
        match crate::config::yaml_header(file, year).filter(|_| is_known) {
            Some(header) => {
                settings.crd_header = header;
                taken.push(format!("header_file = {:?}", crate::paths::display(file)));
            }
            None => left.push("headerFile".to_string()),
        }
    }
    (!taken.is_empty() || !left.is_empty()).then(|| {
        let taken = if taken.is_empty() { "none".to_string() } else { taken.join(", ") };
        let message = format!("options of controller-gen are taken from {place}: {taken}");
        let warning = Diagnostic::warning(Code::GO_OPTIONS, None, message)
            .help("write them in the `[crd]` table of kubesmith.toml, or give their flags");
        if left.is_empty() { warning } else { warning.note(format!("not taken: {}", left.join(", "))) }
    })
}

#[cfg(feature = "go")]
fn differing(places: &str) -> Diagnostic {
    let message = format!("{places} call controller-gen with different options, and none is taken");
    Diagnostic::warning(Code::GO_OPTIONS, None, message)
        .help("name the packages of one call at a time, and give its options in the `[crd]` table of kubesmith.toml or as flags")
}

/// The settings unchanged.
#[cfg(not(feature = "go"))]
pub(super) fn with_options(settings: &Settings, _divides: bool) -> OfProject {
    OfProject::plain(settings)
}

/// Phrases of advice in the words of attributes, and in those of markers in Go.
const ADVICE: &[(&str, &str)] = &[
    (
        "`#[schema(schemaless, preserve_unknown_fields)]` and `#[validation(type = \"object\")]`",
        "`+kubebuilder:validation:Schemaless`, `+kubebuilder:pruning:PreserveUnknownFields` and `+kubebuilder:validation:Type=object`",
    ),
    ("`#[validation(type = \"object\")]`", "`+kubebuilder:validation:Type=object`"),
    ("`#[validation(type = \"...\")]`", "`+kubebuilder:validation:Type`"),
    ("`#[validation(items(type = \"...\"))]`", "`+kubebuilder:validation:items:Type`"),
    ("`#[schema(schemaless)]`", "`+kubebuilder:validation:Schemaless`"),
    ("add `#[serde(rename_all = \"camelCase\")]` to the type", "change the names in the `json` tags"),
    ("add `#[serde(rename = \"", "call it `"),
    ("\")]` to the field", "` in its `json` tag"),
    (
        "rename one of them with `#[serde(rename = \"...\")]`",
        "give one of them another name in its `json` tag",
    ),
    ("add `status` to #[resource]", "add `+kubebuilder:subresource:status` to the kind"),
    ("`Option<...>` or `#[serde(default)]`", "`+optional`"),
    (
        "add `api_approved = \"unapproved, experimental-only\"` to #[resource]",
        "add `+kubebuilder:metadata:annotations=\"api-approved.kubernetes.io=unapproved, experimental-only\"` to the kind",
    ),
    ("the name of the struct is the kind unless `kind` is given", "the name of the type is the kind"),
    ("rename the struct, or add kind = ", "call the type "),
    // After the phrases above.
    (" to #[resource]", ""),
    ("add a #[webhook(...)]", "add a `+kubebuilder:webhook`"),
    ("`#[schema(preserve_unknown_fields)]`", "`+kubebuilder:pruning:PreserveUnknownFields`"),
    ("`#[schema(list_type = \"map\", list_map_key = \"type\")]`", "`+listType=map` and `+listMapKey=type`"),
    ("`#[schema(list_type = \"map\", list_map_key = \"...\")]`", "`+listType=map` and `+listMapKey`"),
    ("`#[schema(list_type = \"set\")]`", "`+listType=set`"),
    ("`#[schema(struct_type = \"atomic\")]`", "`+structType=atomic`"),
    ("list_type = \"map\"", "+listType=map"),
    ("list_type = \"set\"", "+listType=set"),
    ("list_type = \"atomic\"", "+listType=atomic"),
    ("list_map_key = \"name\"", "+listMapKey=name"),
    ("`nullable`", "`+nullable`"),
    ("write timeout_seconds = ", "write timeoutSeconds="),
    (
        "say `storage_version` in #[resource] of one of them",
        "write `+kubebuilder:storageversion` on one of them",
    ),
    ("`unserved_version`", "`+kubebuilder:unservedversion`"),
    ("add pub spec: ", "add the field `spec` of a type "),
    ("add pub status: ", "add the field `status` of a type "),
    ("names in JSON, after serde's renaming", "names in JSON"),
    (
        "only structs, maps and enums of them can be flattened",
        "only structs and maps can: give the field a name in its `json` tag",
    ),
    ("derive them; or ", ""),
    (" on the type, which derives `Schema`, or with ", " on the type, or with "),
    ("so that only derived forms are known", "so that the JSON of `MarshalJSON` is not known"),
];

/// Phrases of messages. Each has so many words that no name in a message is one.
const MESSAGES: &[(&str, &str)] = &[
    ("has `unique_items`, which", "has `+kubebuilder:validation:UniqueItems`, which"),
    ("`list_map_key` needs `list_type = \"map\"`", "`+listMapKey` needs `+listType=map`"),
    ("a list of type map needs `list_map_key`", "a list of type map needs `+listMapKey`"),
    ("`timeout_seconds` is ", "`timeoutSeconds` is "),
    ("is flattened but not always an object", "is inline but not always an object"),
    ("derives neither `Serialize` nor `Deserialize`", "has no type that a schema can have"),
];

/// Gives the advice of diagnostics in Go files the words of Go's markers; with inputs of Go alone, that of all.
pub(super) fn in_words_of_go(diagnostics: &mut [Diagnostic], sources: &SourceMap, only_go: bool) {
    let replace = |text: &mut String, phrases: &[(&str, &str)]| {
        *text = phrases.iter().fold(std::mem::take(text), |text, (rust, go)| text.replace(rust, go));
    };
    let is_go = |loc: Loc| sources.file(loc.file).path.extension().is_some_and(|end| end == "go");
    for found in diagnostics.iter_mut().filter(|found| only_go || found.primary.is_some_and(is_go)) {
        replace(&mut found.message, MESSAGES);
        found.notes.iter_mut().chain(&mut found.help).for_each(|text| replace(text, ADVICE));
    }
}

/// Refuses a client package for Go types, which it could not use.
pub(super) fn client(settings: &Settings, loaded: &Loaded) -> Option<Diagnostic> {
    let wants_client = settings.client.output.is_some() && loaded.crates.list.iter().any(|krate| krate.is_go);
    wants_client.then(|| {
        Diagnostic::error(Code::GO_CLIENT, None, "a client package needs its types in Rust, not in Go")
            .help("generate the other parts alone: `--only crd,rbac,webhook,openapi,docs`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;

    #[test]
    fn only_advice_in_go_files_gets_the_words_of_go() {
        let mut sources = SourceMap::default();
        let mut found = Vec::new();
        for path in ["a.go", "a.rs"] {
            let file = sources.add(SourceFile { path: path.into(), name: path.into(), text: "".into() });
            let place = Loc { file, start: 0, end: 0 };
            found.push(
                Diagnostic::error(Code::NOT_STRUCTURAL, place, "the field `nullable`")
                    .help("remove `nullable`"),
            );
        }
        found.push(Diagnostic::error(Code::NOT_STRUCTURAL, None, "a").help("remove `nullable`"));
        let mut alone = found[2..].to_vec();
        in_words_of_go(&mut found, &sources, false);
        let texts = |found: &[Diagnostic]| -> Vec<String> {
            found.iter().map(|one| one.help.clone().unwrap()).collect()
        };
        assert_eq!(texts(&found), ["remove `+nullable`", "remove `nullable`", "remove `nullable`"]);
        assert_eq!(found[0].message, "the field `nullable`");
        in_words_of_go(&mut alone, &sources, true);
        assert_eq!(texts(&alone), ["remove `+nullable`"]);
    }
}
