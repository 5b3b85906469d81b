//! Decodes bodies in JSON and YAML, and finds duplicate fields.

use std::collections::BTreeMap;

use bytes::Bytes;
use kubesmith_apimachinery::decode::{Observer, Step, read};
use kubesmith_apimachinery::golang::{self, json_error, json_number_error};
use serde_json::Value;

/// A decoded body.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) value: Value,
    /// The members that occur more than once; the last one counts.
    pub(crate) duplicates: Duplicates,
}

/// Faults of members that occur more than once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Duplicates {
    faults: Vec<String>,
    yaml: bool,
    /// The body, for the order of its members.
    body: Bytes,
}

impl Duplicates {
    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Returns these with the body, which [`order`](Self::order) needs.
    pub(crate) fn of_body(self, body: &Bytes) -> Self {
        Self { body: body.clone(), ..self }
    }

    /// Sorts paths of members by their order in the body, in which Go's decoder finds them.
    pub(crate) fn order(&self, paths: &mut [String]) {
        paths.sort();
        if paths.len() < 2 || self.body.is_empty() {
            return;
        }
        let mut members = Members::default();
        let text = std::str::from_utf8(&self.body).ok().filter(|_| self.yaml);
        // The body was decoded before; if that fails now, no order is known.
        let is_read = match text {
            Some(text) => first(text).is_none_or(|document| read(document, Some(text), &mut members).is_ok()),
            None => read(&mut serde_json::Deserializer::from_slice(&self.body), None, &mut members).is_ok(),
        };
        if is_read {
            let members = members.0;
            let places: BTreeMap<&String, usize> =
                members.iter().enumerate().rev().map(|(place, path)| (path, place)).collect();
            paths.sort_by_key(|path| places.get(path).copied());
        }
    }

    /// Returns these without the faults of unknown members of a body: Go's decoder skips those (`object` of
    /// kube-openapi's and sigs.k8s.io/json's decoders).
    pub(crate) fn of_known(&self, unknown: &[String]) -> Self {
        let is_in = |fault: &String| {
            let path = fault.strip_prefix("duplicate field \"").unwrap_or_default();
            let after = |name: &String| path.strip_prefix(name.as_str());
            unknown.iter().filter_map(after).any(|rest| rest.starts_with(['"', '.', '[']))
        };
        let mut known = self.clone();
        if !self.body.is_empty() {
            known.faults.retain(|fault| !is_in(fault));
        }
        known
    }

    /// Returns the faults one by one, as warnings list them.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.faults.clone()
    }

    /// Returns the faults as an error lists them: goyaml reports all of its own as one.
    pub(crate) fn errors(&self) -> Vec<String> {
        if !self.yaml || self.faults.is_empty() {
            return self.faults.clone();
        }
        vec![format!("yaml: unmarshal errors:\n  {}", self.faults.join("\n  "))]
    }
}

/// Decodes JSON; the parser limits nesting.
///
/// # Errors
/// Returns the parser's error.
pub(crate) fn json(body: &[u8]) -> Result<Decoded, String> {
    json_as(body, Form::Json)
}

/// Decodes a JSON patch as a list of Go's `jsonPatchOp`, with unknown members of operations among the faults (`applyJSPatch` of
/// endpoints/handlers/patch.go).
///
/// # Errors
/// Returns the parser's error, or that of the first member with a wrong type.
pub(crate) fn json_patch(body: &[u8]) -> Result<Decoded, String> {
    let decoded = json_as(body, Form::JsonPatch)?;
    let Value::Array(operations) = &decoded.value else { return Ok(decoded) };
    for operation in operations {
        match operation {
            Value::Object(members) => {
                let mut typed = OPERATION_TEXTS.iter().filter_map(|name| Some((name, members.get(*name)?)));
                if let Some((name, value)) = typed.find(|(_, value)| !value.is_string() && !value.is_null()) {
                    let of = golang::json_type(value);
                    return Err(format!(
                        "json: cannot unmarshal {of} into Go struct field jsonPatchOp.{name} of type string"
                    ));
                }
            }
            Value::Null => {}
            other => return Err(golang::cannot_unmarshal(other, "handlers.jsonPatchOp")),
        }
    }
    Ok(decoded)
}

/// The members of a JSON patch's operation that are texts.
const OPERATION_TEXTS: [&str; 3] = ["op", "path", "from"];

fn json_as(body: &[u8], form: Form) -> Result<Decoded, String> {
    parsed(body, form)
        .or_else(|fault| without_half_pairs(body).map_or(Err(fault), |whole| parsed(&whole, form)))
}

fn parsed(body: &[u8], form: Form) -> Result<Decoded, String> {
    let mut repeated = Repeated::new(form);
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let go = |e: serde_json::Error| {
        json_error(body).or_else(|| json_number_error(body)).unwrap_or_else(|| e.to_string())
    };
    let value = read(&mut deserializer, None, &mut repeated).map_err(go)?;
    deserializer.end().map_err(go)?;
    let faults = repeated.faults.into_iter().map(|fault| fault.text).collect();
    Ok(Decoded { value, duplicates: Duplicates { faults, ..Duplicates::default() } })
}

/// Replaces halves of surrogate pairs as Go does (`unquote` of encoding/json); `None` if there are none.
fn without_half_pairs(body: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| {
        let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut whole, mut at, mut found) = (Vec::with_capacity(body.len()), 0, false);
    while let Some(byte) = body.get(at) {
        let length = match (unit(at), *byte) {
            (Some(0xd800..=0xdbff), _) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                whole.extend_from_slice(b"\\ufffd");
                (at, found) = (at + 6, true);
                continue;
            }
            (None, b'\\') => 2,
            _ => 1,
        };
        whole.extend(body[at..].iter().take(length));
        at += length;
    }
    found.then_some(whole)
}

/// Decodes the first YAML document, as YAML 1.1 like kube-apiserver's goyaml.
///
/// # Errors
/// Returns the parser's error.
pub(crate) fn yaml(body: &[u8]) -> Result<Decoded, String> {
    let text = std::str::from_utf8(body).map_err(|e| format!("yaml: invalid UTF-8: {e}"))?;
    if open_brackets(body) > YAML_OPEN_BRACKETS {
        return Err("error converting YAML to JSON: yaml: exceeded max depth of 10000".to_owned());
    }
    let mut repeated = Repeated::new(Form::Yaml);
    let value = first(text).map_or(Ok(Value::Null), |document| read(document, Some(text), &mut repeated));
    let value = value.map_err(|e| format!("error converting YAML to JSON: {}", goyaml(text, &e)))?;
    let faults = with_lines(text, repeated.faults);
    Ok(Decoded { value, duplicates: Duplicates { faults, yaml: true, body: Bytes::new() } })
}

/// A member that occurs more than once.
struct Fault {
    /// The start of its key in YAML; unknown for quoted keys with escapes.
    offset: Option<usize>,
    text: String,
}

/// Returns the faults with their lines, which are counted in one pass over the text.
fn with_lines(source: &str, mut faults: Vec<Fault>) -> Vec<String> {
    faults.sort_by_key(|fault| fault.offset);
    let (mut line, mut counted) = (1, 0);
    let mut numbered = |fault: Fault| {
        let Some(offset) = fault.offset else { return fault.text };
        line += source.get(counted..offset).map_or(0, |text| text.matches('\n').count());
        counted = offset;
        format!("line {line}: {}", fault.text)
    };
    faults.drain(..).map(&mut numbered).collect()
}

/// Returns the first document of a text; goyaml's `Unmarshal` ignores the others.
fn first(text: &str) -> Option<serde_yaml::Deserializer<'_>> {
    serde_yaml::Deserializer::from_str(text).next()
}

/// Returns the error in goyaml's words, whose parser serde_yaml shares (`fail` of goyaml's decode.go).
fn goyaml(source: &str, error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    if let Some(anchor) = alias(source).filter(|_| text == "recursion limit exceeded") {
        return format!("yaml: anchor '{anchor}' value contains itself");
    }
    match error.location().map(|at| at.line()) {
        Some(line @ 2..) => format!("yaml: line {line}: {text}"),
        _ => format!("yaml: {text}"),
    }
}

/// Returns the name of the first alias whose anchor precedes it.
fn alias(source: &str) -> Option<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let names = source.match_indices('*').map(|(at, _)| {
        let rest = &source[at + 1..];
        (at, &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())])
    });
    let mut known = names.filter(|(at, name)| {
        !name.is_empty()
            && source[..*at]
                .split('&')
                .skip(1)
                .any(|rest| rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_name)))
    });
    known.next().map(|(_, name)| name)
}

/// The limit of open brackets, as the YAML parser's time is quadratic in them.
const YAML_OPEN_BRACKETS: usize = 2_000;

/// Returns the largest number of brackets open at once, anywhere in the text.
fn open_brackets(text: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// The kind of a body.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Json,
    JsonPatch,
    Yaml,
}

/// Collects the members that occur more than once, and the unknown ones of a JSON patch.
struct Repeated {
    faults: Vec<Fault>,
    form: Form,
}

impl Repeated {
    fn new(form: Form) -> Self {
        Self { faults: Vec::new(), form }
    }

    /// Whether the path leads to, or into, a member that operations of a JSON patch do not have.
    fn is_unknown(&self, path: &[Step]) -> bool {
        let is_known = |name: &str| name == "value" || OPERATION_TEXTS.contains(&name);
        self.form == Form::JsonPatch
            && matches!(path, [Step::Item(_), Step::Member(name), ..] if !is_known(name))
    }

    fn add(&mut self, offset: Option<usize>, fault: &str, path: &[Step]) {
        let prefix = if self.form == Form::JsonPatch { "json patch " } else { "" };
        let text = format!("{prefix}{fault} field {}", golang::quote(&path_text(path)));
        self.faults.push(Fault { offset, text });
    }
}

impl Observer for Repeated {
    fn member(&mut self, path: &[Step]) {
        if path.len() == 2 && self.is_unknown(path) {
            self.add(None, "unknown", path);
        }
    }

    fn duplicate(&mut self, path: &[Step], offset: Option<usize>) -> Result<(), &'static str> {
        match path.last() {
            Some(Step::Member(name)) if self.form == Form::Yaml => {
                let text = format!("key {} already set in map", golang::quote(name));
                self.faults.push(Fault { offset, text });
            }
            _ if self.is_unknown(path) => {}
            _ => self.add(offset, "duplicate", path),
        }
        Ok(())
    }
}

/// Collects the paths of all members in their order.
#[derive(Default)]
struct Members(Vec<String>);

impl Observer for Members {
    fn member(&mut self, path: &[Step]) {
        self.0.push(path_text(path));
    }
}

/// `spec.containers[0].name`.
fn path_text(path: &[Step]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Member(name) if out.is_empty() => out.push_str(name),
            Step::Member(name) => out.extend([".", name]),
            Step::Item(at) => out.push_str(&format!("[{at}]")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn repeated_members_are_reported_by_path() {
        let decoded = json(br#"{"a":1,"b":[{"c":1,"c":2}],"a":3}"#).unwrap();
        assert_eq!(decoded.value, json!({"a": 3, "b": [{"c": 2}]}));
        assert_eq!(decoded.duplicates.errors(), [r#"duplicate field "b[0].c""#, r#"duplicate field "a""#]);
        let decoded = yaml(b"a: 1\nb:\n  - c: 1\n    c: 2\na: 3\n").unwrap();
        let lines = [r#"line 4: key "c" already set in map"#, r#"line 5: key "a" already set in map"#];
        assert_eq!(decoded.duplicates.warnings(), lines);
        assert_eq!(
            decoded.duplicates.errors(),
            [format!("yaml: unmarshal errors:\n  {}\n  {}", lines[0], lines[1])]
        );
    }

    #[test]
    fn json_patch_is_a_list_of_operations() {
        let decoded = json_patch(br#"[{"OP":"x","op":"add","path":"/a","value":{"b":1,"b":2},"path":"/c"}]"#);
        let faults = [
            r#"json patch unknown field "[0].OP""#,
            r#"json patch duplicate field "[0].value.b""#,
            r#"json patch duplicate field "[0].path""#,
        ];
        assert_eq!(decoded.unwrap().duplicates.errors(), faults);
        assert_eq!(
            json_patch(br#"[null, {"op": 1}]"#).unwrap_err(),
            "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"
        );
        assert_eq!(
            json_patch(br#"["fly"]"#).unwrap_err(),
            "json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"
        );
    }

    #[test]
    fn half_of_a_surrogate_pair_is_replaced() {
        let text = |body: &[u8]| json(body).unwrap().value;
        assert_eq!(text(br#""\ud800""#), json!("\u{fffd}"));
        assert_eq!(text(br#""\ud800\ud83d\ude00\uDC00x""#), json!("\u{fffd}\u{1f600}\u{fffd}x"));
        assert_eq!(
            text(br#"["\\ud800", "\ud83d\n", "\uD83D\u0041"]"#),
            json!(["\\ud800", "\u{fffd}\n", "\u{fffd}A"])
        );
        assert!(json(br#""\ud800\u12""#).is_err());
    }

    #[test]
    fn first_of_several_yaml_documents_is_read() {
        assert_eq!(yaml(b"a: 1\n---\nb: [\n").unwrap().value, json!({"a": 1}));
        assert_eq!(yaml(b"").unwrap().value, Value::Null);
    }

    #[test]
    fn number_beyond_floats_is_named() {
        let fault = json(b"{\"a\": 1e400}").unwrap_err();
        assert_eq!(fault, "json: cannot unmarshal number 1e400 into Go value of type float64");
    }

    #[test]
    fn yaml_becomes_json() {
        let decoded = yaml(b"a: 1\nb: [x, 2.5, true, null]\n1: one\n").unwrap();
        assert_eq!(decoded.value, json!({"a": 1, "b": ["x", 2.5, true, null], "1": "one"}));
    }

    #[test]
    fn yaml_scalars_decode_as_in_goyaml() {
        let decoded = yaml(
            b"a: yes\nb: 'yes'\nc: 0777\nd: \"0777\"\ne: 1_000\nf: 1e3\ng: !!str on\nh: 2001-01-01\ni: 1.0\n\
              on: [n, N, off]\n0x10: [18446744073709551616]\n'y': ~\n",
        );
        let expected = json!({
            "a": true, "b": "yes", "c": 511, "d": "0777", "e": 1000, "f": 1000, "g": "on", "h": "2001-01-01", "i": 1,
            "true": [false, false, false], "16": [18_446_744_073_709_551_616.0], "y": null,
        });
        assert_eq!(decoded.unwrap().value, expected);
        assert_eq!(json(br#"{"a":"yes","<<":{"b":"0777"},"c":1.0}"#).unwrap().value["a"], json!("yes"));
    }

    #[test]
    fn yaml_merge_keys_decode_as_in_goyaml() {
        let decoded = yaml(
            b"x: &x {a: 1, b: 1}\nw: &w {b: 2, c: 2}\none: {<<: *x, b: 3}\nmany: {c: 0, <<: [*x, *w]}\n'<<': 1\n",
        );
        let expected = json!({
            "x": {"a": 1, "b": 1}, "w": {"b": 2, "c": 2}, "one": {"a": 1, "b": 3}, "many": {"a": 1, "b": 1, "c": 2},
            "<<": 1,
        });
        assert_eq!(decoded.unwrap().value, expected);
        assert!(yaml(b"<<: 1").is_err());
        assert!(yaml(b"<<: [1]").is_err());
    }

    #[test]
    fn hostile_text_is_an_error() {
        assert!(json(b"").is_err());
        assert!(json(b"{} {}").is_err());
        assert!(json(&b"[".repeat(100_000)).is_err());
        assert!(json(b"\"\xff\"").is_err());
        let looped = yaml(b"a: &a\n  b: {c: *a}\n").unwrap_err();
        assert_eq!(looped, "error converting YAML to JSON: yaml: anchor 'a' value contains itself");
        assert!(yaml(b"\xff").is_err());
        assert!(yaml(&b"[".repeat(1_000_000)).is_err());
        assert!(yaml(&b"[".repeat(1_500)).is_err());
        assert!(yaml(b"a: .inf").is_err());
        let bomb = "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n\
                    d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n\
                    g: &g [*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g]\n";
        assert!(yaml(bomb.as_bytes()).is_err());
    }
}
