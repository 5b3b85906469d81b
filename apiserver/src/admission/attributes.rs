//! The attributes of a request, as webhooks get them.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::conversion;
use crate::http::query::WriteOptions;
use crate::meta;
use crate::registry::ResourceDef;
use crate::server::Call;
use crate::status::ApiResult;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
    Connect,
}

impl Operation {
    /// The name in rules and reviews.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
            Self::Connect => "CONNECT",
        }
    }
}

/// Group, version and kind of subresources that are no part of the object.
pub(crate) fn kind_of_subresource(
    resource: &str,
    subresource: &str,
) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match (resource, subresource) {
        (_, "scale") => ("autoscaling", "v1", "Scale"),
        (_, "binding") => ("", "v1", "Binding"),
        (_, "eviction") => ("policy", "v1", "Eviction"),
        (_, "token") => ("authentication.k8s.io", "v1", "TokenRequest"),
        (_, "exec") => ("", "v1", "PodExecOptions"),
        (_, "attach") => ("", "v1", "PodAttachOptions"),
        (_, "portforward") => ("", "v1", "PodPortForwardOptions"),
        ("services", "proxy") => ("", "v1", "ServiceProxyOptions"),
        ("nodes", "proxy") => ("", "v1", "NodeProxyOptions"),
        (_, "proxy") => ("", "v1", "PodProxyOptions"),
        _ => return None,
    })
}

/// The options of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Options<'a> {
    Write(&'a WriteOptions),
    /// `DeleteOptions` as an object.
    Delete(&'a Value),
    /// A connection has none.
    Connect,
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
            Options::Delete(_) | Options::Connect => None,
        }
    }

    pub(super) fn subresource(&self) -> &'a str {
        &self.call.path.subresource
    }

    /// Reports whether the object is of the resource's kind, not of a kind of its subresource.
    pub(crate) fn is_resource(&self) -> bool {
        self.own_kind().is_none()
    }

    /// Returns the group, version and kind of the object if its subresource has a kind of its own.
    pub(super) fn own_kind(&self) -> Option<(&'static str, &'static str, &'static str)> {
        kind_of_subresource(&self.def().plural, self.subresource())
    }

    /// The name in a refusal (`extractResourceName` of admission/errors.go): names are generated only later.
    pub(super) fn shown_name(&self, object: Option<&Value>) -> String {
        let own = |field| object.map(|object| meta::text(object, field)).filter(|text| !text.is_empty());
        match self.name {
            "" => own("name").or_else(|| own("generateName")).unwrap_or("Unknown").to_owned(),
            name => name.to_owned(),
        }
    }

    /// The namespace; for a namespace its own name.
    pub(super) fn namespace(&self) -> &'a str {
        if self.is_namespace() { self.name } else { &self.call.path.namespace }
    }

    /// Reports whether the object is a namespace.
    pub(super) fn is_namespace(&self) -> bool {
        self.def().collection == "namespaces"
    }

    /// Reports whether webhooks skip the request: otherwise a configuration of webhooks could block its own repair.
    pub(super) fn are_exempt(&self) -> bool {
        self.def().group == crate::groups::ADMISSION_REGISTRATION
    }

    /// The options as an object.
    pub(super) fn options_value(&self) -> Value {
        let options = match self.options {
            Options::Write(options) => options,
            Options::Delete(options) => return options.clone(),
            Options::Connect => return Value::Null,
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

impl Versioned {
    /// Puts the object into another one, which is of the version of the request.
    ///
    /// # Errors
    /// When the conversion webhook fails.
    pub(super) async fn write_back(self, attributes: &Attributes<'_>, object: &mut Value) -> ApiResult<()> {
        let Some(changed) = self.object else { return Ok(()) };
        *object = match attributes.is_resource() {
            true => {
                conversion::between(&attributes.call.server, &self.def, attributes.def(), changed).await?
            }
            false => changed,
        };
        Ok(())
    }
}

/// The objects of a request in the versions that are needed, each converted once.
pub(super) struct Versions<'a> {
    attributes: &'a Attributes<'a>,
    object: Option<&'a Value>,
    pub(super) made: Vec<Versioned>,
}

impl<'a> Versions<'a> {
    pub(super) fn new(attributes: &'a Attributes<'a>, object: Option<&'a Value>) -> Self {
        Self { attributes, object, made: Vec::new() }
    }

    /// The place of a version in `made`.
    ///
    /// # Errors
    /// When the conversion webhook fails.
    pub(super) async fn index(&mut self, def: &Arc<ResourceDef>) -> ApiResult<usize> {
        if let Some(at) = self.made.iter().position(|made| Arc::ptr_eq(&made.def, def)) {
            return Ok(at);
        }
        let mut versioned = Versioned::new(self.attributes, self.object);
        versioned.convert(self.attributes, def).await?;
        self.made.push(versioned);
        Ok(self.made.len() - 1)
    }
}
