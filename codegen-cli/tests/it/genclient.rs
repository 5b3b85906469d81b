//! The tags of a client in every combination: the generated methods are those of a model.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use heck::ToSnakeCase as _;

use kubesmith::config::{self, Generator, Overrides};
use kubesmith::pipeline;

use crate::support::{Crate, USES, short};

/// The tags that select verbs, each with the remaining verbs.
const CHOICES: [(&str, &[&str]); 5] = [
    ("", VERBS),
    ("no_verbs", &[]),
    ("readonly", &["get", "list", "watch"]),
    (r#"only_verbs("get", "update", "list")"#, &["get", "update", "list"]),
    (
        r#"skip_verbs("get", "apply", "deleteCollection")"#,
        &["create", "update", "update_status", "delete", "list", "watch", "patch", "apply_status"],
    ),
];

const VERBS: &[&str] = &[
    "create",
    "update",
    "update_status",
    "delete",
    "delete_collection",
    "get",
    "list",
    "watch",
    "patch",
    "apply",
    "apply_status",
];

/// Requested methods, and the method of the scale that each replaces.
const METHODS: [(&str, &[&str], &[&str]); 3] = [
    ("", &[], &[]),
    (r#"method(name = "Resize", verb = "update", subresource = "scale")"#, &["resize"], &["update_scale"]),
    (
        r#"method(name = "GetScale", verb = "list"), method(name = "Paint", verb = "create")"#,
        &["get_scale", "paint"],
        &["get_scale"],
    ),
];

/// The attributes of a kind.
struct Tags {
    name: String,
    cluster: bool,
    choice: usize,
    status: bool,
    no_status: bool,
    method: usize,
    scale: bool,
    no_scale: bool,
}

impl Tags {
    fn source(&self) -> String {
        let scale = r#", scale(spec_path = ".spec.size", status_path = ".status.size")"#;
        let resource = [
            (r#"group = "a.example.com", version = "v1""#, true),
            (r#", scope = "Cluster""#, self.cluster),
            (", status", self.status),
            (scale, self.scale),
        ];
        let name = format!("resource_name = \"{}s\"", self.name.to_lowercase());
        let tags = [
            ("non_namespaced", self.cluster),
            (CHOICES[self.choice].0, self.choice > 0),
            ("no_status", self.no_status),
            (METHODS[self.method].0, self.method > 0),
            ("no_scale", self.no_scale),
            // Given for every second choice of verbs; it has no effect.
            (&name, self.choice.is_multiple_of(2)),
        ];
        let given = |parts: &[(&str, bool)]| {
            parts.iter().filter(|(_, given)| *given).map(|(text, _)| (*text).to_owned()).collect::<Vec<_>>()
        };
        let status = if self.status { "pub status: Size," } else { "" };
        format!(
            "#[derive(Clone, Debug, Resource)]\n#[resource({})]\n#[genclient({})]\npub struct {} {{\n    \
             pub metadata: ObjectMeta,\n    pub spec: Size,\n    {status}\n}}\n",
            given(&resource).concat(),
            given(&tags).join(", "),
            self.name,
        )
        .replace("#[genclient()]", "#[genclient]")
    }

    /// The methods that its client has.
    fn expected(&self) -> BTreeSet<String> {
        let is_there = |verb: &&&str| !verb.ends_with("_status") || (self.status && !self.no_status);
        let verbs: Vec<&str> = CHOICES[self.choice].1.iter().filter(is_there).copied().collect();
        let (_, methods, instead) = METHODS[self.method];
        let of_scale = ["get", "update", "apply"].into_iter().filter(|verb| verbs.contains(verb));
        let of_scale = of_scale.map(|verb| format!("{verb}_scale"));
        let of_scale =
            of_scale.filter(|name| self.scale && !self.no_scale && !instead.contains(&name.as_str()));
        let beside = verbs.contains(&"patch").then_some("patch_subresource");
        let named = verbs.iter().chain(methods).copied().chain(beside).map(str::to_owned);
        named.chain(of_scale).collect()
    }
}

fn every_combination() -> Vec<Tags> {
    let mut all = Vec::new();
    let flags = [false, true];
    for (choice, method) in (0..CHOICES.len()).flat_map(|choice| (0..METHODS.len()).map(move |m| (choice, m)))
    {
        for (cluster, status) in flags.into_iter().flat_map(|a| flags.map(|b| (a, b))) {
            for (scale, no_scale) in [(false, false), (true, false), (true, true)] {
                for no_status in flags {
                    let name = format!("Kind{:03}", all.len());
                    all.push(Tags { name, cluster, choice, status, no_status, method, scale, no_scale });
                }
            }
        }
    }
    all
}

#[test]
fn every_combination_of_tags_has_its_methods() {
    let all = every_combination();
    let mut source = format!(
        "{USES}\n#[derive(Clone, Debug, Serialize, Deserialize, Schema)]\npub struct Size {{\n    pub size: i32,\n}}\n"
    );
    for tags in &all {
        write!(source, "\n{}", tags.source()).unwrap();
    }
    let sample = Crate::new(&source);
    let settings = Overrides {
        input: vec![sample.path("api")],
        output: Some("out".into()),
        only: vec![Generator::Client],
        ..Overrides::default()
    };
    let generated = pipeline::generate(&config::settings(None, settings).unwrap()[0]);
    // Paths of a status that is not there; nothing else.
    let text = short(&generated);
    assert!(text.lines().all(|line| line.contains("KS0509") || line.contains("KS07")), "{text}");
    let tree = &generated.targets[0].tree;
    let (_, text) = tree.iter().find(|(name, _)| name.ends_with("typed/a/v1.rs")).unwrap();
    let items: Vec<&str> = text.split("\n}\n").flat_map(|text| text.split(" {}\n")).collect();
    for tags in &all {
        let client =
            if tags.cluster { format!("{}s", tags.name) } else { format!("Namespaced{}s", tags.name) };
        let is_complete = text.contains(&format!("pub type {client} = client::CompleteClient<"));
        let end = format!(" for {client}");
        let delegated = items.iter().filter(|item| item.ends_with(&end));
        let delegated = delegated.flat_map(|item| verbs(item, "impl delegate::"));
        let delegated: BTreeSet<_> = match is_complete {
            true => verbs("delegate::All ", "delegate::"),
            false => delegated.collect(),
        };
        let inherent = format!("impl {client} {{\n");
        let own = items.iter().filter(|item| item.contains(&inherent));
        let own: BTreeSet<_> = own.flat_map(|item| methods(item, "pub async fn ")).collect();
        assert_eq!(&delegated | &own, tags.expected(), "{}", tags.source());
        let interface = format!("pub trait {}Interface: ", tags.name);
        let declared = items.iter().find(|item| item.contains(&interface)).unwrap();
        let own = methods(declared, "    fn ");
        assert_eq!(&verbs(declared, "verbs::") | &own, tags.expected(), "{}", tags.source());
    }
}

/// The methods of the verbs whose traits follow a text.
fn verbs(text: &str, before: &str) -> BTreeSet<String> {
    let traits = text.split(before).skip(1).map(|rest| rest.split(['<', ' ']).next().unwrap_or_default());
    let methods = traits.flat_map(|name| match name {
        "All" => VERBS.iter().copied().chain(["patch_subresource"]).map(str::to_owned).collect(),
        "Patch" => vec!["patch".to_owned(), "patch_subresource".to_owned()],
        "GeneratedClient" => Vec::new(),
        name => vec![name.to_snake_case()],
    });
    methods.collect()
}

/// The names after a text.
fn methods(text: &str, before: &str) -> BTreeSet<String> {
    let names = text.split(before).skip(1);
    names.map(|rest| rest.split(['(', '<']).next().unwrap_or_default().to_owned()).collect()
}
