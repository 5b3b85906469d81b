use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::*;
use crate::schema::Schema;

fn schema(properties: Json) -> Schema {
    Schema::enforced(&json!({"type": "object", "properties": properties})).unwrap()
}

fn decl(schema: &Schema) -> Arc<Decl> {
    Decl::of(schema, false, "self").unwrap()
}

fn everything() -> Schema {
    schema(json!({
        "s": {"type": "string"}, "n": {"type": "integer"}, "d": {"type": "number"}, "b": {"type": "boolean"},
        "by": {"type": "string", "format": "byte"}, "t": {"type": "string", "format": "date-time"},
        "du": {"type": "string", "format": "duration"}, "l": {"type": "array", "items": {"type": "string"}},
        "ns": {"type": "array", "items": {"type": "integer"}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}, "a-b": {"type": "string"}}},
        "ios": {"x-kubernetes-int-or-string": true}, "nul": {"type": "string", "nullable": true},
        "namespace": {"type": "string"}
    }))
}

fn sample() -> Json {
    json!({"s": "héllo", "n": 3, "d": 1.5, "b": true, "by": "YWI=", "t": "2024-02-29T12:30:15.5Z", "du": "90m",
        "l": ["a", "b", "c"], "ns": [3, 1, 2], "set": ["x", "y"], "m": {"k": "v", "z": "w"},
        "o": {"x": 7, "a-b": "dash"}, "ios": "80%", "nul": null, "namespace": "x"})
}

fn run(source: &str) -> Result<Answer, String> {
    let schema = everything();
    let program =
        compile(source, &decl(&schema), OldSelf::Plain).map_err(|issues| render(source, &issues))?;
    let object = sample();
    let activation = Activation { schema: &schema, is_resource: false, object: &object, old: None };
    program.run(&Variables::new(&activation), OldSelf::Plain, PER_CALL_LIMIT).0.map_err(|e| e.to_string())
}

#[track_caller]
fn holds(source: &str) {
    assert_eq!(run(source), Ok(Answer::Bool(true)), "{source}");
}

#[track_caller]
fn fails(source: &str, text: &str) {
    assert_eq!(run(source), Err(text.to_owned()), "{source}");
}

/// Runs a rule on an object with fractions in integer fields and times that Go does not read.
fn run_on_fractions(source: &str) -> Result<Answer, String> {
    let schema = schema(json!({
        "ios": {"x-kubernetes-int-or-string": true}, "n": {"type": "integer"},
        "l": {"type": "array", "items": {"x-kubernetes-int-or-string": true}},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}},
        "t": {"type": "string", "format": "date-time"}, "z": {"type": "string", "format": "date-time"}
    }));
    let program = compile(source, &decl(&schema), OldSelf::Plain).map_err(|i| render(source, &i))?;
    let object = json!({"ios": 1.0, "n": 2.0, "l": ["a", 1.0], "m": {"k": 3.0}, "t": "2020-01-01t00:00:00z",
        "z": "2020-01-01T00:00:00.5z"});
    let activation = Activation { schema: &schema, is_resource: false, object: &object, old: None };
    program.run(&Variables::new(&activation), OldSelf::Plain, PER_CALL_LIMIT).0.map_err(|e| e.to_string())
}

#[test]
fn value_that_its_type_does_not_have_fails_the_rules_that_read_it() {
    const IOS: &str = "invalid data, expected XIntOrString value to be either a string or integer";
    const INT: &str = "invalid data, expected int, got float64";
    for (source, text) in [
        ("self.ios == 1", IOS),
        ("self.l.all(x, type(x) == string)", IOS),
        ("self.l != ['a', 'b']", IOS),
        ("1 in self.l", IOS),
        ("self.l.indexOf('a') == 0", IOS),
        ("self.n > 1", INT),
        ("self.m['k'] == 3", INT),
        ("self.m.all(k, v, v == 3)", INT),
        (
            "self.t < timestamp('2021-01-01T00:00:00Z')",
            "Invalid date-time formatted string 2020-01-01t00:00:00z: parsing time \"2020-01-01t00:00:00z\" as \
             \"2006-01-02T15:04:05\": cannot parse \"t00:00:00z\" as \"T\"",
        ),
        (
            "self.z < timestamp('2021-01-01T00:00:00Z')",
            "Invalid date-time formatted string 2020-01-01T00:00:00.5z: parsing time \"2020-01-01T00:00:00.5z\": \
             extra text: \"z\"",
        ),
    ] {
        assert_eq!(run_on_fractions(source), Err(text.to_owned()), "{source}");
    }
    for source in ["has(self.ios) && has(self.m.k)", "self.l[0] == 'a' && 'a' in self.l && size(self.l) == 2"]
    {
        assert_eq!(run_on_fractions(source), Ok(Answer::Bool(true)), "{source}");
    }
}

#[test]
fn language_evaluates_as_in_cel_go() {
    for source in [
        "1 + 2 * 3 == 7 && -self.n == -3 && 7 / 2 == 3 && 7 % 4 == 3 && 1.0 / 4.0 == 0.25",
        "self.s == 'héllo' && self.s.size() == 5 && size(self.l) == 3 && self.s + '!' == \"héllo!\"",
        "self.n > 2 && self.n >= 3 && self.n < 4 && self.n <= 3 && self.n != 4 && self.n < 3.5",
        "has(self.o.x) && !has(self.o.a__dash__b) == false && !has(self.m.nope) && has(self.m.k)",
        "self.m['k'] == 'v' && self.m.k == 'v' && 'k' in self.m && !('q' in self.m) && 'a' in self.l",
        "self.o.a__dash__b == 'dash' && self.o.x == 7",
        "self.l.all(x, x < 'd') && self.l.exists(x, x == 'b') && self.l.exists_one(x, x == 'c')",
        "self.l.map(x, x + x) == ['aa', 'bb', 'cc'] && self.l.filter(x, x != 'b') == ['a', 'c']",
        "self.ns.map(x, x > 1, x * 10) == [30, 20]",
        "self.m.all(k, self.m[k] != '') && self.m.exists(k, v, k == 'k' && v == 'v')",
        "self.l.transformList(i, v, i > 0, v + string(i)) == ['b1', 'c2']",
        "self.m.transformMap(k, v, k + v) == {'k': 'kv', 'z': 'zw'}",
        "self.l.transformMapEntry(i, v, {v: i}) == {'a': 0, 'b': 1, 'c': 2}",
        "self.b ? true : false",
        "false && self.l[10] == '' || true",
        "!(self.l[10] == '' && false)",
        "[1, 2] + [3] == [1, 2, 3] && {'a': 1}.a == 1",
        "!has(self.nul) && !self.?nul.hasValue() && self.?nul.orValue('d') == 'd'",
        "has(self.namespace) && self.namespace == 'x' && self.__namespace__ == 'x' && self.?namespace.hasValue()",
        "type(self.n) == int && type(1.0) == double && type(self.ios) == string && type('') != int",
        "int('5') + int(2.9) == 7 && double('1.5') == self.d && string(12) == '12' && uint(3) == 3u && bool('true')",
        "string(self.by) == 'ab' && bytes('ab') == self.by && string(1.5) == '1.5'",
        "r'\\d' == '\\\\d' && 'tab\\t' == \"tab\\x09\" && '''a'b''' == 'a\\'b' && b'\\xff'.size() == 1",
        "self.ios.contains('%') && int(self.ios.replace('%', '')) == 80",
        "dyn(1) == 1 && dyn(1u) == 1.0",
        "0x10 == 16 && 1e3 == 1000.0 && .5 == 0.5 && -9223372036854775808 < 0",
    ] {
        holds(source);
    }
}

#[test]
fn timestamps_and_durations_evaluate() {
    for source in [
        "self.t.getFullYear() == 2024 && self.t.getMonth() == 1 && self.t.getDate() == 29 && self.t.getDayOfMonth() == 28",
        "self.t.getHours() == 12 && self.t.getMinutes() == 30 && self.t.getSeconds() == 15 && self.t.getMilliseconds() == 500",
        "self.t.getHours('-02:30') == 10 && self.t.getDayOfWeek() == 4 && self.t.getDayOfYear() == 59",
        "self.du == duration('1h30m') && self.du.getMinutes() == 90 && self.du.getHours() == 1",
        "self.t + duration('1s') > self.t && self.t - timestamp('2024-02-29T12:30:15Z') == duration('500ms')",
        "string(duration('1.5s')) == '1.5s' && string(timestamp('2020-01-01T00:00:00Z')) == '2020-01-01T00:00:00Z'",
        "int(timestamp('1970-01-01T00:01:00Z')) == 60",
    ] {
        holds(source);
    }
}

#[test]
fn extension_functions_evaluate() {
    for source in [
        "self.s.charAt(1) == 'é' && self.s.indexOf('l') == 2 && self.s.lastIndexOf('l') == 3 && 'abc'.indexOf('z') == -1",
        "self.s.substring(1, 3) == 'él' && self.s.upperAscii() == 'HéLLO' && ' x '.trim() == 'x'",
        "'a,b'.split(',') == ['a', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'aaa'.replace('a', 'b', 2) == 'bba'",
        "'%s=%d %.2f %x'.format(['a', dyn(1), dyn(1.5), dyn(255)]) == 'a=1 1.50 ff' && strings.quote('a\"') == '\"a\\\\\"\"'",
        "self.s.matches('^h') && 'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
        "self.s.startsWith('h') && self.s.endsWith('lo') && self.s.contains('éll')",
        "!self.ns.isSorted() && self.ns.sum() == 6 && self.ns.max() == 3 && self.ns.min() == 1 && self.ns.indexOf(1) == 1",
        "self.ns.sort() == [1, 2, 3] && self.l.reverse() == ['c', 'b', 'a'] && [1, 1, 2].distinct() == [1, 2]",
        "self.l.slice(1, 3) == ['b', 'c'] && [[1], [2, 3]].flatten() == [1, 2, 3] && lists.range(3) == [0, 1, 2]",
        "self.l.sortBy(x, x == 'a' ? 9 : 1) == ['b', 'c', 'a'] && self.l.first().value() == 'a'",
        "sets.contains(self.l, ['a']) && sets.equivalent([1, 2], [2, 1, 1]) && sets.intersects([1], [1, 2])",
        "url('https://h:80/p?a=1').getHost() == 'h:80' && url('https://h/p').getEscapedPath() == '/p' && !isURL('../x')",
        "url('https://h/p?a=1&a=2').getQuery() == {'a': ['1', '2']} && url('https://[::1]:1/').getHostname() == '::1'",
        "quantity('1.5Gi').isGreaterThan(quantity('1G')) && quantity('2').add(1) == quantity('3') && isQuantity('1k')",
        "quantity('100m').asApproximateFloat() == 0.1 && quantity('5').asInteger() == 5 && !quantity('0.5').isInteger()",
        "ip('10.0.0.1').family() == 4 && isIP('::1') && !isIP('x') && ip('::1').isLoopback() && ip.isCanonical('::1')",
        "cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && isCIDR('::/0')",
        "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.0/8').prefixLength() == 8",
        "!format.dns1123Label().validate('a').hasValue() && format.named('uuid').value().validate('x').hasValue()",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.2.3').minor() == 2 && isSemver('v1.2', true)",
        "self.?o.x == optional.of(7) && self.m[?'q'] == optional.none() && self.m[?'q'].orValue('d') == 'd'",
        "optional.of(1).optMap(x, x + 1).value() == 2 && optional.none().or(optional.of(1)).hasValue()",
        "optional.unwrap([optional.of(1), optional.none()]) == [1] && [self.?o.x].unwrapOpt() == [7]",
        "[1, ?optional.of(2), ?optional.none()] == [1, 2] && {?'a': optional.of(1)} == {'a': 1}",
        "self.set == ['y', 'x'] && self.set + ['x', 'z'] == ['x', 'y', 'z']",
    ] {
        holds(source);
    }
}

#[test]
fn runtime_errors_have_the_text_of_the_server() {
    for (source, text) in [
        ("self.l[10] == ''", "index out of bounds: 10"),
        ("self.m['nope'] == ''", "no such key: nope"),
        ("!has(dyn(self.l).x)", "unsupported index type 'string' in list"),
        ("self.n / 0 == 1", "division by zero"),
        ("self.n % 0 == 1", "modulus by zero"),
        ("9223372036854775807 + self.n == 0", "integer overflow"),
        ("int('x') == 1", "type conversion error from 'string' to 'int'"),
        ("self.ios < 5", "no such overload"),
        (
            "quantity('x').isInteger()",
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("optional.none().value() == 1", "optional.none() dereference"),
        ("[].max() == 1", "max called on empty list"),
    ] {
        fails(source, text);
    }
}

#[test]
fn compile_errors_have_the_text_of_the_server() {
    let begin = |more: &str| {
        format!(
            "{{'[', '{{', '(',{more} '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, \
             IDENTIFIER}}"
        )
    };
    let (starts, arguments) = (begin(""), begin(" ')',"));
    for (source, place, message) in [
        ("self.s.nope == 1", 7, "type 'string' does not support field selection"),
        ("self.nope == 1", 5, "undefined field 'nope'"),
        ("foo == 1", 1, "undeclared reference to 'foo' (in container '')"),
        ("self.s == 1", 8, "found no matching overload for '_==_' applied to '(string, int)'"),
        ("self.s.size(1) == 1", 12, "found no matching overload for 'size' applied to 'string.(int)'"),
        ("self.s.frob()", 12, "undeclared reference to 'frob' (in container '')"),
        ("self.n && true", 5, "expected type 'bool' but found 'int'"),
        ("[1, 'a'] == []", 5, "expected type 'int' but found 'string'"),
        (
            "self.n.all(x, true)",
            5,
            "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("self.s.matches('(')", 16, "invalid matches argument"),
        ("self.", 6, "Syntax error: no viable alternative at input '.'"),
        ("[1, 2", 6, "Syntax error: mismatched input '<EOF>' expecting {']', ','}"),
        ("{'a': 1", 8, "Syntax error: mismatched input '<EOF>' expecting {'}', ','}"),
        ("{'a': 1,", 9, "Syntax error: missing '}' at '<EOF>'"),
        ("self.a[1 2]", 10, "Syntax error: extraneous input '2' expecting ']'"),
        ("[1 2]", 4, "Syntax error: extraneous input '2' expecting {']', ','}"),
        ("[1,,2]", 4, "Syntax error: mismatched input ',' expecting ']'"),
        ("{'a': 1,,}", 9, "Syntax error: extraneous input ',' expecting '}'"),
        ("{'a' 1}", 6, "Syntax error: missing ':' at '1'"),
        ("size(,)", 6, &format!("Syntax error: extraneous input ',' expecting {arguments}")),
        ("!", 2, &format!("Syntax error: extraneous input '<EOF>' expecting {starts}")),
        ("!)", 2, &format!("Syntax error: extraneous input ')' expecting {starts}")),
        ("- ", 3, "Syntax error: no viable alternative at input '- '"),
        ("-)", 2, "Syntax error: no viable alternative at input '-)'"),
        ("size(self", 10, "Syntax error: missing ')' at '<EOF>'"),
        ("self.a[1", 9, "Syntax error: missing ']' at '<EOF>'"),
        (
            "self.a[",
            8,
            "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', \
             NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        ),
        ("self.n == 1 1", 13, "Syntax error: extraneous input '1' expecting <EOF>"),
        ("has(self)", 5, "invalid argument to has() macro"),
        ("for == 1", 1, "reserved identifier: for"),
    ] {
        let marks = ".".repeat(place - 1);
        fails(source, &format!("ERROR: <input>:1:{place}: {message}\n | {source}\n | {marks}^"));
    }
    fails(
        "self.s = 'x'",
        "ERROR: <input>:1:8: Syntax error: token recognition error at: '= '\n | self.s = 'x'\n | .......^\n\
         ERROR: <input>:1:10: Syntax error: extraneous input ''x'' expecting <EOF>\n | self.s = 'x'\n | .........^",
    );
    fails(
        "a == 1 ||\n b == 2",
        "ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a == 1 ||\n | ^\n\
         ERROR: <input>:2:2: undeclared reference to 'b' (in container '')\n |  b == 2\n | .^",
    );
}

#[test]
fn evaluation_stops_at_the_cost_limit() {
    let list: Vec<i64> = (0..2000).collect();
    let schema = schema(json!({"ns": {"type": "array", "items": {"type": "integer"}}}));
    let object = json!({"ns": list});
    let source = "self.ns.all(x, self.ns.all(y, x + y >= 0))";
    let program = compile(source, &decl(&schema), OldSelf::Plain).unwrap();
    let variables =
        Variables::new(&Activation { schema: &schema, is_resource: false, object: &object, old: None });
    let (answer, cost) = program.run(&variables, OldSelf::Plain, PER_CALL_LIMIT);
    assert_eq!(answer, Err(EvalError::CostExceeded));
    assert!(cost > PER_CALL_LIMIT && cost < PER_CALL_LIMIT + 100);
}

#[test]
fn hostile_expressions_are_refused() {
    let d = decl(&everything());
    for source in [
        "(".repeat(10_000),
        format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000)),
        format!("{}true", "!".repeat(50_000)),
        format!("{}1 == 1", "-".repeat(50_000)),
        format!("1{} > 0", " + 1".repeat(20_000)),
        format!("self{}", ".a".repeat(20_000)),
        "x".repeat(200_000),
        format!("true{}", " ? true : true".repeat(5_000)),
        format!("true{}", " || true".repeat(10_000)),
        format!("1{} > 0", " + 1".repeat(240)),
        format!("{}1{} == 1", "(".repeat(79), ")".repeat(79)),
        "'".to_owned(),
        "\"\\".to_owned(),
        "\u{0}".to_owned(),
        "self.s.matches('((a{1000}){1000}){1000}')".to_owned(),
    ] {
        // Only that it ends, and does not take the stack, matters.
        if let Ok(program) = compile(&source, &d, OldSelf::Plain) {
            let (schema, object) = (everything(), sample());
            let activation = Activation { schema: &schema, is_resource: false, object: &object, old: None };
            let _ = program.run(&Variables::new(&activation), OldSelf::Plain, PER_CALL_LIMIT);
        }
    }
}

proptest::proptest! {
    #[test]
    fn compiler_does_not_panic_on_any_text(source in "[a-z0-9(){}\\[\\].?:+*/%<>=!&| '\"\\\\,_-]{0,60}") {
        let schema = everything();
        if let Ok(program) = compile(&source, &decl(&schema), OldSelf::Plain) {
            let object = sample();
            let activation = Activation { schema: &schema, is_resource: false, object: &object, old: None };
            let _ = program.run(&Variables::new(&activation), OldSelf::Plain, 10_000);
        }
    }
}

#[track_caller]
fn refused(source: &str, text: &str) {
    let found = run(source).unwrap_err();
    assert!(found.starts_with("ERROR") && found.contains(text), "{source}: {found}");
}

#[test]
fn format_string_is_checked_with_its_arguments() {
    refused(
        "'%d'.format(['a']) == ''",
        "1:14: error during formatting: decimal clause can only be used on integers, was given string",
    );
    refused("'%s'.format([self.o]) == ''", "was given self.o");
    refused("'%s %s'.format([1]) == ''", "index 1 out of range");
    refused("'a'.format([1]) == ''", "too many arguments supplied to string.format (expected 0, got 1)");
    holds("'%s'.format([[1, 'a', {'b': 2.5}]]) == '[1, \"a\", {\"b\":2.500000}]'");
    holds("'%s %d'.format([self.s, self.n]) == 'héllo 3' && (self.s + '%s').format([1, 2]) == 'héllo1'");
}

#[test]
fn literals_are_checked_after_types() {
    refused("{?'a': dyn(1)} == {}", "1:11: optional element of type 'dyn', on which kube-apiserver panics");
    refused("[?dyn(1)] == []", "optional element of type 'dyn'");
    refused("[dyn(1), 'a'] == []", "1:10: expected type 'dyn' but found 'string'");
    refused("[duration('1s'), null] == []", "expected type 'duration' but found 'null'");
    refused("size({'a': 1, 'b': 'c'}) == 1", "expected type 'int' but found 'string'");
    refused("timestamp(253402300800) == timestamp(0)", "invalid timestamp argument");
    refused("matches('(', 'a')", "invalid matches argument");
    refused("[1, 'a'].nope() && self.nope", "undefined field 'nope'");
}

#[test]
fn string_functions_evaluate_at_their_limits() {
    holds("'abc'.indexOf('', 9) == 9 && 'abc'.lastIndexOf('', 9) == 9 && ''.lastIndexOf('') == 0");
    holds("'abcabc'.lastIndexOf('abc', 5) == 3 && 'abcabc'.lastIndexOf('abc', 6) == -1");
    holds("'abc'.indexOf('xxxx', 9) == -1 && 'hé😀l'.indexOf('l', 2) == 3");
    fails("'abc'.indexOf('a', -1) == 0", "index out of range: -1");
    holds(r#"strings.quote('a"\u200b\u0001') == '"a\\"\u200b\u0001"'"#);
}

#[test]
fn timestamps_evaluate_as_in_go() {
    holds("timestamp('9999-12-31T23:59:59Z').getFullYear() == 9999 && timestamp(253402300799) > self.t");
    holds("string(timestamp('2024-01-01T00:00:00+02:00')) == '2024-01-01T00:00:00+02:00'");
    holds("timestamp('2024-01-01T00:00:00+02:00') == timestamp('2023-12-31T22:00:00Z')");
    holds("int(timestamp('1969-12-31T23:59:59.5Z')) == -1 && self.t.getHours('100:00') == 16");
    holds("self.t.getHours('Local') == 12 && self.t.getMinutes('-01:30') == 0");
    holds("optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')) == optional.none()");
    holds("string(duration('9223372036854775807ns')) == '9223372036.854776s'");
    fails("self.t.getHours('a:b') == 1", "strconv.Atoi: parsing \"a\": invalid syntax");
    fails(
        "timestamp(self.s) == self.t",
        "type conversion error from 'string' to 'google.protobuf.Timestamp'",
    );
    fails("duration(self.s) == self.du", "type conversion error from 'string' to 'google.protobuf.Duration'");
    fails("timestamp('0001-01-01T00:00:00Z') - duration('1s') < self.t", "timestamp overflow");
    fails("duration('9223372036854775807ns') + duration('1ns') == self.du", "integer overflow");
    refused("duration(5) == self.du", "invalid duration argument");
}

#[test]
fn numbers_and_lists_evaluate_at_their_limits() {
    fails("self.d < 0.0 / 0.0", "NaN values cannot be ordered");
    fails("dyn(0.0 / 0.0) >= 1", "NaN values cannot be ordered");
    holds("[1.0, 0.0 / 0.0].max() == 1.0 && lists.range(-1) == []");
    fails("uint('+1') == 1u", "type conversion error from 'string' to 'uint'");
    fails("double('1e400') == 1.0", "type conversion error from 'string' to 'double'");
    fails("[1].slice(1, 0) == []", "cannot slice(1, 0), start index must be less than or equal to end index");
    fails("[1].slice(-1, 0) == []", "cannot slice(-1, 0), negative indexes not supported");
    holds("optional.ofNonZeroValue(optional.none()).hasValue()");
    fails("[dyn(optional.of(1)), dyn('a')].unwrapOpt() == [1]", "value a is not optional");
    holds("self.set == ['y', 'x'] && self.set == ['x', 'x'] && ['y', 'x'] != self.set");
    holds("type(self.o) == map");
}

#[test]
fn invalid_literal_is_reported_once() {
    for (source, fault) in [
        ("1e400 == 1.0", "1:1: invalid double literal"),
        ("9223372036854775809 == 1", "1:1: invalid int literal"),
        ("18446744073709551616u == 1u", "1:1: invalid uint literal"),
        ("b'\\u00ff' == b''", "1:1: unable to unescape string"),
        ("'\\ud800' == ''", "1:1: invalid unicode code point"),
        ("rb'a' == b''", "Syntax error"),
        ("0XfF == 1", "Syntax error"),
    ] {
        refused(source, fault);
        assert_eq!(run(source).unwrap_err().matches("ERROR").count(), 1, "{source}");
    }
    holds("br'\\x' == b'\\\\x' && 0xfF == 255 && b'\\xff\\377'.size() == 2");
}

#[test]
fn unknown_names_are_refused() {
    refused("[1].existsOne(x, x == 1)", "undeclared reference to 'existsOne'");
    refused("[1].all(x, x, true)", "1:12: duplicate variable name: x");
    refused("[1].all(__result__, true)", "iteration variable overwrites accumulator variable");
    refused("self.`s` == ''", "1:6: unsupported syntax: '`'");
    holds("[1].existsOne(i, x, x == 1)");
    holds("type(self.t) == google.protobuf.Timestamp && type(self.du) == google.protobuf.Duration");
    refused("google.protobuf.Nope == 1", "undeclared reference to 'google'");
}

#[test]
fn list_functions_cost_by_size() {
    let schema = schema(json!({
        "l": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
        "ns": {"type": "array", "items": {"type": "integer"}, "maxItems": 10}
    }));
    let object = json!({"l": ["a", "b", "c"], "ns": [3, 1, 2]});
    let activation = Activation { schema: &schema, is_resource: false, object: &object, old: None };
    let variables = Variables::new(&activation);
    for (source, greatest, actual) in [
        ("self.ns.sort()", 213, 31),
        ("self.l.sort()", 223, 31),
        ("self.ns.distinct()", 213, 31),
        ("self.ns.reverse()", 23, 16),
        ("self.ns.slice(1, 3)", 15, 15),
        ("lists.range(3)", 14, 14),
        ("sets.contains(self.ns, self.ns)", 105, 14),
        ("sets.equivalent(self.ns, self.ns)", 205, 23),
    ] {
        let program = compile(source, &decl(&schema), OldSelf::Plain).unwrap();
        let found = program.run(&variables, OldSelf::Plain, PER_CALL_LIMIT).1;
        assert_eq!((program.max_cost(), found), (greatest, actual), "{source}");
    }
}
