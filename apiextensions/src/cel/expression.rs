//! Expressions over variables without a schema, such as the match conditions of admission webhooks.

use std::sync::Arc;

use serde_json::Value as Json;

use super::access::{Question, Stage};
use super::ast::Ast;
use super::checker::{self, Checked};
use super::eval::Evaluator;
use super::value::Value;
use super::{AccessRequest, Answer, Authorizer, EvalError, Issue, Type, answer, parser};

/// An expression compiled for variables of given types.
#[derive(Debug)]
pub struct Expression {
    ast: Ast,
    checked: Checked,
}

/// The value of a variable.
#[derive(Clone, Debug)]
pub enum Binding<'a> {
    /// Any JSON; maps keep their members as they are.
    Json(&'a Json),
    /// The authorizer.
    Authorizer(Arc<dyn Authorizer>),
    /// An authorizer check that lacks only the verb.
    ResourceCheck(Arc<dyn Authorizer>, &'a AccessRequest),
}

impl Binding<'_> {
    fn value(&self) -> Value {
        let question = |stage, authorizer: &Arc<dyn Authorizer>, request| {
            Value::Question(Arc::new(Question { stage, request, authorizer: authorizer.clone() }))
        };
        match self {
            Self::Json(json) => Value::untyped(json),
            Self::Authorizer(authorizer) => question(Stage::Authorizer, authorizer, AccessRequest::default()),
            Self::ResourceCheck(authorizer, request) => {
                question(Stage::Resource, authorizer, (*request).clone())
            }
        }
    }
}

impl Expression {
    /// Compiles an expression over these variables, whose names may contain dots.
    ///
    /// # Errors
    /// All errors of the expression, which [`render`](super::render) formats.
    pub fn compile(source: &str, variables: &[(&str, Type)]) -> Result<Self, Vec<Issue>> {
        let ast = parser::parse(source)?;
        let checked = checker::check(&ast, variables)?;
        Ok(Self { ast, checked })
    }

    /// The type of the result.
    #[must_use]
    pub fn result_type(&self) -> Type {
        self.checked.types.get(&self.ast.root.id).cloned().unwrap_or(Type::Dyn)
    }

    /// The names of the variables that the expression uses.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.checked.variables
    }

    /// Evaluates the expression. Returns the result and the cost.
    pub fn run(&self, variables: &[(&str, Binding<'_>)], limit: u64) -> (Result<Answer, EvalError>, u64) {
        let used = variables.iter().filter(|(name, _)| self.variables().iter().any(|used| used == name));
        let values = used.map(|(name, binding)| ((*name).to_owned(), binding.value())).collect();
        let mut evaluator = Evaluator::new(&self.checked, values, limit);
        let outcome = evaluator.eval(&self.ast.root);
        (outcome.map(answer), evaluator.cost)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::cel::{AllowAll, ObjectType, PER_CALL_LIMIT, render};

    fn types() -> Vec<(&'static str, Type)> {
        let fields =
            BTreeMap::from([("namespace".to_owned(), Type::String), ("dryRun".to_owned(), Type::Bool)]);
        let request = Type::Object(Arc::new(ObjectType { name: "Request".to_owned(), fields }));
        vec![
            ("object", Type::Dyn),
            ("request", request),
            ("authorizer", Type::Opaque("kubernetes.authorization.Authorizer")),
            ("authorizer.requestResource", Type::Opaque("kubernetes.authorization.ResourceCheck")),
        ]
    }

    fn run(source: &str) -> Result<Answer, String> {
        let expression = Expression::compile(source, &types()).map_err(|issues| render(source, &issues))?;
        let object = json!({"metadata": {"labels": {"a.b/c": "d"}}, "spec": {"n": 3, "list": [1, 2]}});
        let request = json!({"namespace": "default", "dryRun": false});
        let authorizer: Arc<dyn Authorizer> = Arc::new(AllowAll);
        let bindings = [
            ("object", Binding::Json(&object)),
            ("request", Binding::Json(&request)),
            ("authorizer", Binding::Authorizer(authorizer.clone())),
            ("authorizer.requestResource", Binding::ResourceCheck(authorizer, &AccessRequest::default())),
        ];
        expression.run(&bindings, PER_CALL_LIMIT).0.map_err(|e| e.to_string())
    }

    #[test]
    fn variables_need_no_schema() {
        for source in [
            "object.spec.n == 3 && object.spec.list.all(i, i > 0)",
            "object.metadata.labels['a.b/c'] == 'd' && !has(object.spec.nope)",
            "request.namespace == 'default' && !request.dryRun",
            "authorizer.group('apps').resource('deployments').namespace('n').name('d').check('update').allowed()",
            "authorizer.path('/healthz').check('get').reason() == ''",
            "authorizer.serviceAccount('n', 's').requestResource.check('x').allowed() || true",
            "!authorizer.requestResource.check('bypass').errored()",
        ] {
            let found = run(source);
            if source.contains("serviceAccount") {
                assert!(found.is_err(), "only the variable has a requestResource: {found:?}");
            } else {
                assert_eq!(found, Ok(Answer::Bool(true)), "{source}");
            }
        }
        assert_eq!(run("object.nope.x == 1"), Err("no such key: nope".to_owned()));
    }

    #[test]
    fn faults_are_found_before_the_first_run() {
        let issue = run("request.nope == 'x'").unwrap_err();
        assert!(issue.contains("undefined field 'nope'"), "{issue}");
        let issue = run("other == 1").unwrap_err();
        assert!(issue.contains("undeclared reference to 'other'"), "{issue}");
    }
}
