//! One rule: compiled, estimated and run.

use kubesmith_apiextensions::cel::{
    Activation, Binding, Decl, Environment, OldSelf, PER_CALL_LIMIT, Session, Type, Variables, compile,
    render,
};
use kubesmith_apiextensions::structural::Schema;
use serde_json::{Value, json};

/// What the language knows.
pub(crate) const WORDS: &[&str] = &[
    "self",
    "oldSelf",
    "self.s",
    "self.n",
    "self.d",
    "self.b",
    "self.by",
    "self.t",
    "self.du",
    "self.l",
    "self.m",
    "self.o",
    "self.ios",
    "self.nul",
    "self.things",
    ".all(x, ",
    ".exists(x, ",
    ".exists_one(x, ",
    ".map(x, ",
    ".filter(x, ",
    "has(",
    ".?",
    "[?",
    "optional.of(",
    "optional.none()",
    ".orValue(",
    ".optMap(v, ",
    ".matches(",
    ".find(",
    ".findAll(",
    ".size()",
    ".contains(",
    ".split(",
    ".join(",
    ".replace(",
    ".substring(",
    ".format([",
    "'%s %d %.3f %x'",
    ".lowerAscii()",
    ".charAt(",
    ".indexOf(",
    ".sum()",
    ".min()",
    ".isSorted()",
    "sets.contains(",
    "quantity(",
    "'1Gi'",
    "semver(",
    "'1.2.3'",
    "url(",
    "'https://a.example:1/x?y=z'",
    "ip(",
    "'::1'",
    "cidr(",
    "'10.0.0.0/8'",
    "duration(",
    "'1h'",
    "timestamp(",
    "'2024-02-29T00:00:00Z'",
    ".getHours(",
    "'Europe/Berlin'",
    "int(",
    "uint(",
    "double(",
    "string(",
    "bytes(",
    "dyn(",
    "type(",
    "1u",
    "0x7f",
    "1e9",
    "b'\\xff'",
    "r'a'",
    "'''x'''",
    "in",
    "==",
    "!=",
    "<=",
    "&&",
    "||",
    "? :",
    "% 0",
    "/ 0",
    "-9223372036854775808",
    "[]",
    "{}",
    "{'a': 1}",
    "Object{",
    "Object.spec{?a: ",
    "[JSONPatch{op: 'add', path: '/a', value: ",
    "variables.v",
    "x.y.z",
    "'(a*)*b'",
    "format.named(",
    "'[[:alpha:]]{1000}'",
];

fn schema() -> Schema {
    Schema::enforced(&json!({"type": "object", "properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "d": {"type": "number"}, "b": {"type": "boolean"},
        "by": {"type": "string", "format": "byte"}, "t": {"type": "string", "format": "date-time"},
        "du": {"type": "string", "format": "duration"}, "nul": {"type": "string", "nullable": true},
        "l": {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 9},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}, "a-b": {"type": "string"}}},
        "things": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {
                "type": "array", "items": {"type": "number"}}}}},
        "ios": {"x-kubernetes-int-or-string": true}}}))
    .expect("a schema")
}

fn object() -> Value {
    json!({"s": "héllo", "n": 3, "d": 1.5, "b": true, "by": "YWI=", "t": "2024-02-29T12:30:15.5Z", "du": "90m", "nul": null,
        "l": ["a", "b", "c"], "set": [1, 2], "m": {"k": "v", "z": "w"}, "o": {"x": 7, "a-b": "dash"}, "ios": "80%",
        "things": [{"k": "a", "v": [1, 2.5]}, {"k": "b", "v": []}]})
}

/// Compiles a rule and runs it; whether it is one.
pub(crate) fn check(rule: &str) -> bool {
    let (schema, object) = (schema(), object());
    let decl = Decl::of(&schema, false, "self").expect("a declaration");
    let mut compiles = false;
    for old_self in [OldSelf::Plain, OldSelf::Optional] {
        match compile(rule, &decl, old_self) {
            Ok(program) => {
                let activation =
                    Activation { schema: &schema, is_resource: false, object: &object, old: Some(&object) };
                drop(program.run(&Variables::new(&activation), old_self, PER_CALL_LIMIT));

                compiles = true;
            }
            Err(issues) => assert!(!render(rule, &issues).is_empty()),
        }
    }
    let variables = [("self", Type::Dyn), ("request.user", Type::Dyn)];
    let mut environment = Environment::new(&variables).with_patches();
    let composed =
        [environment.compose("v", rule, |compiled| compiled.map_err(|issues| render(rule, &issues)))];
    if let Ok(expression) = environment.compile(rule) {
        let bindings = [("self", Binding::Json(&object)), ("request.user", Binding::Json(&object))];
        let session = Session::new(&bindings, &composed);
        drop(session.run(&expression, PER_CALL_LIMIT));
        drop(session.patch(&expression, PER_CALL_LIMIT));
    }
    compiles
}
