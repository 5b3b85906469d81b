//! Expressions over variables without a schema, such as the match conditions of admission webhooks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::access::{Question, Stage};
use super::ast::{Ast, Expr, Kind};
use super::checker::{self, Checked};
use super::session::{self, NamedExpression, Session};
use super::value::Value;
use super::{AccessRequest, Answer, Authorizer, EvalError, Issue, ObjectType, Type, parser};

/// An expression compiled for variables of given types.
#[derive(Debug)]
pub struct Expression {
    pub(super) ast: Ast,
    pub(super) checked: Checked,
    depth: usize,
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
    pub(super) fn value(&self) -> Value {
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

/// The depth limit of an expression together with the named expressions that it uses. Evaluation and values recurse as
/// deep. Evaluation counts the depth that compilation cannot see.
pub(super) const MAX_DEPTH: usize = 500;
/// The depth of a named expression: its evaluation takes the stack of several levels.
pub(super) const NAMED_DEPTH: usize = 4;

/// The variables that expressions may use, with their types.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Vec<(String, Type)>,
    /// The types and depths of `variables.name`.
    composed: BTreeMap<String, (Type, usize)>,
    has_composed: bool,
    patches: bool,
}

impl Environment {
    /// Creates an environment with these variables, whose names may contain dots.
    #[must_use]
    pub fn new(variables: &[(&str, Type)]) -> Self {
        let variables = variables.iter().map(|(name, type_)| ((*name).to_owned(), type_.clone())).collect();
        Self { variables, composed: BTreeMap::new(), has_composed: false, patches: false }
    }

    /// Returns this environment with the messages and functions for patches.
    #[must_use]
    pub fn with_patches(self) -> Self {
        Self { patches: true, ..self }
    }

    /// Returns this environment without these variables.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        self.variables.retain(|(name, _)| !names.contains(&name.as_str()));
        self
    }

    /// Returns this environment with `variables`, even if there are none.
    #[must_use]
    pub fn with_composition(self) -> Self {
        Self { has_composed: true, ..self }
    }

    /// Compiles a named expression, which later ones may use as `variables.name`. `check` turns the issues into a text, and
    /// may refuse the expression.
    pub fn compose(
        &mut self,
        name: &str,
        source: &str,
        check: impl FnOnce(Result<Expression, Vec<Issue>>) -> Result<Expression, String>,
    ) -> NamedExpression {
        self.has_composed = true;
        let expression = check(self.compile(source));
        let type_ = expression.as_ref().map_or(Type::Dyn, |expression| declared(&expression.result_type()));
        let depth = expression.as_ref().map_or(1, |expression| expression.depth);
        self.composed.insert(name.to_owned(), (type_, depth));
        NamedExpression { name: name.to_owned(), expression }
    }

    /// Compiles an expression.
    ///
    /// # Errors
    /// All errors of the expression, which [`render`](super::render) formats.
    pub fn compile(&self, source: &str) -> Result<Expression, Vec<Issue>> {
        let ast = parser::parse(source)?;
        let mut variables: Vec<(&str, Type)> =
            self.variables.iter().map(|(name, type_)| (name.as_str(), type_.clone())).collect();
        if self.has_composed {
            let fields =
                self.composed.iter().map(|(name, (type_, _))| (name.clone(), type_.clone())).collect();
            let object = ObjectType { name: session::TYPE_NAME.to_owned(), fields };
            variables.push((session::VARIABLES, Type::Object(Arc::new(object))));
        }
        let checked = checker::check(&ast, checker::Scope { variables: &variables, patches: self.patches })?;
        let depth = self.depth(&ast.root);
        if depth > MAX_DEPTH {
            let message = format!("expression recursion limit exceeded: {MAX_DEPTH}");
            return Err(vec![Issue { position: 0, message }]);
        }
        Ok(Expression { ast, checked, depth })
    }

    /// Returns the depth of a tree with the named expressions expanded.
    fn depth(&self, expr: &Expr) -> usize {
        let named = match &expr.kind {
            Kind::Select { operand, field, .. } => match &operand.kind {
                Kind::Ident(name) if name == session::VARIABLES => self.composed.get(field),
                _ => None,
            },
            _ => None,
        };
        let below = expr.children().into_iter().map(|child| self.depth(child)).max();
        1 + below.unwrap_or(0).max(named.map_or(0, |(_, depth)| NAMED_DEPTH + depth))
    }
}

/// The type of a variable in other expressions. Source: `convertCelTypeToDeclType` of apiserver's composition.go.
fn declared(type_: &Type) -> Type {
    match type_ {
        Type::List(item) => Type::list(declared(item)),
        Type::Map(key, value) => Type::map(declared(key), declared(value)),
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Timestamp
        | Type::Duration => type_.clone(),
        _ => Type::Dyn,
    }
}

impl Expression {
    /// Compiles an expression over these variables, whose names may contain dots.
    ///
    /// # Errors
    /// All errors of the expression, which [`render`](super::render) formats.
    pub fn compile(source: &str, variables: &[(&str, Type)]) -> Result<Self, Vec<Issue>> {
        Environment::new(variables).compile(source)
    }

    /// The type of the result.
    #[must_use]
    pub fn result_type(&self) -> Type {
        self.checked.types.get(&self.ast.root.id).cloned().unwrap_or(Type::Dyn)
    }

    /// The error that keeps cel-go from making a program of the expression: a constant that cannot be converted, or
    /// an invalid constant pattern.
    #[must_use]
    pub fn instantiation_fault(&self) -> Option<&str> {
        self.checked.instantiation.as_deref()
    }

    /// The names of the variables that the expression uses.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.checked.variables
    }

    /// Evaluates the expression. Returns the result and the cost.
    pub fn run(&self, variables: &[(&str, Binding<'_>)], limit: u64) -> (Result<Answer, EvalError>, u64) {
        let (outcome, spent) = Session::new(variables, &[]).run(self, limit);
        (outcome, spent.own)
    }
}

#[cfg(test)]
mod tests {
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
    fn object_request_and_authorizer_evaluate_without_a_schema() {
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
    fn type_errors_are_reported_on_compilation() {
        let issue = run("request.nope == 'x'").unwrap_err();
        assert!(issue.contains("undefined field 'nope'"), "{issue}");
        let issue = run("other == 1").unwrap_err();
        assert!(issue.contains("undeclared reference to 'other'"), "{issue}");
    }
}
