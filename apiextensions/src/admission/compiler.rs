//! Compiles the expressions of match conditions and admission policies, with the variables and the result types that
//! each may have.
//!
//! Source: apiserver's pkg/admission/plugin/cel.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use kubesmith_apimachinery::field::{Cause, CauseKind};

use crate::cel::{Decl, Environment, Expression, Issue, NamedExpression, ObjectType, Patched, Type, render};
use crate::structural::Schema;

/// The variables for access checks; messages cannot use them.
const AUTHORIZER: [&str; 2] = ["authorizer", "authorizer.requestResource"];

static NAMESPACE: LazyLock<Type> = LazyLock::new(namespace_type);
static REQUEST: LazyLock<Type> = LazyLock::new(request_type);

fn object_type(name: &str, fields: &[(&str, Type)]) -> Type {
    let fields: BTreeMap<String, Type> =
        fields.iter().map(|(name, type_)| ((*name).to_owned(), type_.clone())).collect();
    Type::Object(Arc::new(ObjectType { name: format!("kubernetes.{name}"), fields }))
}

fn texts(names: &[&'static str]) -> Vec<(&'static str, Type)> {
    names.iter().map(|name| (*name, Type::String)).collect()
}

/// `AdmissionRequest` without the fields that have variables of their own (`BuildRequestType`).
fn request_type() -> Type {
    let kind = object_type("GroupVersionKind", &texts(&["group", "version", "kind"]));
    let resource = object_type("GroupVersionResource", &texts(&["group", "version", "resource"]));
    let strings = || Type::list(Type::String);
    let mut user = texts(&["username", "uid"]);
    user.extend([("groups", strings()), ("extra", Type::map(Type::String, strings()))]);
    let mut fields = texts(&["subResource", "requestSubResource", "name", "namespace", "operation"]);
    fields.extend([
        ("kind", kind.clone()),
        ("requestKind", kind),
        ("resource", resource.clone()),
        ("requestResource", resource),
        ("userInfo", object_type("UserInfo", &user)),
        ("dryRun", Type::Bool),
        ("options", Type::Dyn),
    ]);
    object_type("AdmissionRequest", &fields)
}

/// The type of a namespace in expressions (`BuildNamespaceType`).
fn namespace_type() -> Type {
    let strings = || Type::list(Type::String);
    let map = || Type::map(Type::String, Type::String);
    let mut metadata = texts(&["name", "generateName", "namespace", "UID", "resourceVersion"]);
    metadata.extend([
        ("labels", map()),
        ("annotations", map()),
        ("creationTimestamp", Type::Timestamp),
        ("deletionTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("generation", Type::Int),
        ("finalizers", strings()),
    ]);
    let mut condition = texts(&["status", "type", "message", "reason"]);
    condition.push(("lastTransitionTime", Type::Timestamp));
    let conditions = Type::list(object_type("NamespaceCondition", &condition));
    let status = object_type("NamespaceStatus", &[("conditions", conditions), ("phase", Type::String)]);
    object_type(
        "Namespace",
        &[
            ("metadata", object_type("NamespaceMetadata", &metadata)),
            ("spec", object_type("NamespaceSpec", &[("finalizers", strings())])),
            ("status", status),
        ],
    )
}

/// Returns the type of objects of a custom resource with this schema, for type checks (`SchemaDeclType` of apiserver's
/// pkg/cel/common/schemas.go). `time` is the type of times in the metadata: API servers declare timestamps, but
/// expressions are evaluated on strings.
pub fn custom_object(schema: &Schema, kind: &str, time: &Type) -> Type {
    with_metadata(schema, kind, metadata_type(time))
}

fn with_metadata(schema: &Schema, kind: &str, metadata: Type) -> Type {
    let declared = Decl::of(schema, false, kind);
    let mut fields = match declared.as_deref().map(|decl| &decl.type_) {
        Some(Type::Object(object)) => object.fields.clone(),
        _ => return Type::Dyn,
    };
    fields.insert("metadata".to_owned(), metadata);
    for name in ["apiVersion", "kind"] {
        fields.insert(name.to_owned(), Type::String);
    }
    Type::Object(Arc::new(ObjectType { name: kind.to_owned(), fields }))
}

/// `ObjectMeta`.
fn metadata_type(time: &Type) -> Type {
    let mut entry = texts(&["manager", "operation", "apiVersion", "fieldsType", "subresource"]);
    entry.extend([("time", time.clone()), ("fieldsV1", object_type("FieldsV1", &[]))]);
    let mut metadata =
        texts(&["name", "generateName", "__namespace__", "selfLink", "uid", "resourceVersion"]);
    metadata.extend(metadata_of_clients());
    metadata.extend([
        ("generation", Type::Int),
        ("creationTimestamp", time.clone()),
        ("deletionTimestamp", time.clone()),
        ("deletionGracePeriodSeconds", Type::Int),
        ("managedFields", Type::list(object_type("ManagedFieldsEntry", &entry))),
    ]);
    object_type("ObjectMeta", &metadata)
}

/// The fields of the metadata that only clients set, apart from names.
fn metadata_of_clients() -> [(&'static str, Type); 4] {
    let map = || Type::map(Type::String, Type::String);
    let mut owner = texts(&["apiVersion", "kind", "name", "uid"]);
    owner.extend([("controller", Type::Bool), ("blockOwnerDeletion", Type::Bool)]);
    [
        ("labels", map()),
        ("annotations", map()),
        ("finalizers", Type::list(Type::String)),
        ("ownerReferences", Type::list(object_type("OwnerReference", &owner))),
    ]
}

/// Compiles the expressions of one webhook or policy.
#[derive(Clone, Debug)]
pub struct Compiler(Environment);

/// An expression, or its error.
pub type Compiled = Result<Expression, String>;

impl Compiler {
    /// Creates a compiler of expressions that may use `params` or not.
    pub fn new(has_params: bool) -> Self {
        Self::with_object(&Type::Dyn, has_params.then_some(&Type::Dyn))
    }

    /// As [`new`](Self::new), with the type of objects.
    pub fn with_object(object: &Type, params: Option<&Type>) -> Self {
        let mut variables = vec![
            ("object", object.clone()),
            ("oldObject", object.clone()),
            ("namespaceObject", NAMESPACE.clone()),
            ("request", REQUEST.clone()),
            (AUTHORIZER[0], Type::Opaque("kubernetes.authorization.Authorizer")),
            (AUTHORIZER[1], Type::Opaque("kubernetes.authorization.ResourceCheck")),
        ];
        variables.extend(params.map(|params| ("params", params.clone())));
        Self(Environment::new(&variables))
    }

    /// Creates a compiler of expressions that an object of a custom resource alone decides on: others do not compile,
    /// such as those that read the user or metadata that a server sets. `None` if the schema does not name the fields.
    pub fn of_object_alone(schema: &Schema, kind: &str) -> Option<Self> {
        let mut schema = schema.clone();
        // At evaluation, times and bytes are strings.
        schema.walk_mut(&mut |node| node.format = None);
        let mut metadata = texts(&["name", "generateName"]);
        metadata.extend(metadata_of_clients());
        let object = with_metadata(&schema, kind, object_type("ObjectMeta", &metadata));
        let request =
            object_type("AdmissionRequest", &texts(&["operation", "subResource", "requestSubResource"]));
        let variables = [("object", object.clone()), ("oldObject", object.clone()), ("request", request)];
        (object != Type::Dyn).then(|| Self(Environment::new(&variables)).composing())
    }

    /// Creates a compiler that knows the types of objects and parameters, for type checks (`buildEnvSet` of
    /// policy/validating/typechecking.go).
    pub fn typed(object: Type, params: Option<Type>) -> Self {
        let mut variables = vec![
            ("object", object.clone()),
            ("oldObject", object),
            ("namespaceObject", NAMESPACE.clone()),
            ("request", REQUEST.clone()),
            (AUTHORIZER[0], Type::Opaque("kubernetes.authorization.Authorizer")),
        ];
        variables.extend(params.map(|params| ("params", params)));
        Self(Environment::new(&variables))
    }

    /// Returns this compiler for expressions that may use `variables` even if there are none.
    pub fn composing(self) -> Self {
        Self(self.0.with_composition())
    }

    /// Compiles a variable, which later expressions may use.
    pub fn variable(&mut self, name: &str, source: &str) -> NamedExpression {
        self.0.compose(name, source, |compiled| {
            instantiated(compiled.map_err(|issues| failed(source, &issues))?)
        })
    }

    /// Compiles an expression of any type.
    ///
    /// # Errors
    /// Returns all issues, as text.
    pub fn any(&self, source: &str) -> Result<(), String> {
        self.0.compile(source).map(|_| ()).map_err(|issues| render(source, &issues))
    }

    /// Compiles an expression that is true or false.
    ///
    /// # Errors
    /// Returns the error as text.
    pub fn condition(&self, source: &str) -> Compiled {
        compile(&self.0, source, &[Type::Bool])
    }

    /// Compiles a `messageExpression`.
    ///
    /// # Errors
    /// Returns the error as text.
    pub fn message(&self, source: &str) -> Compiled {
        compile(&self.0.clone().without(&AUTHORIZER), source, &[Type::String])
    }

    /// Compiles the value of an audit annotation.
    ///
    /// # Errors
    /// Returns the error as text.
    pub fn annotation(&self, source: &str) -> Compiled {
        compile(&self.0, source, &[Type::String, Type::Null])
    }

    /// Compiles a patch, whose type is that of an apply configuration or of a list of operations.
    ///
    /// # Errors
    /// Returns the error as text.
    pub fn patch(&self, source: &str, is_json_patch: bool) -> Compiled {
        let message = |name: &str| Type::Message(name.into());
        let wanted = if is_json_patch { Type::list(message("JSONPatch")) } else { message("Object") };
        compile(&self.0.clone().with_patches(), source, &[wanted])
    }
}

/// Checks that a compiled patch fits the objects that it changes, which servers find out at each request.
///
/// # Errors
/// Returns all issues, as text.
pub fn patch_fits(expression: &Expression, source: &str, patched: &Patched) -> Result<(), String> {
    match patched.issues(expression) {
        issues if issues.is_empty() => Ok(()),
        issues => Err(render(source, &issues)),
    }
}

fn failed(source: &str, issues: &[Issue]) -> String {
    format!("compilation failed: {}", render(source, issues))
}

fn compile(environment: &Environment, source: &str, wanted: &[Type]) -> Compiled {
    let expression = environment.compile(source).map_err(|issues| failed(source, &issues))?;
    let found = expression.result_type();
    if wanted.contains(&found) {
        return instantiated(expression);
    }
    let found = go_name(&found);
    Err(match wanted {
        [one] => format!("must evaluate to {one} but got {found}"),
        _ => format!("must evaluate to one of [string null_type] but got {found}"),
    })
}

const INSTANTIATION: &str = "program instantiation failed: ";

fn instantiated(expression: Expression) -> Compiled {
    match expression.instantiation_fault() {
        None => Ok(expression),
        Some(fault) => Err(format!("{INSTANTIATION}{fault}")),
    }
}

/// The cause for an expression that does not compile (`convertCELErrorToValidationError` of
/// pkg/apis/admissionregistration/validation).
pub(super) fn cause(path: impl Into<String>, source: &str, fault: String) -> Cause {
    let is_internal = fault.starts_with(INSTANTIATION);
    Cause::new(if is_internal { CauseKind::Internal } else { CauseKind::Invalid }, path, source, fault)
}

/// The name of a type in Go's `String`, which differs from that in cel-go's errors.
fn go_name(type_: &Type) -> String {
    match type_ {
        Type::Null => "null_type".to_owned(),
        Type::List(item) => format!("list({})", go_name(item)),
        Type::Map(key, value) => format!("map({}, {})", go_name(key), go_name(value)),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(source: &str) -> Option<String> {
        Compiler::new(false).condition(source).err()
    }

    #[test]
    fn expressions_are_compiled_for_the_variables_of_a_request() {
        for source in [
            "!('system:nodes' in request.userInfo.groups)",
            "request.resource.group != 'apps' && request.operation == 'CREATE'",
            "has(object.metadata.labels) && oldObject == null",
            "namespaceObject.metadata.labels['a'] == 'b'",
            "authorizer.group('a.b').resource('c').namespace(request.namespace).check('bypass').allowed()",
            "authorizer.requestResource.check('bypass').allowed()",
        ] {
            assert_eq!(fault(source), None, "{source}");
        }
        assert_eq!(fault("object.spec.a").as_deref(), Some("must evaluate to bool but got dyn"));
        assert_eq!(fault("1").as_deref(), Some("must evaluate to bool but got int"));
        let issue = fault("request.nope == ''").unwrap();
        assert!(
            issue.starts_with("compilation failed: ERROR: <input>:1:8: undefined field 'nope'"),
            "{issue}"
        );
    }

    #[test]
    fn authorizer_is_undeclared_in_message_expressions() {
        let compiler = Compiler::new(true);
        assert!(compiler.message("'a' + params.b").is_ok());
        let fault = compiler.message("authorizer.path('/').check('get').reason()").unwrap_err();
        assert!(fault.contains("undeclared reference to 'authorizer'"), "{fault}");
        assert_eq!(compiler.message("1").unwrap_err(), "must evaluate to string but got int");
    }

    #[test]
    fn patch_expression_must_have_the_type_of_its_patch() {
        let compiler = Compiler::new(false);
        for (source, is_json_patch, fault) in [
            ("Object{}", false, None),
            ("[JSONPatch{op: 'remove', path: '/a'}]", true, None),
            ("Object{}", true, Some("must evaluate to list(JSONPatch) but got Object")),
            ("Object.spec{}", false, Some("must evaluate to Object but got Object.spec")),
            ("[JSONPatch{}]", false, Some("must evaluate to Object but got list(JSONPatch)")),
        ] {
            let found = compiler.patch(source, is_json_patch).err();
            assert_eq!(found.as_deref(), fault, "{source}");
        }
        assert!(compiler.condition("jsonpatch.escapeKey('a') == 'a'").is_err());
    }
}
