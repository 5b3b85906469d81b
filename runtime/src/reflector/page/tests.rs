use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ListMeta;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Item, MalformedPage, PageReader};
use crate::object::KindOf;
use crate::reflector::{FormOf, ReflectorOptions, typed};

fn map(name: &str) -> Value {
    let data = json!({ "a\"]}": "{[\\\"é\u{1F600}" });
    json!({ "metadata": { "name": name, "managedFields": [{ "manager": "m" }] }, "data": data })
}

fn show(item: Item) -> String {
    match item {
        Item::Object(decoded) => {
            let map = typed::<ConfigMap>(decoded.object).unwrap();
            assert_eq!(map.metadata.managed_fields, None);
            map.metadata.name.clone().unwrap_or_default()
        }
        Item::Undecodable(broken) => {
            format!("!{}", broken.key.map_or(String::new(), |key| key.to_string()))
        }
    }
}

/// Adds the objects that have arrived to `seen`.
fn arrived(reader: &mut PageReader, seen: &mut Vec<String>) -> Result<(), MalformedPage> {
    let mut form =
        FormOf::<ConfigMap>::new(KindOf::of_type(), &ReflectorOptions::new(), crate::cache::store().reader());
    while let Some(item) = reader.next(&mut form)? {
        seen.push(show(item));
    }
    Ok(())
}

/// Reads `text` in pieces that end at `cuts`.
fn read(text: &str, cuts: &[usize]) -> (Vec<String>, Result<ListMeta, MalformedPage>) {
    let mut reader = PageReader::default();
    let mut seen = Vec::new();
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    for pair in cuts.windows(2) {
        let pushed = reader.push(&text.as_bytes()[pair[0]..pair[1]]);
        if let Err(error) = pushed.and_then(|()| arrived(&mut reader, &mut seen)) {
            return (seen, Err(error));
        }
    }
    reader.end();
    let meta = arrived(&mut reader, &mut seen).and_then(|()| reader.finish());
    (seen, meta)
}

fn page() -> String {
    json!({
        "apiVersion": "v1", "count": 12, "flag": true,
        "items": [map("a"), { "metadata": { "name": "b" }, "data": 7 }, map("c")],
        "kind": "ConfigMapList", "metadata": { "resourceVersion": "9", "continue": "more" },
    })
    .to_string()
}

#[test]
fn items_are_returned_before_the_page_is_complete() {
    let page = page();
    let mut reader = PageReader::default();
    let mut seen = Vec::new();
    let middle = page.find("\"c\"").unwrap();
    reader.push(&page.as_bytes()[..middle]).unwrap();
    arrived(&mut reader, &mut seen).unwrap();
    assert_eq!(seen, ["a", "!b"]);
}

#[test]
fn empty_lists_are_read() {
    for text in [
        r#"{"items":[],"metadata":{"resourceVersion":"3"}}"#,
        r#"{"metadata":{"resourceVersion":"3"},"items":null}"#,
    ] {
        let (seen, meta) = read(text, &[]);
        assert!(seen.is_empty());
        assert_eq!(meta.unwrap().resource_version.as_deref(), Some("3"));
    }
}

#[test]
fn response_that_is_not_a_list_is_malformed() {
    for text in
        ["", "<html>", "[]", "{}", r#"{"items":{}}"#, r#"{"items":[1]}"#, r#"{"items":["#, r#"{"items" 1}"#]
    {
        assert!(read(text, &[]).1.is_err(), "{text}");
    }
    let cut = page();
    assert_eq!(read(&cut[..cut.len() - 1], &[]).1.unwrap_err().to_string(), "not a list: it ends too soon");
}

#[test]
fn item_with_damaged_bytes_is_malformed_not_undecodable() {
    let mut page = page().into_bytes();
    let name = page.windows(3).position(|bytes| bytes == b"\"c\"").unwrap();
    page[name + 1] = 0xff;
    let mut reader = PageReader::default();
    let error = reader.push(&page).unwrap_err();
    assert!(error.to_string().starts_with("not a list: invalid utf-8 sequence"), "{error}");
}

#[test]
fn large_object_in_small_pieces_is_not_parsed_for_each_piece() {
    let text =
        json!({ "items": [{ "metadata": { "name": "x".repeat(100_000) } }], "metadata": {} }).to_string();
    let cuts: Vec<usize> = (0..text.len()).step_by(10).collect();
    let (seen, meta) = read(&text, &cuts);
    assert_eq!((seen.len(), meta.is_ok()), (1, true));
}

proptest! {
    #[test]
    fn result_does_not_depend_on_pieces(cuts in proptest::collection::vec(any::<usize>(), 0..20)) {
        let (seen, meta) = read(&page(), &cuts);
        prop_assert_eq!(seen, ["a", "!b", "c"]);
        let meta = meta.unwrap();
        prop_assert_eq!(meta.resource_version.as_deref(), Some("9"));
        prop_assert_eq!(meta.continue_.as_deref(), Some("more"));
    }

    #[test]
    fn page_does_not_panic_on_damaged_text(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let mut reader = PageReader::default();
        let _ = reader.push(&bytes);
        let _ = arrived(&mut reader, &mut Vec::new());
        reader.end();
        let _ = arrived(&mut reader, &mut Vec::new());
        let _ = reader.finish();
    }
}
