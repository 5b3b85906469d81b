//! `#[policy(...)]`
//!
//! Most keys are fields of the API with names in Rust's case. So the model is the spec itself, and an API
//! server's checks apply to it unchanged. [`PolicyAttrs::places`] maps the paths in their causes to the
//! source.

use heck::ToLowerCamelCase as _;
use proc_macro2::Span;
use serde_json::{Map, Value as JsonValue, json};

use super::EntryValue;
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Json, Parsed, Spanned};
use crate::names::dns_subdomain;

/// Repeatable keys, with their lists in the spec.
const LISTS: [(&str, &str); 5] = [
    ("validation", "validations"),
    ("variable", "variables"),
    ("match_condition", "matchConditions"),
    ("audit_annotation", "auditAnnotations"),
    ("mutation", "mutations"),
];

/// The values of one `#[policy(...)]`.
#[derive(Clone, Debug)]
pub struct PolicyAttrs {
    /// The attribute.
    pub span: Span,
    /// Name of the policy.
    pub name: Spanned<String>,
    /// Whether it is a MutatingAdmissionPolicy.
    pub mutating: bool,
    /// Operations in the API's spelling; empty: the default ones.
    pub operations: Vec<String>,
    /// API groups; empty: the kind's.
    pub groups: Vec<String>,
    /// API versions; empty: the kind's.
    pub versions: Vec<String>,
    /// Resources; empty: the kind's.
    pub resources: Vec<String>,
    /// The spec as in the API, without the rule that selects its requests.
    pub spec: JsonValue,
    /// An object to merge over the whole spec.
    pub patch: Option<Spanned<Json>>,
    /// The bindings; by default, the usual one.
    pub bindings: Vec<PolicyBinding>,
    /// Places of values by their paths in the policy, such as `spec.validations[0].expression`.
    pub places: Vec<(String, Span)>,
}

/// The binding of a policy.
#[derive(Clone, Debug)]
pub struct PolicyBinding {
    /// Its place; that of the policy's name for the usual one.
    pub span: Span,
    /// Its name.
    pub name: Spanned<String>,
    /// Its spec, without the name of the policy.
    pub spec: JsonValue,
}

impl PolicyAttrs {
    /// Takes the values out of one attribute and checks them; `None` after a diagnostic about an error too
    /// severe to continue.
    pub fn from_parsed(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Option<Self> {
        let span = parsed.span?;
        // The invalid entry has been reported. Its absence is not another error.
        if !parsed.meant.is_empty() || parsed.entries.iter().any(is_wrong) {
            return None;
        }
        let name = parsed.get("name").and_then(EntryValue::string)?;
        let strings = |key: &str| -> Vec<String> {
            let all = parsed.get(key).map(EntryValue::strings).unwrap_or_default();
            all.into_iter().map(|text| text.value).collect()
        };
        let mutating = is_mutating(parsed, span, diagnostics)?;
        let mut spec = Spec::default();
        for (key, list) in LISTS {
            spec.list(parsed, key, list, diagnostics)?;
        }
        spec.object(parsed, "param_kind");
        spec.text(parsed, "failure_policy");
        if mutating {
            spec.object.insert("reinvocationPolicy".to_owned(), json!("Never"));
            spec.text(parsed, "reinvocation_policy");
        }
        if let Some(policy) = parsed.get("match_policy").and_then(EntryValue::string) {
            spec.object.insert("matchConstraints".to_owned(), json!({"matchPolicy": policy.value}));
        }
        const RULE: [(&str, &str); 4] = [
            ("verbs", "operations"),
            ("groups", "apiGroups"),
            ("versions", "apiVersions"),
            ("resources", "resources"),
        ];
        for (key, field) in RULE {
            let entry = parsed.get(key).map(|entry| entry.span);
            // Some causes of kube-apiserver have no index.
            let paths =
                ["[0]", ""].map(|index| format!("spec.matchConstraints.resourceRules{index}.{field}"));
            spec.places.extend(entry.into_iter().flat_map(|span| paths.clone().map(|path| (path, span))));
        }
        let core = |group: String| if group == "core" { String::new() } else { group };
        let out = Self {
            span,
            mutating,
            operations: strings("verbs").iter().map(|verb| verb.to_uppercase()).collect(),
            groups: strings("groups").into_iter().map(core).collect(),
            versions: strings("versions"),
            resources: strings("resources"),
            spec: JsonValue::Object(spec.object),
            patch: patch(parsed, diagnostics)?,
            bindings: bindings(parsed, &name, mutating, diagnostics)?,
            places: spec.places,
            name,
        };
        out.check_names(diagnostics);
        Some(out)
    }

    fn check_names(&self, diagnostics: &mut Diagnostics) {
        let bindings = self.bindings.iter().map(|binding| ("binding", &binding.name));
        let bindings = bindings.filter(|(_, name)| **name != self.name);
        for (what, name) in std::iter::once(("policy", &self.name)).chain(bindings) {
            if let Err(error) = dns_subdomain(&name.value) {
                let message = format!("invalid name of a {what} {:?}: {error}", name.value);
                let diagnostic = Diagnostic::error(Code::POLICY, name.span, message);
                diagnostics.push(diagnostic.help("names look like this: \"widgets.example.com\""));
            }
        }
    }
}

fn is_wrong(entry: &Entry) -> bool {
    entry.given().is_none() || entry.nested().iter().any(is_wrong)
}

/// Whether the policy mutates: it has mutations, or else validations or annotations.
fn is_mutating(parsed: &Parsed, span: Span, diagnostics: &mut Diagnostics) -> Option<bool> {
    let (mutation, validation) =
        (parsed.given("mutation"), parsed.given("validation").or(parsed.given("audit_annotation")));
    let again = parsed.get("reinvocation_policy");
    match (mutation, validation) {
        (Some(mutation), Some(validation)) => {
            let message = "a policy either validates or mutates";
            diagnostics.push(
                Diagnostic::error(Code::CONTRADICTION, mutation, message)
                    .secondary(validation, "it validates here")
                    .help("write two policies"),
            );
            None
        }
        (None, None) => {
            let message = "the policy has no rules";
            let help = "add validation(expression = \"...\"), audit_annotation(...) or mutation(...)";
            diagnostics.push(Diagnostic::error(Code::MISSING_KEY, span, message).help(help));
            None
        }
        (None, Some(_)) if again.is_some() => {
            let span = again.map_or(span, |again| again.span);
            let message = "`reinvocation_policy` has no effect on a policy that validates";
            diagnostics.push(Diagnostic::error(Code::CONTRADICTION, span, message).help("remove it"));
            None
        }
        (mutation, _) => Some(mutation.is_some()),
    }
}

/// A spec being read.
#[derive(Default)]
struct Spec {
    object: Map<String, JsonValue>,
    places: Vec<(String, Span)>,
}

impl Spec {
    /// The entries of a repeatable key; `None` after a diagnostic.
    fn list(&mut self, parsed: &Parsed, key: &str, list: &str, diagnostics: &mut Diagnostics) -> Option<()> {
        let mut items = Vec::new();
        for entry in parsed.entries.iter().filter(|entry| entry.key.name == key) {
            let path = format!("spec.{list}[{}]", items.len());
            self.places.push((path.clone(), entry.span));
            items.push(match key {
                "mutation" => self.mutation(entry, &path, diagnostics)?,
                _ => self.fields(entry, &path),
            });
        }
        if !items.is_empty() {
            self.object.insert(list.to_owned(), JsonValue::Array(items));
        }
        Some(())
    }

    fn object(&mut self, parsed: &Parsed, key: &str) {
        let Some(entry) = parsed.get(key) else { return };
        let name = key.to_lower_camel_case();
        let path = format!("spec.{name}");
        self.places.push((path.clone(), entry.span));
        let value = self.fields(entry, &path);
        self.object.insert(name, value);
    }

    fn text(&mut self, parsed: &Parsed, key: &str) {
        if let Some(text) = parsed.get(key).and_then(EntryValue::string) {
            self.object.insert(key.to_lower_camel_case(), text.value.into());
        }
    }

    /// The keys in parentheses as fields of the API.
    fn fields(&mut self, entry: &Entry, path: &str) -> JsonValue {
        let texts = entry.nested().iter().filter_map(|inner| Some((inner.key.name, inner.string()?)));
        let fields = texts.map(|(key, text)| {
            let name = key.to_lower_camel_case();
            self.places.push((format!("{path}.{name}"), text.span));
            (name, text.value.into())
        });
        JsonValue::Object(fields.collect())
    }

    fn mutation(&mut self, entry: &Entry, path: &str, diagnostics: &mut Diagnostics) -> Option<JsonValue> {
        let [only] = entry.nested() else {
            let message = "a mutation is one apply configuration or one JSON patch";
            let diagnostic = Diagnostic::error(Code::CONTRADICTION, entry.span, message);
            diagnostics.push(diagnostic.help("write one `mutation` for each; they are applied in order"));
            return None;
        };
        let source = only.string()?;
        let (kind, field) = match only.key.name {
            "json_patch" => ("JSONPatch", "jsonPatch"),
            _ => ("ApplyConfiguration", "applyConfiguration"),
        };
        self.places.push((format!("{path}.{field}.expression"), source.span));
        Some(json!({"patchType": kind, field: {"expression": source.value}}))
    }
}

/// The object to merge; the outer `None` follows a diagnostic.
fn patch(parsed: &Parsed, diagnostics: &mut Diagnostics) -> Option<Option<Spanned<Json>>> {
    parsed.get("patch").map_or(Some(None), |entry| super::object(entry, diagnostics).map(Some))
}

/// The bindings; `None` after a diagnostic.
fn bindings(
    parsed: &Parsed,
    policy: &Spanned<String>,
    mutating: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<PolicyBinding>> {
    let given: Vec<&Entry> = parsed.entries.iter().filter(|entry| entry.key.name == "binding").collect();
    if let (Some(unbound), Some(first)) = (parsed.given("unbound"), given.first()) {
        let diagnostic = Diagnostic::error(Code::CONTRADICTION, unbound, "the policy has a binding");
        diagnostics.push(diagnostic.secondary(first.span, "the binding").help("keep one of them"));
        return None;
    }
    if !given.is_empty() {
        parameters_fit(parsed, &given, diagnostics)?;
        return given.into_iter().map(|entry| binding(entry, policy, mutating, diagnostics)).collect();
    }
    if parsed.given("unbound").is_some() {
        return Some(Vec::new());
    }
    if let Some(kind) = parsed.get("param_kind") {
        let message = "the policy has parameters, but no binding says which objects they are";
        let help = "add binding(param_name = \"...\"), or `unbound` and write the binding by hand";
        diagnostics.push(Diagnostic::error(Code::MISSING_KEY, kind.span, message).help(help));
        return None;
    }
    let spec = if mutating { json!({}) } else { json!({"validationActions": ["Deny"]}) };
    Some(vec![PolicyBinding { span: policy.span, name: policy.clone(), spec }])
}

/// Checks that bindings say which parameters a policy gets if it has some; `None` after a diagnostic. An API server would
/// ignore the parameters otherwise (`ParamRef` of admissionregistration/v1), or evaluate the policy without any.
fn parameters_fit(parsed: &Parsed, bindings: &[&Entry], diagnostics: &mut Diagnostics) -> Option<()> {
    const KEYS: [&str; 4] = ["param_name", "param_namespace", "param_selector", "parameter_not_found_action"];
    for binding in bindings {
        let given = binding.nested().iter().find(|inner| KEYS.contains(&inner.key.name));
        let diagnostic = match (parsed.get("param_kind"), given) {
            (None, Some(given)) => {
                let message = format!("`{}` has no effect: the policy has no parameters", given.key.name);
                let help = "add param_kind(...) to the policy, or remove it";
                Diagnostic::error(Code::CONTRADICTION, given.span, message).help(help)
            }
            (Some(kind), None) => {
                let message =
                    "the policy has parameters, but this binding does not say which objects they are";
                let diagnostic = Diagnostic::error(Code::MISSING_KEY, binding.span, message);
                diagnostic
                    .secondary(kind.span, "the parameters")
                    .help("add param_name = \"...\" or param_selector = {...}")
            }
            _ => continue,
        };
        diagnostics.push(diagnostic);
        return None;
    }
    Some(())
}

fn binding(
    entry: &Entry,
    policy: &Spanned<String>,
    mutating: bool,
    diagnostics: &mut Diagnostics,
) -> Option<PolicyBinding> {
    let find = |key: &str| entry.nested().iter().find(|inner| inner.key.name == key);
    let text = |key: &str| find(key).and_then(EntryValue::string);
    let mut spec = Map::new();
    let actions = find("validation_actions");
    if let (true, Some(actions)) = (mutating, actions) {
        let message = "`validation_actions` has no effect on a policy that mutates";
        diagnostics.push(Diagnostic::error(Code::CONTRADICTION, actions.span, message).help("remove it"));
        return None;
    }
    if !mutating {
        let given = actions.map(EntryValue::strings).unwrap_or_default();
        let given: Vec<&str> = given.iter().map(|action| action.value.as_str()).collect();
        spec.insert(
            "validationActions".to_owned(),
            json!(if given.is_empty() { vec!["Deny"] } else { given }),
        );
    }
    let mut reference = Map::new();
    let keys = [
        ("name", "param_name"),
        ("namespace", "param_namespace"),
        ("parameterNotFoundAction", "parameter_not_found_action"),
    ];
    for (field, key) in keys {
        reference.extend(text(key).map(|text| (field.to_owned(), text.value.into())));
    }
    if let Some(selector) = find("param_selector") {
        reference.insert("selector".to_owned(), super::object(selector, diagnostics)?.value.to_value());
    }
    if !reference.is_empty() {
        reference.entry("parameterNotFoundAction").or_insert_with(|| json!("Deny"));
        spec.insert("paramRef".to_owned(), JsonValue::Object(reference));
    }
    if let Some(resources) = find("match_resources") {
        spec.insert("matchResources".to_owned(), super::object(resources, diagnostics)?.value.to_value());
    }
    let name = text("name").unwrap_or_else(|| policy.clone());
    Some(PolicyBinding { span: entry.span, name, spec: JsonValue::Object(spec) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{Family, ItemAttributes, Place, parse_attributes};

    fn read(keys: &str) -> (Option<PolicyAttrs>, Vec<String>) {
        let item: syn::ItemStruct = syn::parse_str(&format!("#[policy({keys})] struct A {{}}")).unwrap();
        let mut diagnostics = Diagnostics::new();
        let parsed = parse_attributes(
            Family::Policy,
            &ItemAttributes::new(&item.attrs),
            Place::Root,
            &mut diagnostics,
        );
        let attrs = PolicyAttrs::from_parsed(&parsed, &mut diagnostics);
        (attrs, diagnostics.into_vec().iter().map(|d| d.to_text()).collect())
    }

    #[test]
    fn policy_keys_become_fields_of_the_api() {
        let (attrs, errors) = read(
            r#"name = "a.b", failure_policy = "ignore", match_policy = "exact", verbs("create", "delete"),
               param_kind(api_version = "v1", kind = "ConfigMap"), variable(name = "n", expression = "1"),
               validation(expression = "variables.n == 1", message_expression = "'a'", reason = "forbidden"),
               validation(expression = "true"), audit_annotation(key = "k", value_expression = "'v'"),
               match_condition(name = "c", expression = "true"),
               binding(param_name = "limits", validation_actions("Warn", "Audit"))"#,
        );
        assert_eq!(errors, [""; 0]);
        let attrs = attrs.unwrap();
        assert_eq!(
            attrs.spec,
            json!({
                "failurePolicy": "Ignore", "matchConstraints": {"matchPolicy": "Exact"},
                "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "variables": [{"name": "n", "expression": "1"}],
                "validations": [
                    {"expression": "variables.n == 1", "messageExpression": "'a'", "reason": "Forbidden"},
                    {"expression": "true"},
                ],
                "auditAnnotations": [{"key": "k", "valueExpression": "'v'"}],
                "matchConditions": [{"name": "c", "expression": "true"}],
            })
        );
        assert_eq!(
            (attrs.mutating, attrs.operations),
            (false, vec!["CREATE".to_owned(), "DELETE".to_owned()])
        );
        assert_eq!(
            attrs.bindings[0].spec,
            json!({
                "validationActions": ["Warn", "Audit"],
                "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"},
            })
        );
        assert_eq!(attrs.bindings[0].name.value, "a.b");
        assert!(attrs.places.iter().any(|(path, _)| path == "spec.validations[1].expression"));
    }

    #[test]
    fn mutations_keep_their_order() {
        let (attrs, errors) =
            read(r#"name = "a", mutation(apply_configuration = "Object{}"), mutation(json_patch = "[]")"#);
        assert_eq!(errors, [""; 0]);
        let attrs = attrs.unwrap();
        assert_eq!(
            attrs.spec,
            json!({
                "reinvocationPolicy": "Never",
                "mutations": [
                    {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}},
                    {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}},
                ],
            })
        );
        assert_eq!(attrs.bindings[0].spec, json!({}));
    }

    #[test]
    fn contradictory_policy_keys_are_refused() {
        for (keys, code) in [
            (r#"validation(expression = "true")"#, "KS0009"),
            (r#"name = "a""#, "KS0009"),
            (r#"name = "A", validation(expression = "true")"#, "KS0805"),
            (r#"name = "a", validation(expression = "true"), binding(name = "B")"#, "KS0805"),
            (r#"name = "a", validation(expression = "true"), mutation(json_patch = "[]")"#, "KS0010"),
            (r#"name = "a", validation(expression = "true"), reinvocation_policy = "Never""#, "KS0010"),
            (r#"name = "a", mutation(json_patch = "[]", apply_configuration = "Object{}")"#, "KS0010"),
            (r#"name = "a", mutation(json_patch = "[]"), binding(validation_actions = "Deny")"#, "KS0010"),
            (r#"name = "a", validation(expression = "true"), unbound, binding(name = "b")"#, "KS0010"),
            (
                r#"name = "a", validation(expression = "true"), param_kind(api_version = "v1", kind = "K")"#,
                "KS0009",
            ),
            (
                r#"name = "a", validation(expression = "true"), param_kind(api_version = "v1", kind = "K"), binding(name = "b")"#,
                "KS0009",
            ),
            (r#"name = "a", validation(expression = "true"), binding(param_name = "b")"#, "KS0010"),
            (r#"name = "a", validation(expression = "true"), patch = [1]"#, "KS0004"),
            (r#"name = "a", validations(expression = "true")"#, "KS0002"),
            (r#"name = "a", validation(message = "b")"#, "KS0009"),
        ] {
            let (_, errors) = read(keys);
            assert_eq!(errors.len(), 1, "{keys}: {errors:?}");
            assert!(errors[0].starts_with(code), "{keys}: {errors:?}");
        }
    }
}
