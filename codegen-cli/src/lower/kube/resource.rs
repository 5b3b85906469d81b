//! Lowers custom resources: the root type that `#[derive(CustomResource)]` makes around a spec.

use kubesmith_core::diag::Code;
use serde_json::{Value, json};

use super::compiles::Needed;
use super::types::{Dialect, Env};
use super::{pieces, rewrite, structural};
use crate::diag::Diagnostic;
use crate::resolve::ItemId;
use crate::schema::Schema;
use crate::syntax::kube::{CustomResource, SchemaMode};
use crate::syntax::{ImplItem, PathExpr, ValueKind};

impl Dialect<'_, '_> {
    /// The schema of the root type; `None` after a diagnostic.
    pub(crate) fn root(&mut self, id: ItemId, resource: &CustomResource) -> Option<Schema> {
        let before = self.ctx.diagnostics.len();
        let schema = self.root_schema(id, resource);
        self.ctx.add_skip_hint(before, &resource.facts.kind.text);
        schema
    }

    fn root_schema(&mut self, id: ItemId, resource: &CustomResource) -> Option<Schema> {
        let mut schema = match resource.schema {
            SchemaMode::Derived => self.derived_root(id, resource)?,
            SchemaMode::Manual => self.manual_root(id, resource)?,
            SchemaMode::Disabled => {
                let message = format!("the schema of {} is disabled", resource.facts.kind.text);
                self.error(
                    Diagnostic::error(Code::SCHEMA_AT_RUN_TIME, resource.loc, message)
                        .note("an API server refuses a definition without a schema, so a program has to add one")
                        .help("remove `schema = \"disabled\"`, or do not name the kind with `--kind`"),
                );
                return None;
            }
        };
        self.finite(&schema)?;
        let title = self.root_name(resource);
        pieces::object(&mut schema).entry("title").or_insert_with(|| title.into());
        Some(structural::schema(rewrite::rewrite(schema, self.locked)))
    }

    /// `schema_name()` of the root type, which schemars writes as the title. Rules make kube-derive put another type in its place
    /// (`cel_schema.rs`): before version 4, the title is that of this type.
    fn root_name(&self, resource: &CustomResource) -> String {
        let name = &resource.root.text;
        let has_rules = resource.schema == SchemaMode::Derived && !resource.rules.is_empty();
        match has_rules && self.locked.is_kube_before(4, 0) {
            true if self.locked.is_kube_before(1, 0) => format!("{name}_kube_validation"),
            true => format!("{name}Validated"),
            false => name.clone(),
        }
    }

    fn derived_root(&mut self, id: ItemId, resource: &CustomResource) -> Option<Value> {
        let env = Env::module(id.krate, id.module);
        let spec = self.root_type(&env, id, resource)?;
        let needed = Needed { serialize: true, deserialize: true };
        self.check_derives(&spec, needed, None, "CustomResource");
        let mut schema = json!({"type": "object"});
        let inner = if resource.no_spec { self.non_optional(&spec) } else { self.schema(&spec) };
        let is_option = self.is_option(&spec);
        let status = match &resource.status {
            Some(status) => {
                let ty = self.ty(&env, status)?;
                self.check_derives(&ty, needed, status.loc(), "CustomResource");
                let status = self.schema(&ty)?;
                Some(self.nullable(status))
            }
            None => None,
        };
        if resource.no_spec {
            self.flatten(&mut schema, inner?, is_option);
        } else {
            pieces::property(&mut schema, "spec", is_option, inner?);
        }
        if let Some(status) = status {
            pieces::property(&mut schema, "status", true, status);
        }
        let (title, description) = self.documentation(&resource.doc);
        for (key, text) in [("title", title), ("description", description)] {
            if !text.is_empty() {
                pieces::insert(&mut schema, key, text);
            }
        }
        self.add_rules(&env, &mut schema, &resource.rules)?;
        Some(schema)
    }

    /// The type with the attribute; its parameters have their defaults.
    fn root_type(&mut self, env: &Env, id: ItemId, resource: &CustomResource) -> Option<super::types::Ty> {
        let item = self.item(id);
        let path = PathExpr {
            global: false,
            segments: vec![item.name.text.clone()],
            arguments: Vec::new(),
            loc: resource.loc,
        };
        self.definition(env, &path, id, 0)
    }

    /// The schema of a handwritten `impl JsonSchema` for the root type, whose definition no source has.
    fn manual_root(&mut self, id: ItemId, resource: &CustomResource) -> Option<Value> {
        let name = &resource.root.text;
        let found = self.ctx.resolver.impls_of_name(id.krate, name);
        let found = found.into_iter().find(|(_, block)| is_json_schema(block));
        let Some((module, block)) = found else {
            let message = format!("there is no `impl JsonSchema for {name}`");
            self.unreadable(resource.loc, &message);
            return None;
        };
        let env = Env::module(id.krate, module);
        let mut schema = self.written_out(&env, &block.values)?;
        if let Some(value) = block.values.iter().find(|value| value.name.text == "schema_name") {
            let title = self.text(&env, &value.expr)?;
            pieces::object(&mut schema).entry("title").or_insert_with(|| title.into());
        }
        Some(schema)
    }
}

fn is_json_schema(block: &ImplItem) -> bool {
    block.of_trait.as_ref().is_some_and(|name| name.text == "JsonSchema")
        && block.values.iter().any(|value| matches!(value.expr.kind, ValueKind::SchemaFunction(_)))
}
