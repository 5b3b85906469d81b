//! Schemes: kinds, decoding and encoding.

use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::json;

use super::*;
use crate::conversion::ConversionError;

fn scheme() -> Scheme {
    let mut scheme = Scheme::new();
    scheme.register::<Pod>("PodList").register::<Node>("NodeList");
    scheme
}

#[test]
fn kinds_and_types_are_looked_up_both_ways() {
    let scheme = scheme();
    let kinds: Vec<_> = scheme.kinds().map(|kind| kind.group_version_kind().kind.as_str()).collect();
    assert_eq!(kinds, ["Node", "NodeList", "Pod", "PodList"]);
    let pod = scheme.get(&GroupVersionKind::gvk("", "v1", "Pod")).unwrap();
    assert!(pod.is_namespaced() && !pod.is_list());
    assert_eq!(pod.plural(), "pods");
    assert!(!scheme.kind_of::<Node>().unwrap().is_namespaced());
    let list = scheme.kind_of::<ObjectList<Pod>>().unwrap();
    assert!(list.is_list());
    assert_eq!(list.group_version_kind().kind, "PodList");
    assert!(scheme.kind_of::<u8>().is_none());
}

#[test]
fn objects_and_lists_are_decoded() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}});
    let list = json!({"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [pod]});
    let decoded = scheme().decode_value(&pod).unwrap();
    assert!(decoded.downcast_ref::<Node>().is_none());
    let decoded = decoded.downcast::<Node>().unwrap_err();
    assert_eq!(decoded.downcast::<Pod>().unwrap().metadata.name.as_deref(), Some("a"));
    let decoded = scheme().decode_value(&list).unwrap();
    assert_eq!(decoded.downcast::<ObjectList<Pod>>().unwrap().items.len(), 1);
}

fn errors(text: &str) -> Vec<String> {
    let all = scheme().decoder().decode_all(text);
    all.into_iter().filter_map(|read| read.err().map(|error| error.to_string())).collect()
}

#[test]
fn decode_errors_name_document_line_and_field() {
    let text = "\
# A file as people write it.
---
apiVersion: v1
kind: Pod
metadata: {name: a}
---
kind: Pod
---
apiVersion: a.b/v1
kind: X
---
apiVersion: v1
kind: Pod
spec:
  containers:
  - name: a
  - name: b
    ports:
    - containerPort: http
---
apiVersion: v1
kind: Pod
metadata: [
---
{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": 1}
---
apiVersion: v1
kind: Node
";
    let read = scheme().decoder().decode_all(text);
    let good: Vec<bool> = read.iter().map(Result::is_ok).collect();
    assert_eq!(good, [true, false, false, false, false, false, true]);
    let errors = errors(text);
    assert_eq!(errors[0], "document 2, line 7: not a Kubernetes object: missing field `apiVersion`");
    assert_eq!(
        errors[1],
        "document 3, line 10: unknown kind: X in a.b/v1; register its type in the scheme, or decode dynamic objects"
    );
    assert_eq!(
        errors[2],
        "document 4, line 19: invalid Pod in v1: spec.containers[1].ports[0].containerPort: invalid type: string \"http\", expected i32"
    );
    assert!(
        errors[3].starts_with("document 5, line 2") && errors[3].contains("cannot be parsed: "),
        "{}",
        errors[3]
    );
    assert!(
        errors[4].starts_with("document 6, line 25: invalid Pod in v1: spec: invalid type"),
        "{}",
        errors[4]
    );
}

#[test]
fn streams_and_lists_are_decoded_one_by_one() {
    let text = r#"{"apiVersion": "v1", "kind": "Pod"}
{"apiVersion": "v1", "kind": "Pod",
  "spec": {"nodeName": 1}}
{"apiVersion": "v1", "kind" "Pod"
}
{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "Node"},
  {"apiVersion": "v1", "kind": "Node", "metadata": {"labels": []}},
  {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}]}]}
"#;
    let read = scheme().decoder().decode_all(text);
    let kinds: Vec<String> = read
        .iter()
        .map(|read| match read {
            Ok(object) => object.to_string(),
            Err(error) => format!("{}:{}", error.document, error.line),
        })
        .collect();
    assert_eq!(kinds, ["Pod in v1", "2:3", "3:4", "Node in v1", "4:8", "Pod in v1"]);
}

#[test]
fn decode_needs_exactly_one_object() {
    let count = |text: &str| match scheme().decode(text).unwrap_err().reason {
        DecodeError::Count { count } => count,
        other => panic!("{other}"),
    };
    assert_eq!(count("# nothing\n"), 0);
    assert_eq!(count("{apiVersion: v1, kind: Pod}\n---\n{apiVersion: v1, kind: Pod}\n"), 2);
    let error = scheme().decode(b"a: b\nc: \xff").unwrap_err();
    assert_eq!(error, ManifestError { document: 1, line: 2, reason: DecodeError::Encoding });
}

#[test]
fn nulls_and_merges_are_read_as_in_go() {
    let pod = "\
apiVersion: v1
kind: Pod
metadata: {name: a, creationTimestamp: null, labels: null}
spec:
  containers:
  - &first {name: a, image: i, ports: null}
  - {<<: *first, name: b}
status: {}
";
    let pod = scheme().decode(pod).unwrap().downcast::<Pod>().unwrap();
    let containers = pod.spec.unwrap().containers;
    assert_eq!((containers[1].name.as_str(), containers[1].image.as_deref()), ("b", Some("i")));
}

#[test]
fn strict_decoding_reports_all_fields_at_once() {
    let text = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  spec:
    containers:
    - {name: a, image: b, imagee: c}
    nodeName: one
    nodeName: two
  metadata: {name: a}
  stauts: {}
- apiVersion: v1
  kind: PodList
  items: [{apiVersion: v1, kind: Pod, spek: {}}]
items: []
";
    assert_eq!(scheme().decoder().decode_all(text).len(), 0, "the last one counts");
    let text = text.trim_end_matches("items: []\n");
    let lenient = scheme().decoder().decode_all(text);
    assert!(lenient.iter().all(Result::is_ok), "{lenient:?}");
    let strict = scheme().decoder().strict().decode_all(text);
    let errors: Vec<String> = strict.into_iter().map(|read| read.unwrap_err().to_string()).collect();
    assert_eq!(
        errors,
        [
            "document 1, line 8: strict decoding of Pod in v1: unknown field \"spec.containers[0].imagee\" at line 8, \
             duplicate field \"spec.nodeName\" at line 9, unknown field \"stauts\" at line 12",
            "document 1, line 15: strict decoding of PodList in v1: unknown field \"items[0].spek\" at line 15",
        ]
    );
    let twice = scheme().decoder().strict().decode_all("{apiVersion: v1, kind: List, items: [], items: []}");
    assert!(twice[0].as_ref().is_err_and(|error| error.to_string().contains("duplicate field \"items\"")));
}

#[test]
fn only_nulls_that_do_not_fit_count_as_absent() {
    let mut scheme = Scheme::new();
    scheme.register::<k8s_openapi::api::apps::v1::ControllerRevision>("ControllerRevisionList");
    let text = "\
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: a, labels: {app: null, tier: web}}
revision: 1
data: {spec: {replicas: null}}
";
    let revision = scheme.decode(text).unwrap().to_value().unwrap();
    assert_eq!(revision["data"], json!({"spec": {"replicas": null}}), "a patch says so on purpose");
    assert_eq!(revision["metadata"]["labels"], json!({"tier": "web"}));
    // This applies to objects without a type too.
    let text = "{apiVersion: a.b/v1, kind: X, metadata: {labels: {app: null}, name: a}, spec: {a: null}}";
    let object = scheme.decoder().unknown_as_dynamic().decode(text).unwrap().to_value().unwrap();
    assert_eq!(
        (&object["spec"], &object["metadata"]),
        (&json!({"a": null}), &json!({"labels": {}, "name": "a"}))
    );
    let text = "apiVersion: a.b/v1\nkind: X\nmetadata:\n  name: a\n  labels:\n    size: 1\n";
    let error = scheme.decoder().unknown_as_dynamic().decode(text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "document 1, line 6: invalid X in a.b/v1: metadata.labels.size: invalid type: integer `1`, expected a string"
    );
}

#[test]
fn yaml_is_read_as_kubectl_reads_it() {
    let pod = |field: &str| scheme().decode(format!("apiVersion: v1\nkind: Pod\nspec:\n  {field}\n"));
    assert!(pod("hostNetwork: yes").is_ok());
    assert!(pod("priority: 0644").is_ok());
    assert!(pod("nodeName: \"0644\"").is_ok());
    let error = pod("nodeName: 0644").unwrap_err().to_string();
    assert_eq!(
        error,
        "document 1, line 4: invalid Pod in v1: spec.nodeName: invalid type: integer `420`, expected a string"
    );
}

#[test]
fn output_means_the_same_in_yaml_1_1_and_1_2() {
    let mut pod = Pod::default();
    let words =
        ["no", "on", "y", "1_000", "0644", "1:30", "2024-01-15", "0x1F", "~", "1e3", ".5", "null", "plain"];
    pod.metadata.labels = Some(words.iter().map(|word| ((*word).to_owned(), (*word).to_owned())).collect());
    let text = scheme().encode_yaml(&pod).unwrap();
    for word in words.iter().filter(|word| **word != "plain") {
        assert!(text.contains(&format!("    \"{word}\": \"{word}\"\n")), "{word}: {text}");
    }
    assert!(text.contains("    plain: plain\n"), "{text}");
    let again = scheme().decode(&text).unwrap().downcast::<Pod>().unwrap();
    assert_eq!(again, pod);
}

#[test]
fn numbers_of_any_size_round_trip() {
    let text = "apiVersion: a.b/v1\nkind: X\nspec: {big: 100000000000000000000, low: -10000000000000000000, 1e3: 2.0}\n";
    let scheme = scheme();
    let object = scheme.decoder().unknown_as_dynamic().decode(text).unwrap();
    assert_eq!(object.to_value().unwrap()["spec"], json!({"big": 1e20, "low": -1e19, "1000": 2}));
    let written = scheme.encode_yaml(object.objects()[0]).unwrap();
    assert!(written.contains("  big: 1e+20\n"), "{written}");
    let again = scheme.decoder().unknown_as_dynamic().decode(&written).unwrap().to_value().unwrap();
    assert_eq!((&again["spec"]["big"], &again["spec"]["low"]), (&json!(1e20), &json!(-1e19)));
}

#[test]
fn json_and_flow_style_are_distinguished() {
    let kinds = |text: &str| {
        let read = scheme().decoder().decode_all(text);
        let name = |read: &Result<Decoded, ManifestError>| match read {
            Ok(object) => object.to_string(),
            Err(error) => error.to_string(),
        };
        read.iter().map(name).collect::<Vec<_>>()
    };
    let pod = r#"{"apiVersion": "v1", "kind": "Pod"}"#;
    let pods = |count: usize| vec!["Pod in v1".to_owned(); count];
    assert_eq!(kinds(&format!("{pod} # a comment\n")), pods(1));
    assert_eq!(kinds(&format!("# a\n{pod} # a comment\n# another\n\n{pod}\n  # the last")), pods(2));
    let flow = "{apiVersion: v1, kind: Pod, spec:\n{nodeName: a,\n  containers:\n[\n{name: b}]}}\n";
    assert_eq!(kinds(flow), pods(1));
    assert_eq!(kinds(&format!("{flow}---\n{flow}")), pods(2));
    let broken = kinds(&format!("{{\"apiVersion\" \"v1\"}}\n{pod}\n"));
    assert_eq!((broken.len(), &broken[1..]), (2, &pods(1)[..]));
    for template in [
        "{{- if .Values.pod }}\napiVersion: v1\nkind: Pod\n{{- end }}\n",
        "{\"apiVersion\": {{ .Values.version }}}\n",
        "apiVersion: {{ .Values.version }}\nkind: Pod\n",
    ] {
        let told = kinds(template);
        assert!(told.len() == 1 && told[0].contains("looks like a template; render it first"), "{told:?}");
    }
}

#[test]
fn brackets_in_blocks_are_not_nesting() {
    let script = format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    a: |\n      {}\n",
        "[".repeat(5_000)
    );
    let pod = scheme().decode(&script).unwrap().downcast::<Pod>().unwrap();
    assert_eq!(pod.metadata.annotations.unwrap()["a"].len(), 5_001);
}

#[test]
fn yaml_bombs_are_refused_quickly() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for at in 1..12 {
        let item = format!("*a{}", at - 1);
        bomb += &format!("a{at}: &a{at} [{}]\n", vec![item; 9].join(", "));
    }
    assert_eq!(errors(&bomb).len(), 1);
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), vec!["*a"; 1000].join(", "));
    let told = errors(&long);
    assert!(told[0].contains("aliases make the document larger"), "{told:?}");
    for deep in ["[", "{a: ", "- ", "{\"a\":", "? "] {
        assert_eq!(errors(&deep.repeat(20_000)).len(), 1, "{deep}");
    }
}

#[test]
fn many_errors_take_linear_time() {
    let items = "  {\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": 1},\n".repeat(1_000);
    let list = format!("{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n{items}{{}}]}}");
    let read = scheme().decoder().decode_all(&list);
    assert_eq!(read.iter().filter(|read| read.is_err()).count(), 1_001);
    let lines: Vec<usize> =
        read.iter().filter_map(|read| read.as_ref().err()).map(|error| error.line).collect();
    assert_eq!((lines[0], lines[99], lines[100]), (2, 101, 1));

    let open = "{\"a\":\n".repeat(50_000);
    assert_eq!(errors(&open).len(), 1);
    assert_eq!(errors(&(open + "%")).len(), 1);
    let fields: String = (0..1_000).map(|at| format!("f{at}: 1\n")).collect();
    let read = scheme().decoder().strict().decode(format!("apiVersion: v1\nkind: Pod\n{fields}"));
    let DecodeError::Strict { faults, .. } = read.unwrap_err().reason else { panic!("fields are unknown") };
    assert_eq!(faults.len(), 100);
}

#[test]
fn strict_decoding_takes_bounded_memory_and_time() {
    // Each item is checked against all duplicates.
    let item = "- {apiVersion: v1, kind: Pod, kind: Pod, spek: 1}\n";
    let list = format!("apiVersion: v1\nkind: List\nitems:\n{}", item.repeat(3_000));
    let read = scheme().decoder().strict().decode_all(&list);
    let faults = |read: &Result<Decoded, ManifestError>| match read {
        Err(ManifestError { reason: DecodeError::Strict { faults, .. }, .. }) => faults.len(),
        other => panic!("{other:?}"),
    };
    assert!(read.len() == 3_000 && read.iter().all(|read| faults(read) == 2));
    // Paths far longer than the values at their ends.
    let name = "n".repeat(100_000);
    let twice = "\"a\": 1, ".repeat(2).repeat(10);
    let deep =
        |body: &str| format!("{{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"{name}\": {{{body}\"b\": 1}}}}");
    let error = scheme().decoder().strict().decode(deep(&twice)).unwrap_err();
    assert!(matches!(error.reason, DecodeError::Strict { .. }), "{error}");
    let many: String = (0..1_000).map(|at| format!("\"a{at}\": 1, \"a{at}\": 1, ")).collect();
    let error = scheme().decoder().strict().decode(deep(&many)).unwrap_err();
    assert!(error.to_string().contains("so many fields are given twice"), "{}", error.line);
    assert!(scheme().decode(deep(&many)).is_ok());
    // Unknown fields with long paths.
    let value = json!({"apiVersion": "v1", "kind": "PodList", "items":
        vec![json!({"metadata": {}, name.clone(): 1}); 500]});
    let DecodeError::Strict { faults, .. } = scheme().decoder().strict().decode_value(&value).unwrap_err()
    else {
        panic!("fields are unknown")
    };
    assert!((1..20).contains(&faults.len()), "{}", faults.len());
}

#[test]
fn output_is_decoded_again() {
    let pod = scheme()
        .decode("{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {b: 'no', c: '1'}}}")
        .unwrap();
    let object = pod.objects()[0];
    for text in [scheme().encode_json(object).unwrap(), scheme().encode_yaml(object).unwrap()] {
        let again = scheme().decode(&text).unwrap();
        assert_eq!(again.to_value().unwrap(), pod.to_value().unwrap(), "{text}");
    }
}

#[test]
fn conversions_go_through_a_hub() {
    use k8s_openapi::api::autoscaling::{v1, v2};
    use k8s_openapi::api::{core::v1::ConfigMap, core::v1::Secret};

    let mut scheme = Scheme::new();
    scheme.add_conversion_func(|old: &v1::HorizontalPodAutoscaler| match old.metadata.name.as_deref() {
        Some("bad") => Err(ConversionError::new("too bad")),
        _ => Ok(v2::HorizontalPodAutoscaler { metadata: old.metadata.clone(), ..Default::default() }),
    });
    // The test has no kind with three versions, so it uses two kinds.
    scheme.add_conversion_func(|hub: &v2::HorizontalPodAutoscaler| {
        Ok(ConfigMap { metadata: hub.metadata.clone(), ..ConfigMap::default() })
    });
    let mut old = v1::HorizontalPodAutoscaler::default();
    old.metadata.name = Some("a".to_owned());
    let map: ConfigMap = scheme.convert(&old).unwrap();
    assert_eq!(map.metadata, old.metadata);
    let unchanged: v1::HorizontalPodAutoscaler = scheme.convert(&old).unwrap();
    assert_eq!(unchanged, old);
    let error = scheme.convert::<Secret>(&old).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no conversion from HorizontalPodAutoscaler in autoscaling/v1 to Secret in v1 is registered in the scheme"
    );
    old.metadata.name = Some("bad".to_owned());
    let error = scheme.convert_to_version(&old, "v2").unwrap_err();
    assert!(error.to_string().ends_with(": too bad"), "{error}");
}

#[test]
fn api_version_needs_a_version() {
    for given in ["", "/", "apps/", "a/b/c"] {
        let text = format!("apiVersion: {given:?}\nkind: Pod\nmetadata: {{name: a}}\n");
        let read = scheme().decoder().unknown_as_dynamic().decode(&text).map(drop);
        let error = read.map_err(|error| error.to_string()).unwrap_err();
        assert!(error.contains(&format!("{given:?} is not an apiVersion")), "{error}");
    }
}
