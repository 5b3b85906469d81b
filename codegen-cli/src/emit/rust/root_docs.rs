//! Documentation of the package's root, with an example that compiles.

use super::{KindNames, Package, Parts, RustOptions, names, plan};
use crate::ir::{Group, Ir, Resource, Scope, Verb, Version};

/// The most group-versions that are listed separately.
const MANY: usize = 6;

/// The text, without comment marks.
pub(super) fn text(ir: &Ir, options: &RustOptions) -> String {
    let mut out = format!("{} of {}.", parts(ir, options.parts), group_versions(ir));
    if let Some(example) = Example::find(ir, options) {
        out.push_str("\n\n");
        out.push_str(&example.text(options));
        out.push_str("\n\n");
        out.push_str(&example.traits());
    }
    out
}

/// The generated parts: `Clients, apply configurations, informers and listers`.
pub(super) fn parts(ir: &Ir, parts: Parts) -> String {
    let mut kinds = ir.groups.iter().flat_map(|group| &group.versions).flat_map(|version| &version.resources);
    let applied =
        kinds.any(|kind| kind.client.as_ref().is_some_and(|tags| tags.verbs.contains(&Verb::Apply)));
    let named = [
        (parts.client, "clients"),
        (parts.client && parts.apply && applied, "apply configurations"),
        (parts.informer, "informers"),
        (parts.lister, "listers"),
    ];
    let names: Vec<_> = named.iter().filter(|(there, _)| *there).map(|(_, name)| *name).collect();
    let mut text = enumerate(&names);
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// The groups' names, for documentation.
pub(super) fn group_names(ir: &Ir) -> String {
    let names = ir.groups.iter().map(|group| if group.name.is_empty() { "core" } else { &group.name });
    some(&names.map(str::to_owned).collect::<Vec<_>>(), "API groups")
}

fn group_versions(ir: &Ir) -> String {
    let names = ir.groups.iter().flat_map(|group| {
        group.versions.iter().map(|version| format!("`{}`", plan::api_version(group, version)))
    });
    some(&names.collect::<Vec<_>>(), "group-versions")
}

fn some(names: &[String], what: &str) -> String {
    if names.len() > MANY {
        return format!("{} {what}", names.len());
    }
    enumerate(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// `a, b and c`.
fn enumerate(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The kind that the example uses.
struct Example<'i> {
    group: &'i Group,
    version: &'i Version,
    resource: &'i Resource,
}

impl<'i> Example<'i> {
    /// The first kind with all parts.
    fn find(ir: &'i Ir, options: &RustOptions) -> Option<Self> {
        let all = options.parts.client && options.parts.informer && options.parts.lister;
        let kinds = ir.groups.iter().flat_map(|group| {
            group.versions.iter().flat_map(move |version| {
                version.resources.iter().map(move |resource| Self { group, version, resource })
            })
        });
        let mut fit: Vec<Self> =
            kinds.filter(|example| all && example.has(&[Verb::Get, Verb::List, Verb::Watch])).collect();
        // Kinds of the inputs come before those of Kubernetes.
        fit.sort_by_key(|example| example.resource.is_built_in());
        fit.into_iter().next()
    }

    /// Whether the kind's client has all of the verbs.
    fn has(&self, wanted: &[Verb]) -> bool {
        let tags = self.resource.client.as_ref();
        tags.is_some_and(|tags| wanted.iter().all(|verb| tags.verbs.contains(verb)))
    }

    /// The purpose of the traits, with a kind's traits as examples.
    fn traits(&self) -> String {
        let KindNames { group, version, .. } = KindNames::new(self.group, self.version, self.resource);
        let getter = names::getter(&self.resource.code.plural);
        format!(
            "Clients have traits beside them, for code that takes any client: \
             [`{getter}`](clientset::typed::{group}::{version}::{getter}),\n\
             [`Interface`](clientset::Interface) of all clients, and those of single verbs in `kubesmith_runtime::client::verbs`."
        )
    }

    fn text(&self, options: &RustOptions) -> String {
        // The path of a module from outside its crate is unknown here, as is its visibility.
        let (language, root) = match &options.package {
            Package::Crate { name, .. } => ("no_run", name.replace('-', "_")),
            Package::Module { path, .. } => ("text", path.clone()),
        };
        let KindNames { accessor, version_accessor: version, group_version, informer_group, .. } =
            KindNames::new(self.group, self.version, self.resource);
        let scope = match self.resource.scope {
            Scope::Cluster => "",
            Scope::Namespaced => ".namespace(\"default\")",
        };
        let kind = &self.resource.kind;
        format!(
            "# Example

```{language}
use std::time::Duration;

use kubesmith_runtime::labels::Selector;
use {root}::{{Clientset, SharedInformerFactory}};

# async fn example() -> Result<(), Box<dyn std::error::Error>> {{
let clients = Clientset::try_default().await?;
let client = clients.{group_version}().{accessor}(){scope};
let object = client.get(\"example\").await?;
println!(\"{kind} {{:?}}\", object.metadata.uid);

let factory = SharedInformerFactory::builder(clients).resync(Duration::from_secs(30)).build();
let lister = factory.{informer_group}().{version}().{accessor}().lister();
factory.start();
factory.wait_for_cache_sync(Duration::from_secs(10)).await?;
for object in lister{scope}.list(&Selector::everything()) {{
    println!(\"{kind} {{:?}}\", object.metadata.name);
}}
factory.shutdown().await;
# Ok(())
# }}
```"
        )
    }
}
