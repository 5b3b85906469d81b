//! The words of diagnostics about kube-rs's types: checks that are shared with our own attributes advise these.

use std::collections::BTreeSet;

use kubesmith_core::diag::Code;

use crate::diag::Diagnostic;
use crate::load::Crates;
use crate::source::FileId;

/// Phrases of advice in the words of our attributes, and in those of schemars, longer ones first.
const ADVICE: &[(&str, &str)] = &[
    ("with `#[validation(type = \"...\")]` on the type, which derives `Schema`, or ", ""),
    (
        "`#[schema(schemaless, preserve_unknown_fields)]` and `#[validation(type = \"object\")]`",
        "`#[schemars(schema_with = \"...\")]` and a function whose schema has `x-kubernetes-preserve-unknown-fields`",
    ),
    (
        "`#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field",
        "`#[schemars(with = \"...\")]` or `#[schemars(schema_with = \"...\")]` on the field, or generate with \
         `--evaluate`, which runs the program",
    ),
    (
        "`#[schema(schemaless)]` and `#[validation(type = \"...\")]`",
        "`#[schemars(with = \"...\")]` or `#[schemars(schema_with = \"...\")]`",
    ),
    (
        "`#[schema(schemaless, preserve_unknown_fields)]`",
        "`#[schemars(schema_with = \"...\")]` and a function whose schema has `x-kubernetes-preserve-unknown-fields`",
    ),
    ("`#[schema(preserve_unknown_fields)]`", "`x-kubernetes-preserve-unknown-fields` in the schema"),
    ("`#[validation(type = \"object\")]`", "`#[schemars(schema_with = \"...\")]` with the type `object`"),
    ("`#[validation(type = \"...\")]`", "`#[schemars(with = \"...\")]`"),
    ("`#[validation(items(type = \"...\"))]`", "`#[schemars(with = \"...\")]`"),
    (
        "`#[schema(list_type = \"map\", list_map_key = \"type\")]`",
        "`x-kubernetes-list-type: map` and `x-kubernetes-list-map-keys`",
    ),
    (
        "`#[schema(list_type = \"map\", list_map_key = \"...\")]`",
        "`x-kubernetes-list-type: map` and `x-kubernetes-list-map-keys`",
    ),
    ("`#[schema(list_type = \"set\")]`", "`x-kubernetes-list-type: set`"),
    ("`#[schema(struct_type = \"atomic\")]`", "`x-kubernetes-map-type: atomic`"),
];

/// The first version of kube whose definitions have schemas (its CHANGELOG.md). The one before still took `kind` from
/// the name of the struct.
const WITH_SCHEMAS: (u64, u64) = (0, 44);

/// The input's types in kube-rs's dialect.
pub(super) struct KubeRs {
    files: BTreeSet<FileId>,
    /// A version of kube without schemas.
    without_schemas: Option<(u64, u64)>,
}

impl KubeRs {
    /// Looks at crates that have no type with our derives, whose attributes could be meant.
    pub(super) fn of(crates: &Crates) -> Self {
        let others = crates.list.iter().filter(|krate| !krate.types().any(|item| item.checked));
        let types = others.flat_map(|krate| krate.types()).filter(|item| {
            item.custom_resource.is_some() || item.schemars.as_ref().is_some_and(|it| it.derives_schema)
        });
        let versions = crates.list.iter().filter_map(|krate| krate.locked.kube);
        Self {
            files: types.map(|item| item.name.loc.file).collect(),
            without_schemas: versions.filter(|version| *version < WITH_SCHEMAS).min(),
        }
    }

    /// Replaces the words of diagnostics in files with such types.
    pub(super) fn reword(&self, diagnostics: &mut [Diagnostic]) {
        for found in diagnostics {
            if let Some((major, minor)) = self.without_schemas
                && matches!(found.code, Code::MISSING_KEY | Code::SCHEMA_AT_RUN_TIME)
            {
                found.message = format!(
                    "kube {major}.{minor} makes definitions without schemas, so that there is none to write"
                );
                found.help = Some("update kube, whose types derive `JsonSchema` since 0.44".to_string());
            }
            if found.primary.is_some_and(|loc| self.files.contains(&loc.file)) {
                for text in found.notes.iter_mut().chain(&mut found.help) {
                    for (ours, theirs) in ADVICE {
                        *text = text.replace(ours, theirs);
                    }
                }
            }
        }
    }
}
