//! Several expressions on the same values, which may share named expressions: `variables.name`.
//!
//! Source: apiserver's pkg/admission/plugin/cel/composition.go. A variable is evaluated when it is first used, once.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::eval::{Evaluator, Outcome, fault};
use super::expression::{MAX_DEPTH, NAMED_DEPTH};
use super::message;
use super::native::PatchFault;
use super::value::Value;
use super::{Answer, Binding, EvalError, Expression, PER_CALL_LIMIT, answer};

/// The variable that holds the named expressions.
pub(super) const VARIABLES: &str = "variables";
/// The name of its type in messages.
pub(super) const TYPE_NAME: &str = "kubernetes.variables";

/// A named expression.
#[derive(Debug)]
pub struct NamedExpression {
    /// The name after `variables.`.
    pub name: String,
    /// The expression, or its error.
    pub expression: Result<Expression, String>,
}

/// One evaluation of several expressions on the same values, which are converted when they are first used.
#[derive(Debug)]
pub struct Session<'a> {
    bindings: &'a [(&'a str, Binding<'a>)],
    values: Vec<OnceCell<Value>>,
    composed: &'a [NamedExpression],
    memo: RefCell<BTreeMap<usize, Known>>,
    /// The current depth of the evaluation, variables included.
    depth: Cell<usize>,
    /// The greatest depth since the current variable began.
    deepest: Cell<usize>,
    /// The cost of the variables so far.
    cost: Cell<u64>,
}

/// A named expression that was evaluated.
#[derive(Clone, Debug)]
struct Known {
    outcome: Outcome,
    /// The depth of its evaluation. Its value may be as deep, which counts for later uses.
    height: usize,
}

/// The cost of one evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationCost {
    /// The cost of the expression itself.
    pub own: u64,
    /// The cost of the variables that it used first.
    pub variables: u64,
}

impl<'a> Session<'a> {
    /// A session with these values and named expressions.
    #[must_use]
    pub fn new(bindings: &'a [(&'a str, Binding<'a>)], composed: &'a [NamedExpression]) -> Self {
        Self {
            bindings,
            values: bindings.iter().map(|_| OnceCell::new()).collect(),
            composed,
            memo: RefCell::default(),
            depth: Cell::new(0),
            deepest: Cell::new(0),
            cost: Cell::new(0),
        }
    }

    /// Evaluates an expression. Returns the result and the cost.
    pub fn run(&self, expression: &Expression, limit: u64) -> (Result<Answer, EvalError>, EvaluationCost) {
        let (outcome, spent) = self.evaluate(expression, limit);
        (outcome.map(answer), spent)
    }

    /// Evaluates an expression whose result describes a patch: an apply configuration, or a list of operations. Values that
    /// JSON does not have, and messages whose names do not fit their fields, are an error of the inner result.
    pub fn patch(
        &self,
        expression: &Expression,
        limit: u64,
    ) -> (Result<Result<Json, PatchFault>, EvalError>, EvaluationCost) {
        let (outcome, spent) = self.evaluate(expression, limit);
        (outcome.map(|value| message::to_json(&value)), spent)
    }

    fn evaluate(&self, expression: &Expression, limit: u64) -> (Outcome, EvaluationCost) {
        let mut evaluator = Evaluator::within(self, &expression.checked, limit);
        let outcome = evaluator.eval(&expression.ast.root);
        let own = evaluator.cost;
        (outcome, EvaluationCost { own, variables: self.cost.take() })
    }

    /// The value of a variable of the environment; `None` if there is none of this name.
    pub(super) fn value(&self, name: &str) -> Option<Value> {
        let at = self.bindings.iter().position(|(known, _)| *known == name);
        match at {
            Some(at) => Some(self.values.get(at)?.get_or_init(|| self.bindings[at].1.value()).clone()),
            None => (name == VARIABLES).then_some(Value::Variables),
        }
    }

    /// The value of a named expression; `None` if there is none of this name.
    pub(super) fn variable(&self, name: &str) -> Option<Outcome> {
        let at = self.composed.iter().rposition(|composed| composed.name == name)?;
        let known = self.memo.borrow().get(&at).cloned();
        if let Some(Known { outcome, height }) = known {
            return Some(self.reach(self.depth.get().saturating_add(height)).and(outcome));
        }
        // A name that is given twice may refer to itself.
        let itself = fault(format!("composited variable {name:?} refers to itself"));
        self.memo.borrow_mut().insert(at, Known { outcome: itself, height: 0 });
        let before = self.deepest.replace(self.depth.get());
        let outcome = match &self.composed[at].expression {
            Err(error) => fault(format!("composited variable {name:?} fails to compile: {error}")),
            Ok(expression) => self.compute(name, expression),
        };
        let height = self.deepest.get().saturating_sub(self.depth.get());
        self.deepest.set(before.max(self.deepest.get()));
        self.memo.borrow_mut().insert(at, Known { outcome: outcome.clone(), height });
        Some(outcome)
    }

    /// Goes one expression deeper. The depth at compilation is not enough: `variables` may be used as a value, and names
    /// may be given twice.
    pub(super) fn descend(&self) -> Result<(), EvalError> {
        let depth = self.depth.get() + 1;
        self.reach(depth)?;
        self.depth.set(depth);
        Ok(())
    }

    /// Leaves the expression that [`descend`](Self::descend) entered.
    pub(super) fn ascend(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    fn reach(&self, depth: usize) -> Result<(), EvalError> {
        if depth > MAX_DEPTH {
            return fault(format!("expression recursion limit exceeded: {MAX_DEPTH}"));
        }
        self.deepest.set(self.deepest.get().max(depth));
        Ok(())
    }

    fn compute(&self, name: &str, expression: &Expression) -> Outcome {
        let depth = self.depth.get();
        self.depth.set(depth + NAMED_DEPTH);
        let mut evaluator = Evaluator::within(self, &expression.checked, PER_CALL_LIMIT);
        let outcome = evaluator.eval(&expression.ast.root);
        self.depth.set(depth);
        self.cost.set(self.cost.get().saturating_add(evaluator.cost));
        outcome.or_else(|error| fault(format!("composited variable {name:?} fails to evaluate: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::cel::{Environment, Type};

    fn run(variables: &[(&str, &str)], source: &str) -> Result<Answer, String> {
        let mut environment = Environment::new(&[("object", Type::Dyn)]);
        let mut composed = Vec::new();
        for (name, source) in variables {
            composed
                .push(environment.compose(name, source, |compiled| compiled.map_err(|_| "no".to_owned())));
        }
        let expression = environment.compile(source).map_err(|issues| issues[0].message.clone())?;
        let object = json!({"a": 1});
        let bindings = [("object", Binding::Json(&object))];
        let session = Session::new(&bindings, &composed);
        session.run(&expression, PER_CALL_LIMIT).0.map_err(|error| error.to_string())
    }

    #[test]
    fn variable_is_evaluated_when_it_is_used() {
        let variables = [("one", "object.a"), ("two", "variables.one + 1"), ("broken", "object.nope")];
        assert_eq!(run(&variables, "variables.two == 2"), Ok(Answer::Bool(true)));
        assert_eq!(run(&variables, "true ? true : variables.broken"), Ok(Answer::Bool(true)));
        assert_eq!(
            run(&variables, "variables.broken == 1"),
            Err("composited variable \"broken\" fails to evaluate: no such key: nope".to_owned())
        );
        assert_eq!(run(&variables, "variables.three == 1"), Err("undefined field 'three'".to_owned()));
    }

    #[test]
    fn variable_has_the_type_of_its_expression() {
        let found = run(&[("text", "'a'")], "variables.text > 1").unwrap_err();
        assert_eq!(found, "found no matching overload for '_>_' applied to '(string, int)'");
    }

    #[test]
    fn variable_that_refers_to_itself_is_an_error() {
        let error = run(&[("a", "1"), ("a", "variables.a + 1")], "variables.a == 2").unwrap_err();
        assert!(error.contains("refers to itself"), "{error}");
    }

    #[test]
    fn chain_of_variables_that_is_too_deep_is_an_error() {
        let names: Vec<String> = (0..200).map(|i| format!("v{i}")).collect();
        let nested = |i: usize| match i {
            0 => "[[[[[[1]]]]]]".to_owned(),
            i => format!("[[[[[[variables.v{}]]]]]]", i - 1),
        };
        let sources: Vec<String> = (0..200).map(nested).collect();
        let variables: Vec<(&str, &str)> =
            names.iter().map(String::as_str).zip(sources.iter().map(String::as_str)).collect();
        assert_eq!(run(&variables, "size(variables.v40) == 1"), Ok(Answer::Bool(true)));
        assert_eq!(run(&variables, "variables.v40 == variables.v40"), Ok(Answer::Bool(true)));
        let error = run(&variables, "size(variables.v199) == 1").unwrap_err();
        assert!(error.contains("fails to compile"), "{error}");
    }

    /// Variables of which each uses the one before, and the result of using the last one.
    fn chained(repeated: usize, count: usize, link: impl Fn(usize) -> String) -> Result<Answer, String> {
        let mut variables: Vec<(String, String)> = Vec::new();
        for _ in 0..repeated {
            variables.extend((0..count).map(|i| (format!("v{i}"), "1".to_owned())));
        }
        variables.push(("v0".to_owned(), "1".to_owned()));
        // The last definition counts, so in falling order the depths of the ones below are not known yet.
        let links = (1..count).map(|i| (format!("v{i}"), link(i - 1)));
        if repeated > 0 {
            variables.extend(links.rev());
        } else {
            variables.extend(links);
        }
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, source)| (name.as_str(), source.as_str())).collect();
        run(&variables, &format!("[variables].map(x, x.v{})[0] == 1", count - 1))
    }

    #[test]
    fn evaluation_depth_of_variables_is_limited() {
        type Link = fn(usize) -> String;
        let links: [(usize, Link); 4] = [
            (0, |i| format!("variables.?v{i}.orValue(1)")),
            (0, |i| format!("[variables].map(x, x.v{i})[0]")),
            (1, |i| format!("variables.v{i}")),
            (1, |i| format!("variables.v{i} + 0")),
        ];
        for (repeated, link) in links {
            assert_eq!(chained(repeated, 20, link), Ok(Answer::Bool(true)), "{}", link(0));
            let error = chained(repeated, 600, link).unwrap_err();
            assert!(error.contains("recursion limit exceeded: 500"), "{}: {error}", link(0));
        }
    }

    #[test]
    fn depth_of_cached_variables_counts_towards_the_limit() {
        let links = (1..600).map(|i| format!("[[variables].map(x, x.v{})[0]]", i - 1));
        let sources: Vec<String> = std::iter::once("1".to_owned()).chain(links).collect();
        let names: Vec<String> = (0..600).map(|i| format!("v{i}")).collect();
        let variables: Vec<(&str, &str)> =
            names.iter().map(String::as_str).zip(sources.iter().map(String::as_str)).collect();
        // From the first to the last, so that no evaluation is deep by itself.
        let uses: Vec<String> = (0..600).map(|i| format!("[variables].map(x, x.v{i}) != []")).collect();
        let error = run(&variables, &format!("[{}].all(b, b)", uses.join(", "))).unwrap_err();
        assert!(error.contains("recursion limit exceeded: 500"), "{error}");
    }

    #[test]
    fn patch_expression_evaluates_to_json() {
        let mut environment = Environment::new(&[("object", Type::Dyn)]);
        let patch = |environment: &Environment, source: &str| {
            let expression = environment.compile(source).map_err(|issues| issues[0].message.clone())?;
            let object = json!({"a": 1});
            let bindings = [("object", Binding::Json(&object))];
            let session = Session::new(&bindings, &[]);
            let patch = session.patch(&expression, PER_CALL_LIMIT).0.map_err(|error| error.to_string())?;
            patch.map_err(|fault| match fault {
                PatchFault::Failed(text) => text,
                PatchFault::Panic(text) => format!("panic: {text}"),
            })
        };
        let unfit = "JSONPath valueExpression evaluated to a type that could not marshal to JSON:";
        let null_in_object = format!("{unfit} proto: invalid type: structpb.NullValue");
        let written = format!("{unfit} proto: invalid type: map[ref.Val]ref.Val");
        let missing = "undeclared reference to 'Object' (in container '')".to_owned();
        assert_eq!(patch(&environment, "Object{}"), Err(missing));
        environment = environment.with_patches();
        for (source, expected) in [
            ("Object{}", Ok(json!({}))),
            (
                "Object{spec: Object.spec{replicas: object.a + 1, ?paused: optional.none(), ?n: optional.of('x')}}",
                Ok(json!({"spec": {"replicas": 2, "n": "x"}})),
            ),
            (
                "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'a'}]}}",
                Ok(json!({"spec": {"containers": [{"name": "a"}]}})),
            ),
            (
                "Object{metadata: Object.metadata{labels: {'a/b': 'c'}}}",
                Ok(json!({"metadata": {"labels": {"a/b": "c"}}})),
            ),
            (
                "Object{spec: Object.wrong{}}",
                Err(
                    "type mismatch: unexpected type name \"Object.wrong\", expected \"Object.spec\", which matches field name path from root Object type",
                ),
            ),
            (
                "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: 1.5}]",
                Ok(json!([{"op": "add", "path": "/metadata/labels/a~1b~0c", "value": 1.5}])),
            ),
            (
                "[JSONPatch{op: 'move', from: '/a', path: '/b'}, JSONPatch{op: 'add', path: '/c', value: Object.c{d: 1.0}}]",
                Ok(
                    json!([{"op": "move", "path": "/b", "from": "/a"}, {"op": "add", "path": "/c", "value": {"d": 1}}]),
                ),
            ),
            (
                "[JSONPatch{value: null}, JSONPatch{value: [{'a': b'x'}]}, JSONPatch{value: optional.of(duration('1h'))}]",
                Ok(json!([
                    {"op": "", "path": "", "value": null},
                    {"op": "", "path": "", "value": [{"a": "eA=="}]},
                    {"op": "", "path": "", "value": "3600s"},
                ])),
            ),
            (
                "[JSONPatch{value: dyn([Object.c{d: 1}]) + [{'e': null}]}]",
                Ok(json!([{"op": "", "path": "", "value": [{"d": 1}, {"e": null}]}])),
            ),
            ("[JSONPatch{value: Object.c{d: null}}]", Err(&null_in_object)),
            ("[JSONPatch{value: Object.c{d: [{'a': 'b'}]}}]", Err(&written)),
            (
                "[JSONPatch{value: [Object.c{}]}]",
                Err(
                    "panic: kube-apiserver panics on Object.c{} in a list or a map of a JSON patch: reflect.Set: value of type *structpb.Struct is not assignable to type *structpb.Value; write a map instead",
                ),
            ),
            ("JSONPatch{op: 1}", Err("expected type of field 'op' is 'string' but provided type is 'int'")),
            ("JSONPatch{other: 1}", Err("expected type of field 'other' is '' but provided type is 'int'")),
            ("[JSONPatch{other: dyn(1)}]", Err("unexpected JSONPatchType field: other")),
            ("[JSONPatch{op: dyn(1)}]", Err("unexpected type int64 for JSONPatchType 'op' field")),
            ("Objects{}", Err("undeclared reference to 'Objects' (in container '')")),
        ] {
            assert_eq!(patch(&environment, source), expected.map_err(str::to_owned), "{source}");
        }
    }

    #[test]
    fn configuration_keeps_foreign_values_apart() {
        use crate::cel::{shown, syntax};
        let environment = Environment::new(&[("object", Type::Dyn)]).with_patches();
        let object = json!({"list": [{"a": null}], "text": "x"});
        let bindings = [("object", Binding::Json(&object))];
        for (source, text, go) in [
            ("null", "NULL_VALUE", "0"),
            ("1u", "1", "0x1"),
            ("b'xy'", "[120 121]", "[]uint8{0x78, 0x79}"),
            ("duration('90s')", "1m30s", "90000000000"),
            (
                "timestamp('2020-01-02T03:04:05.5Z')",
                "2020-01-02 03:04:05.5 +0000 UTC",
                "time.Date(2020, time.January, 2, 3, 4, 5, 500000000, time.UTC)",
            ),
            ("[{'a': 'b'}]", "[map[a:b]]", "[]interface {}{map[ref.Val]ref.Val{\"a\":\"b\"}}"),
            ("'a,b'.split(',')", "[a b]", "[]string{\"a\", \"b\"}"),
            (
                "object.list",
                "[map[a:<nil>]]",
                "[]interface {}{map[string]interface {}{\"a\":interface {}(nil)}}",
            ),
            ("object.list.map(x, object.text)", "[x]", "[]interface {}{\"x\"}"),
            ("optional.none()", "<nil>", "interface {}(nil)"),
        ] {
            let expression = environment.compile(&format!("Object{{x: {source}}}")).unwrap();
            let session = Session::new(&bindings, &[]);
            let found = session.patch(&expression, PER_CALL_LIMIT).0.unwrap().unwrap();
            assert_eq!(
                (shown(&found["x"]), syntax(&found["x"])),
                (text.to_owned(), go.to_owned()),
                "{source}"
            );
        }
        let expression = environment.compile("Object{x: Object.x{y: {1: 'a'}}}").unwrap();
        let session = Session::new(&bindings, &[]);
        let found = session.patch(&expression, PER_CALL_LIMIT).0.unwrap().unwrap();
        let text = "fail to convert field \"y\": map key '\\x01' is of type types.Int, not string";
        assert_eq!(shown(&found["x"]), text);
    }

    #[test]
    fn values_are_shared_by_the_expressions_of_a_session() {
        let object: Arc<Json> = Arc::new(json!({"a": 1}));
        let bindings = [("object", Binding::Json(&object))];
        let mut environment = Environment::new(&[("object", Type::Dyn)]);
        let composed = [environment.compose("a", "object.a", |compiled| compiled.map_err(|_| String::new()))];
        let expression = environment.compile("variables.a == 1").unwrap();
        let session = Session::new(&bindings, &composed);
        let (_, first) = session.run(&expression, PER_CALL_LIMIT);
        let (_, second) = session.run(&expression, PER_CALL_LIMIT);
        assert!(first.variables > 0 && second.variables == 0 && first.own == second.own);
    }
}
