//! Match conditions: expressions that a request has to meet before a webhook hears of it.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use kubesmith_apiextensions::cel::{
    AccessRequest, AllowAll, Answer, Authorizer, Binding, EvalError, Expression, ObjectType, Type, render,
};
use serde_json::Value;

use super::attributes::{Attributes, Versioned};
use super::review;

/// What all conditions of a webhook may cost for one request. Source: RuntimeCELCostBudgetMatchConditions of the API
/// server.
const BUDGET: u64 = 2_500_000;

/// The variables of conditions.
static VARIABLES: LazyLock<Vec<(&str, Type)>> = LazyLock::new(|| {
    vec![
        ("object", Type::Dyn),
        ("oldObject", Type::Dyn),
        ("namespaceObject", Type::Dyn),
        ("request", request_type()),
        ("authorizer", Type::Opaque("kubernetes.authorization.Authorizer")),
        ("authorizer.requestResource", Type::Opaque("kubernetes.authorization.ResourceCheck")),
    ]
});

fn object_type(name: &str, fields: &[(&str, Type)]) -> Type {
    let fields: BTreeMap<String, Type> =
        fields.iter().map(|(name, type_)| ((*name).to_owned(), type_.clone())).collect();
    Type::Object(Arc::new(ObjectType { name: format!("kubernetes.{name}"), fields }))
}

/// `AdmissionRequest` without what has variables of its own.
fn request_type() -> Type {
    let texts = |names: &[&'static str]| names.iter().map(|name| (*name, Type::String)).collect::<Vec<_>>();
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

/// What is wrong with an expression.
pub(crate) fn fault(source: &str) -> Option<String> {
    compile(source).err()
}

fn compile(source: &str) -> Result<Expression, String> {
    let expression = Expression::compile(source, &VARIABLES)
        .map_err(|issues| format!("compilation failed: {}", render(source, &issues)))?;
    match expression.result_type() {
        Type::Bool => Ok(expression),
        other => Err(format!("must evaluate to bool but got {other}")),
    }
}

/// The conditions of one webhook, with their texts.
#[derive(Debug, Default)]
pub(super) struct Conditions(Vec<(String, Result<Expression, String>)>);

impl Conditions {
    /// Compiles `matchConditions`.
    pub(super) fn of(conditions: &Value) -> Self {
        let conditions = conditions.as_array().into_iter().flatten();
        let sources = conditions.map(|condition| condition["expression"].as_str().unwrap_or_default());
        Self(sources.map(|source| (source.to_owned(), compile(source))).collect())
    }

    /// Whether all conditions hold; one that does not decides before one that cannot be evaluated.
    ///
    /// # Errors
    /// Why a condition could not be evaluated.
    pub(super) fn hold(&self, attributes: &Attributes<'_>, versioned: &Versioned) -> Result<bool, String> {
        if self.0.is_empty() {
            return Ok(true);
        }
        let null = Value::Null;
        let request = review::described(attributes, versioned);
        let authorizer: Arc<dyn Authorizer> = Arc::new(AllowAll);
        let resource = access(attributes);
        let bindings = [
            ("object", Binding::Json(versioned.object.as_ref().unwrap_or(&null))),
            ("oldObject", Binding::Json(versioned.old.as_ref().unwrap_or(&null))),
            ("namespaceObject", Binding::Json(&null)),
            ("request", Binding::Json(&request)),
            ("authorizer", Binding::Authorizer(authorizer.clone())),
            ("authorizer.requestResource", Binding::ResourceCheck(authorizer, &resource)),
        ];
        let (mut budget, mut errors) = (BUDGET, Vec::new());
        for (source, expression) in &self.0 {
            match evaluate(source, expression, &bindings, &mut budget) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(Failed::Budget(error)) => return Err(error),
                Err(Failed::Expression(error)) => errors.push(error),
            }
        }
        match errors.as_slice() {
            [] => Ok(true),
            [one] => Err(one.clone()),
            several => Err(format!("[{}]", several.join(", "))),
        }
    }
}

enum Failed {
    Expression(String),
    Budget(String),
}

fn evaluate(
    source: &str,
    expression: &Result<Expression, String>,
    bindings: &[(&str, Binding<'_>)],
    budget: &mut u64,
) -> Result<bool, Failed> {
    let expression =
        expression.as_ref().map_err(|e| Failed::Expression(format!("compilation error: {e}")))?;
    let (answer, cost) = expression.run(bindings, *budget);
    let Some(left) = budget.checked_sub(cost).filter(|_| answer != Err(EvalError::CostExceeded)) else {
        let text =
            "validation failed due to running out of cost budget, no further validation rules will be run";
        return Err(Failed::Budget(text.to_owned()));
    };
    *budget = left;
    match answer {
        Ok(Answer::Bool(holds)) => Ok(holds),
        Ok(other) => Err(Failed::Expression(format!("expression '{source}' resulted in {other:?}"))),
        Err(error) => Err(Failed::Expression(format!("expression '{source}' resulted in error: {error}"))),
    }
}

/// The resource of the request, as an authorizer is asked about it.
fn access(attributes: &Attributes<'_>) -> AccessRequest {
    AccessRequest {
        group: attributes.def().group.clone(),
        resource: attributes.def().plural.clone(),
        subresource: attributes.subresource().to_owned(),
        namespace: attributes.namespace().to_owned(),
        name: attributes.name.to_owned(),
        ..AccessRequest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_compiled_for_the_variables_of_a_request() {
        for source in [
            "!('system:nodes' in request.userInfo.groups)",
            "request.resource.group != 'apps' && request.operation == 'CREATE'",
            "has(object.metadata.labels) && oldObject == null",
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
}
