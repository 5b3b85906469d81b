//! What a scheme knows, and what it reads.

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
fn kinds_and_types_find_each_other() {
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
fn errors_name_document_line_and_field() {
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
    assert_eq!(errors[0], "document 2, line 7: no object of Kubernetes: missing field `apiVersion`");
    assert_eq!(
        errors[1],
        "document 3, line 10: unknown kind: X in a.b/v1; register its type in the scheme, or ask for dynamic objects"
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
fn streams_and_lists_come_one_by_one() {
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
fn one_object_is_one_object() {
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
fn nulls_and_merges_are_read_as_go_reads_them() {
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
fn strict_decoding_tells_everything_at_once() {
    let text = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  spec:
    containers:
    - {name: a, image: b, imagee: c}
    nodeName: x
    nodeName: y
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
fn bombs_end_soon() {
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
fn many_mistakes_take_no_longer_than_their_text() {
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
fn what_is_written_is_read() {
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
    // Of two kinds, as the test has no kind with three versions.
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
fn an_api_version_has_a_version() {
    for given in ["", "/", "apps/", "a/b/c"] {
        let text = format!("apiVersion: {given:?}\nkind: Pod\nmetadata: {{name: a}}\n");
        let read = scheme().decoder().unknown_as_dynamic().decode(&text).map(drop);
        let error = read.map_err(|error| error.to_string()).unwrap_err();
        assert!(error.contains(&format!("{given:?} is no apiVersion")), "{error}");
    }
}
