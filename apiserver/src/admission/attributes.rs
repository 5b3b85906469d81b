//! What a request is about, as webhooks are told.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::conversion;
use crate::http::query::WriteOptions;
use crate::registry::ResourceDef;
use crate::server::Call;
use crate::status::ApiResult;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

impl Operation {
    /// The name in rules and reviews.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// Group, version and kind of subresources that are no part of the object.
pub(crate) fn kind_of_subresource(subresource: &str) -> Option<(&str, &str, &str)> {
    Some(match subresource {
        "scale" => ("autoscaling", "v1", "Scale"),
        "binding" => ("", "v1", "Binding"),
        "eviction" => ("policy", "v1", "Eviction"),
        "token" => ("authentication.k8s.io", "v1", "TokenRequest"),
        _ => return None,
    })
}

/// The options of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Options<'a> {
    Write(&'a WriteOptions),
    /// `DeleteOptions` as an object.
    Delete(&'a Value),
}

/// One request, or one object of a request for several.
#[derive(Clone, Copy)]
pub(crate) struct Attributes<'a> {
    pub(crate) call: &'a Call<'a>,
    pub(crate) operation: Operation,
    /// The name in the request; empty when it has none.
    pub(crate) name: &'a str,
    /// The object before the request.
    pub(crate) old: Option<&'a Value>,
    pub(crate) options: Options<'a>,
    pub(crate) dry_run: bool,
}

impl<'a> Attributes<'a> {
    pub(super) fn def(&self) -> &'a Arc<ResourceDef> {
        &self.call.def
    }

    /// The options of a create, an update or a patch.
    pub(crate) fn write_options(&self) -> Option<&'a WriteOptions> {
        match self.options {
            Options::Write(options) => Some(options),
            Options::Delete(_) => None,
        }
    }

    pub(super) fn subresource(&self) -> &'a str {
        &self.call.path.subresource
    }

    /// Whether the object is one of the resource, and not of a kind that its subresource has.
    pub(crate) fn is_resource(&self) -> bool {
        kind_of_subresource(self.subresource()).is_none()
    }

    /// The namespace; for a namespace its own name.
    pub(super) fn namespace(&self) -> &'a str {
        if self.is_namespace() { self.name } else { &self.call.path.namespace }
    }

    /// Whether the object is a namespace.
    pub(super) fn is_namespace(&self) -> bool {
        self.def().collection == "namespaces"
    }

    /// Whether no webhook may hear of the request: the configurations of webhooks could lock themselves in.
    pub(super) fn are_exempt(&self) -> bool {
        self.def().group == super::GROUP
    }

    /// The options as an object.
    pub(super) fn options_value(&self) -> Value {
        let options = match self.options {
            Options::Write(options) => options,
            Options::Delete(options) => return options.clone(),
        };
        let kind = if self.operation == Operation::Create { "CreateOptions" } else { "UpdateOptions" };
        let mut value = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
        if options.dry_run {
            value["dryRun"] = json!(["All"]);
        }
        if !options.field_manager.is_empty() {
            value["fieldManager"] = json!(options.field_manager);
        }
        let given = self.call.query.get("fieldValidation");
        if !given.is_empty() {
            value["fieldValidation"] = json!(given);
        }
        value
    }
}

/// The objects of a request in the version in which a webhook gets them.
#[derive(Clone, Debug)]
pub(super) struct Versioned {
    pub(super) def: Arc<ResourceDef>,
    pub(super) object: Option<Value>,
    pub(super) old: Option<Value>,
}

impl Versioned {
    /// The objects as the request has them.
    pub(super) fn new(attributes: &Attributes<'_>, object: Option<&Value>) -> Self {
        Self { def: attributes.def().clone(), object: object.cloned(), old: attributes.old.cloned() }
    }

    /// Converts the objects to another version of the resource.
    ///
    /// # Errors
    /// When the conversion webhook fails.
    pub(super) async fn convert(
        &mut self,
        attributes: &Attributes<'_>,
        to: &Arc<ResourceDef>,
    ) -> ApiResult<()> {
        // Subresources with a kind of their own have it in all versions.
        if Arc::ptr_eq(&self.def, to) || !attributes.is_resource() {
            self.def = to.clone();
            return Ok(());
        }
        let server = &attributes.call.server;
        for value in [&mut self.object, &mut self.old].into_iter().flatten() {
            let taken = std::mem::take(value);
            *value = conversion::between(server, &self.def, to, taken).await?;
        }
        self.def = to.clone();
        Ok(())
    }
}
