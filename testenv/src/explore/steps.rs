//! The steps of a scenario: the described ones, and those derived from them.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::beginning::Trial;
use super::cluster::Cluster;
use super::sim::{Spec, Step};
use super::vary::{Change, Origin};
use super::{invalid, vary};

/// The number of changes of single fields in a run.
const FIELDS: usize = 40;

/// Steps that change an object and revert the change.
#[derive(Clone, Debug, Default)]
pub(super) struct Variants {
    /// Pairs of steps after which the objects have to be the same, and the changes between them.
    pub(super) same: Vec<(usize, usize, String)>,
    /// Changes of single fields.
    pub(super) fields: Vec<FieldChange>,
    /// Steps that delete objects in other modes. They come after the user's, as a mode may leave objects behind.
    pub(super) deletions: Vec<Step>,
    /// The fields whose changes further runs try.
    pub(super) later: BTreeSet<String>,
    /// The fields without a change that the server takes.
    pub(super) untried: BTreeSet<String>,
    /// The fields that the sample leaves unset.
    pub(super) unset: BTreeSet<String>,
    /// The faults of the only step's object, which the server takes.
    pub(super) invalid: Option<String>,
    /// Objects that the server takes against its schema.
    pub(super) against_schema: Vec<String>,
    /// The kinds of the objects.
    pub(super) kinds: BTreeSet<String>,
}

/// A change of a field. The step after it reverts it.
#[derive(Clone, Debug)]
pub(super) struct FieldChange {
    pub(super) before: usize,
    pub(super) changed: usize,
    pub(super) change: Change,
}

/// Returns the varied objects, each with the schema of its kind.
fn varied(spec: &mut Spec) -> Vec<(Value, Value)> {
    let kinds = std::mem::take(&mut spec.varied);
    let object_of = |(api_version, kind): &(String, String)| {
        let applied = spec.steps.iter().filter_map(|step| match step {
            Step::Apply(all) => Some(all.iter()),
            Step::Delete(_) | Step::RemoveMade => None,
        });
        let is_it =
            |object: &&Value| object["kind"] == kind.as_str() && object["apiVersion"] == api_version.as_str();
        let object = applied.flatten().rfind(is_it)?;
        Some((object.clone(), vary::schema(&spec.definitions, api_version, kind)?.clone()))
    };
    kinds.iter().filter_map(object_of).collect()
}

impl Spec {
    /// Reports whether a resource is a custom one. An installed definition decides, as many CRDs have a group that ends
    /// in `.k8s.io`. Kubernetes' own groups have no dot or end so; the definitions of others are installed by operators.
    pub(super) fn is_custom(&self, group: &str, resource: &str) -> bool {
        let is_own = !group.contains('.') || group.ends_with(".k8s.io");
        let mut definitions = self.definitions.iter().map(|definition| &definition["spec"]);
        !is_own || definitions.any(|spec| spec["group"] == group && spec["names"]["plural"] == resource)
    }

    /// Leaves out steps.
    pub(super) fn leave_out(&mut self, without: &BTreeSet<usize>) {
        let mut number = 0..;
        self.steps.retain(|_| number.next().is_none_or(|number| !without.contains(&number)));
    }

    /// Adds a step that applies an object; returns its number.
    fn then(&mut self, object: &Value) -> usize {
        self.steps.push(Step::Apply(Rc::new(vec![object.clone()])));
        self.steps.len() - 1
    }
}

/// Adds the steps of varied objects.
pub(super) fn add_variants(spec: &mut Spec, trial: &Trial<'_>) -> Variants {
    let mut variants = Variants::default();
    for (object, schema) in varied(spec) {
        variants.kinds.extend(object["kind"].as_str().map(str::to_owned));
        for variant in trial.variants(&object, &schema).iter() {
            let before = spec.steps.len() - 1;
            spec.then(variant);
            variants.same.push((before, spec.then(&object), "a change".to_owned()));
        }
    }
    variants
}

/// Adds steps that change and revert fields of the varied objects separately, and neighbouring fields in both orders, and
/// steps that delete the objects in other modes. All changes are cut into runs, of which this is the `number`th; `unfit` ones
/// are left out.
pub(super) fn add_fields(
    spec: &mut Spec,
    trial: &Trial<'_>,
    number: usize,
    unfit: &BTreeSet<String>,
) -> Variants {
    let mut variants = Variants::default();
    let mut all = Vec::new();
    for (object, schema) in varied(spec) {
        let fields = trial.fields(&object, &schema);
        variants.kinds.extend(object["kind"].as_str().map(str::to_owned));
        variants.untried.extend(fields.untried.iter().cloned());
        variants.unset.extend(fields.unset.iter().cloned());
        let object = Rc::new(object);
        all.extend(fields.changes.iter().map(|change| (object.clone(), change.clone())));
    }
    let mut runs = all.chunks(FIELDS).skip(number);
    let here: Vec<_> = runs
        .next()
        .unwrap_or_default()
        .iter()
        .filter(|(_, change)| !unfit.contains(&change.text()))
        .collect();
    variants.later = runs.flatten().map(|(_, change)| change.name()).collect();
    for (object, change) in &here {
        let before = spec.steps.len() - 1;
        let changed = spec.then(&vary::with(object, &[change]));
        variants.same.push((before, spec.then(object), format!("a change of {}", change.name())));
        variants.fields.push(FieldChange { before, changed, change: change.clone() });
    }
    for pair in here.windows(2) {
        let [(object, one), (of, other)] = pair else { continue };
        let is_made = [one, other].into_iter().any(|change| change.origin == Origin::Made);
        if !is_made && Rc::ptr_eq(object, of) && one.name() != other.name() {
            add_orders(spec, trial, object, (one, other), &mut variants);
        }
    }
    let modes = here.iter().filter(|(_, change)| change.is_mode);
    variants.deletions = modes.flat_map(|(object, mode)| deletion(object, mode)).collect();
    variants
}

/// Returns steps that delete an object in another mode, as operators often do less in some, and create it anew.
fn deletion(object: &Value, mode: &Change) -> [Step; 3] {
    let other = Rc::new(vec![vary::with(object, &[mode])]);
    [Step::Apply(other.clone()), Step::Delete(other), Step::Apply(Rc::new(vec![object.clone()]))]
}

/// Adds steps with two changes in both orders, if the server takes them.
fn add_orders(
    spec: &mut Spec,
    trial: &Trial<'_>,
    object: &Value,
    (one, other): (&Change, &Change),
    variants: &mut Variants,
) {
    let [first, second, both] =
        [&[one][..], &[other], &[one, other]].map(|changes| vary::with(object, changes));
    if !trial.accepts(&[object, &first, &both, object, &second, &both, object]) {
        return;
    }
    spec.then(&first);
    let end = spec.then(&both);
    spec.then(object);
    spec.then(&second);
    let what = format!("the order of changes of {} and {}", one.name(), other.name());
    variants.same.push((end, spec.then(&both), what));
    spec.then(object);
}

/// Adds a step with one of the odd objects that the server accepts, and a step that reverts it; none if there are fewer.
pub(super) fn add_invalid(spec: &mut Spec, trial: &Trial<'_>, number: usize) -> Variants {
    let mut variants = Variants::default();
    let mut all = Vec::new();
    for (object, schema) in varied(spec) {
        let accepted = invalid::accepted(&object, &schema, &|forms| trial.accepts(forms));
        variants.against_schema.extend(accepted.broken);
        all.extend(accepted.odd.into_iter().map(|odd| (object.clone(), odd.change)));
    }
    if let Some((object, change)) = all.get(number) {
        let before = spec.steps.len() - 1;
        spec.then(&vary::with(object, &[change]));
        variants.invalid = Some(change.text());
        variants.same.push((before, spec.then(object), change.text()));
    }
    variants
}

/// Returns the user's steps, and the deletion of the applied custom resources, also in other modes; with `again`, also the
/// steps of a user who removes the operators' objects, and then starts over.
pub(super) fn all_steps(spec: &Spec, variants: &Variants, cluster: &Cluster, again: bool) -> Vec<Step> {
    let mut steps = spec.steps.clone();
    let roots = Rc::new(roots(spec, cluster));
    if spec.keeps || roots.is_empty() {
        return steps;
    }
    if again {
        let anew = [Step::RemoveMade, Step::Delete(roots.clone()), Step::Apply(roots.clone())];
        steps.extend(anew);
    }
    steps.extend(variants.deletions.iter().cloned());
    steps.push(Step::Delete(roots));
    steps
}

/// Returns the custom resources that the user applies, each in its last form.
fn roots(spec: &Spec, cluster: &Cluster) -> Vec<Value> {
    let mut roots: Vec<Value> = Vec::new();
    for step in &spec.steps {
        let all = match step {
            Step::Apply(all) => all,
            Step::Delete(all) => {
                // With their namespace, they are gone for good.
                roots.retain(|root| {
                    let is_space = |gone: &Value| {
                        gone["kind"] == "Namespace"
                            && gone["metadata"]["name"] == root["metadata"]["namespace"]
                    };
                    !all.iter().any(is_space)
                });
                continue;
            }
            Step::RemoveMade => continue,
        };
        for object in all.iter().filter(|object| is_custom(object, spec, cluster)) {
            let key = |object: &Value| {
                let metadata = &object["metadata"];
                [&object["kind"], &metadata["namespace"], &metadata["name"]].map(Value::to_string)
            };
            roots.retain(|known| key(known) != key(object));
            roots.push(object.clone());
        }
    }
    roots
}

/// Reports whether an object is a custom resource that the server serves.
pub(super) fn is_custom(object: &Value, spec: &Spec, cluster: &Cluster) -> bool {
    cluster.resource_of(object).is_some_and(|(group, resource)| spec.is_custom(&group, &resource))
}
