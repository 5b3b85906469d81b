//! Defaults of functions that build a value step by step.

#![allow(
    clippy::vec_init_then_push,
    clippy::single_match,
    clippy::field_reassign_with_default,
    reason = "people write it so"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lists, sets, maps and texts.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "steps.example.com", version = "v1", kind = "Filled")]
#[serde(rename_all = "camelCase")]
pub struct FilledSpec {
    #[serde(default = "filled::pushed")]
    pub pushed: Vec<String>,
    #[serde(default = "filled::extended")]
    pub extended: Vec<String>,
    #[serde(default = "filled::in_the_middle")]
    pub in_the_middle: Vec<i32>,
    #[serde(default = "filled::copied")]
    pub copied: Vec<Vec<i32>>,
    #[serde(default = "filled::again")]
    pub again: Vec<i32>,
    #[serde(default = "filled::sorted")]
    pub sorted: BTreeSet<String>,
    #[serde(default = "filled::collected")]
    pub collected: HashSet<u8>,
    #[serde(default = "filled::labels")]
    pub labels: BTreeMap<String, String>,
    #[serde(default = "filled::replaced")]
    pub replaced: HashMap<String, i32>,
    #[serde(default = "filled::merged")]
    pub merged: BTreeMap<String, String>,
    #[serde(default = "filled::of_pairs")]
    pub of_pairs: BTreeMap<String, bool>,
    #[serde(default = "filled::annotations")]
    pub annotations: Option<BTreeMap<String, String>>,
    #[serde(default = "filled::hosts")]
    pub hosts: Option<Vec<String>>,
    #[serde(default = "filled::nothing")]
    pub nothing: Option<Vec<String>>,
    #[serde(default = "filled::text")]
    pub text: String,
    #[serde(default = "filled::assigned")]
    pub assigned: u16,
}

pub mod filled {
    use super::*;

    pub fn pushed() -> Vec<String> {
        let mut list = base();
        list.push("c".to_string());
        list.push(String::from("d"));
        list
    }

    fn base() -> Vec<String> {
        vec!["a".into(), "b".into()]
    }

    pub fn extended() -> Vec<String> {
        let mut list = Vec::new();
        list.extend(base());
        let more = ["c".to_string()];
        list.extend_from_slice(&more);
        list.extend(["d", "e"].iter().map(|name| name.to_string()));
        list
    }

    pub fn in_the_middle() -> Vec<i32> {
        let mut list = vec![1, 3];
        list.insert(1, 2);
        list
    }

    pub fn copied() -> Vec<Vec<i32>> {
        let mut inner = vec![1];
        let before = inner.clone();
        inner.push(2);
        vec![before, inner]
    }

    pub fn again() -> Vec<i32> {
        let mut list = vec![1];
        list.push(2);
        list.extend(list.clone());
        list
    }

    pub fn sorted() -> BTreeSet<String> {
        let mut set = BTreeSet::new();
        set.insert("b".to_string());
        set.insert("a".to_string());
        set.insert("b".to_string());
        set
    }

    pub fn collected() -> HashSet<u8> {
        let mut list = vec![];
        list.push(1);
        list.push(1);
        list.into_iter().collect()
    }

    pub fn labels() -> BTreeMap<String, String> {
        let mut labels = common();
        labels.insert("app".to_string(), "web".to_owned());
        labels
    }

    fn common() -> BTreeMap<String, String> {
        BTreeMap::from([("app".to_string(), "none".to_string()), ("part".to_string(), "all".to_string())])
    }

    pub fn replaced() -> HashMap<String, i32> {
        let mut map = HashMap::new();
        map.insert("a".to_string(), 1);
        map.insert("a".to_string(), 2);
        map
    }

    pub fn merged() -> BTreeMap<String, String> {
        let mut map = BTreeMap::from([("part".to_string(), "one".to_string())]);
        map.extend(common());
        map.extend([("last".to_string(), "1".to_string())]);
        map
    }

    pub fn of_pairs() -> BTreeMap<String, bool> {
        let mut pairs = Vec::new();
        pairs.push(("on".to_string(), true));
        pairs.push(("off".to_string(), false));
        pairs.into_iter().collect()
    }

    pub fn annotations() -> Option<BTreeMap<String, String>> {
        let mut annotations = Some(BTreeMap::new());
        match &mut annotations {
            Some(map) => {
                map.insert("app.kubernetes.io/managed-by".to_owned(), "steps".to_owned());
            }
            None => {
                eprintln!("there is no map");
            }
        }
        annotations
    }

    pub fn hosts() -> Option<Vec<String>> {
        let mut hosts = Some(vec!["a".to_string()]);
        if let Some(hosts) = hosts.as_mut() {
            hosts.push("b".to_string());
        }
        hosts
    }

    pub fn nothing() -> Option<Vec<String>> {
        let mut hosts: Option<Vec<String>> = None;
        if let Some(hosts) = &mut hosts {
            hosts.push("b".to_string());
        }
        hosts
    }

    pub fn text() -> String {
        let mut text = String::from("a");
        text.push_str("bc");
        text.push('d');
        text
    }

    pub fn assigned() -> u16 {
        let mut number = 1;
        number = 10 - number;
        number
    }
}

/// Structs whose fields are assigned.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "steps.example.com", version = "v1", kind = "BuiltStructs")]
#[serde(rename_all = "camelCase")]
pub struct BuiltStructsSpec {
    #[serde(default = "built::server")]
    pub server: Server,
    #[serde(default = "built::of_function")]
    pub of_function: Server,
    #[serde(default = "built::twice")]
    pub twice: Server,
    #[serde(default = "built::labelled")]
    pub labelled: Server,
    #[serde(default = "built::port")]
    pub port: u16,
    #[serde(default = "built::first_port")]
    pub first_port: u16,
    #[serde(default = "built::resources")]
    pub resources: ResourceRequirements,
    #[serde(default)]
    pub by_hand: ByHand,
    #[serde(default)]
    pub part: Part,
}

/// A server.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Server {
    pub host_name: String,
    pub port: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// A type with `Default` by hand.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ByHand {
    pub server: Server,
    pub names: Vec<String>,
}

impl Default for ByHand {
    fn default() -> Self {
        let mut server = Server::default();
        server.port = 1;
        let mut by_hand = Self { server, names: Vec::new() };
        by_hand.names.push("a".to_string());
        by_hand
    }
}

/// A type whose own default is that of its fields.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Part {
    pub host: String,
    pub names: Vec<String>,
}

impl Default for Part {
    fn default() -> Self {
        let mut part = Self::empty();
        part.host = "part".to_string();
        part
    }
}

impl Part {
    fn empty() -> Self {
        Self { host: String::new(), names: vec!["a".to_string()] }
    }
}

pub mod built {
    use super::*;

    pub fn server() -> Server {
        let mut server = Server::default();
        server.host_name = "a".to_string();
        server.port = 80;
        server
    }

    pub fn of_function() -> Server {
        let mut server = server();
        server.port = 443;
        server
    }

    pub fn twice() -> Server {
        let mut server = server();
        server.port = 443;
        let before = server.port;
        server.port = before + 1;
        server
    }

    pub fn labelled() -> Server {
        let mut server = Server::default();
        server.labels.insert("a".to_string(), "b".to_string());
        server.labels.insert("c".to_string(), "d".to_string());
        server
    }

    pub fn port() -> u16 {
        let mut server = server();
        server.port = 8080;
        server.port
    }

    pub fn first_port() -> u16 {
        let mut server = Server { port: 1, ..server() };
        let port = server.port;
        server.port = 2;
        port
    }

    pub fn resources() -> ResourceRequirements {
        let mut requests = BTreeMap::new();
        requests.insert("cpu".to_string(), Quantity("1".to_string()));
        let mut resources = ResourceRequirements::default();
        resources.requests = Some(requests);
        resources
    }
}
