//! The paths of documents, as kube-openapi builds them from routes (`pkg/builder` for version 2, `pkg/builder3`).

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE as BASE64;
use serde_json::{Map, Value, json};

use super::Form;
use super::route::{Parameter, Route};

/// Returns the path items of routes.
pub(super) fn items(routes: &[Route], form: Form) -> Map<String, Value> {
    let mut by_path = BTreeMap::<&str, Vec<&Route>>::new();
    for route in routes {
        by_path.entry(&route.path).or_default().push(route);
    }
    by_path.into_iter().map(|(path, routes)| (path.to_owned(), item(&routes, form))).collect()
}

/// Builds a path item. Parameters of all its operations are its own (`findCommonParameters`).
fn item(routes: &[&Route], form: Form) -> Value {
    let mut common: BTreeSet<Key> = routes.iter().take(1).flat_map(|route| keys(route)).collect();
    for route in routes {
        let own: BTreeSet<Key> = keys(route).collect();
        common.retain(|key| own.contains(key));
    }
    let mut item = Map::new();
    let shared = routes.last().into_iter().flat_map(|route| &route.parameters);
    let shared = sorted(shared.filter(|known| common.contains(&key(known))), form);
    insert_list(&mut item, shared);
    for route in routes {
        item.insert(route.method.clone(), operation(route, &common, form));
    }
    Value::Object(item)
}

type Key = (&'static str, &'static str);

fn key(parameter: &Parameter) -> Key {
    (parameter.name, parameter.place)
}

fn keys(route: &Route) -> impl Iterator<Item = Key> {
    route.parameters.iter().map(key)
}

fn insert_list(into: &mut Map<String, Value>, parameters: Vec<Value>) {
    if !parameters.is_empty() {
        into.insert("parameters".to_owned(), Value::Array(parameters));
    }
}

/// Returns parameters in the order of their names and places (`sortParameters`).
fn sorted<'a>(parameters: impl Iterator<Item = &'a Parameter>, form: Form) -> Vec<Value> {
    let mut parameters: Vec<&Parameter> = parameters.collect();
    parameters.sort_by_key(|known| key(known));
    parameters.into_iter().map(|known| parameter(known, form)).collect()
}

fn parameter(of: &Parameter, form: Form) -> Value {
    let (name, place, description) = (of.name, of.place, of.description.as_ref());
    let mut out = match form {
        Form::V2 => {
            json!({"uniqueItems": true, "type": of.kind, "description": description, "name": name, "in": place})
        }
        Form::V3 => json!({
            "name": name, "in": place, "description": description,
            "schema": {"type": of.kind, "uniqueItems": true},
        }),
    };
    if place == "path" {
        out["required"] = true.into();
    }
    out
}

fn operation(route: &Route, common: &BTreeSet<Key>, form: Form) -> Value {
    let (id, tag) = route.id_and_tag();
    let mut out = json!({"description": route.description, "operationId": id, "tags": [tag]});
    let schema = |definition: &str| form.reference(definition);
    let answer = route.answer.as_deref().map_or_else(|| json!({"type": "string"}), schema);
    let content = |types: &[&str], of: &Value| -> Value {
        types
            .iter()
            .map(|media_type| ((*media_type).to_owned(), json!({"schema": of})))
            .collect::<Map<_, _>>()
            .into()
    };
    let mut parameters = sorted(route.parameters.iter().filter(|known| !common.contains(&key(known))), form);
    let mut responses = Map::from_iter([("401".to_owned(), json!({"description": "Unauthorized"}))]);
    for (code, text) in route.codes {
        let response = match form {
            Form::V2 => json!({"description": text, "schema": answer}),
            Form::V3 => json!({"description": text, "content": content(&route.produces, &answer)}),
        };
        responses.insert((*code).to_owned(), response);
    }
    out["responses"] = Value::Object(responses);
    if let Some((definition, required)) = &route.body {
        let mut body = match form {
            Form::V2 => json!({"name": "body", "in": "body", "schema": schema(definition)}),
            Form::V3 => json!({"content": content(&route.consumes, &schema(definition))}),
        };
        if *required {
            body["required"] = true.into();
        }
        match form {
            Form::V2 => parameters.push(body),
            Form::V3 => out["requestBody"] = body,
        }
    }
    if form == Form::V2 {
        parameters.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
        if !route.consumes.is_empty() {
            out["consumes"] = json!(route.consumes);
        }
        out["produces"] = json!(route.produces);
        out["schemes"] = json!(["https"]);
    }
    if let Some(members) = out.as_object_mut() {
        insert_list(members, parameters);
        members.extend(route.action.map(|action| ("x-kubernetes-action".to_owned(), action.into())));
        members.extend(route.kind.clone().map(|kind| (super::GROUP_VERSION_KIND.to_owned(), kind)));
    }
    out
}

/// Moves parameters of version 2 that are not particular to a kind into a section of their own, and returns it
/// (`deduplicateParameters`).
pub(super) fn share_parameters(paths: &mut Map<String, Value>) -> Map<String, Value> {
    let mut shared = Map::new();
    for item in paths.values_mut().filter_map(Value::as_object_mut) {
        for (name, value) in item {
            let list = if name == "parameters" { Some(value) } else { value.get_mut("parameters") };
            for parameter in list.and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(name) = shared_name(parameter) {
                    let reference = json!({"$ref": format!("#/parameters/{name}")});
                    shared.insert(name, std::mem::replace(parameter, reference));
                }
            }
        }
    }
    shared
}

/// Returns the name of a parameter that operations of several kinds share. Parameters by which kubectl detects features
/// stay in their operations (`collectSharedParameters`).
fn shared_name(parameter: &Value) -> Option<String> {
    let text = |key: &str| parameter[key].as_str().unwrap_or_default();
    let own = match (text("name"), text("in")) {
        ("name", _) | ("fieldValidation" | "dryRun", "query") => true,
        ("body", "body") => {
            let definition = parameter["schema"]["$ref"].as_str().unwrap_or_default();
            !definition.starts_with("#/definitions/io.k8s.apimachinery")
        }
        _ => false,
    };
    (!own).then(|| format!("{}-{}", text("name"), hash(parameter)))
}

/// Returns FNV-1 of a parameter as Go writes it.
fn hash(parameter: &Value) -> String {
    const ORDER: [&str; 7] = ["uniqueItems", "type", "description", "name", "in", "required", "schema"];
    let members = ORDER.iter().filter_map(|key| Some(format!("{key:?}:{}", parameter.get(key)?)));
    let text = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    let step = |hash: u64, byte: u8| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    BASE64.encode(hash.to_be_bytes().get(..6).unwrap_or_default())
}
