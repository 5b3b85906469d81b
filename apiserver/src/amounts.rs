//! Amounts of resources, and their sums over the containers of a pod. Source: `component-helpers/resource/helpers.go`, and
//! `staging/src/k8s.io/apiserver/pkg/quota/v1/resources.go`.

use std::collections::BTreeMap;

use kubesmith_apimachinery::quantity::Quantity;
use serde_json::{Map, Value};

/// Quantities by resource: Go's `ResourceList`.
pub(crate) type Quantities = BTreeMap<String, Quantity>;

/// The quantities of a field, by resource. They compare by value: `1Gi` is `1073741824`.
pub(crate) fn quantities(value: &Value) -> Quantities {
    let read =
        |(name, amount): (&String, &Value)| Some((name.clone(), Quantity::parse(amount.as_str()?).ok()?));
    value.as_object().into_iter().flatten().filter_map(read).collect()
}

/// The quantities as a field.
pub(crate) fn to_value(amounts: &Quantities) -> Value {
    let entries = amounts.iter().map(|(name, amount)| (name.clone(), Value::from(amount.to_string())));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// Adds quantities to others.
pub(crate) fn add(to: &mut Quantities, from: &Quantities) {
    for (name, amount) in from {
        let sum = to.get(name).map_or(*amount, |own| *own + *amount);
        to.insert(name.clone(), sum);
    }
}

/// `SubtractWithNonNegativeResult`.
pub(crate) fn increase(new: &Quantities, old: &Quantities) -> Quantities {
    let zero = Quantity::from(0);
    let rest = |(name, amount): (&String, &Quantity)| {
        let rest = old.get(name).map_or(*amount, |old| *amount - *old);
        (name.clone(), rest.max(zero))
    };
    new.iter().map(rest).collect()
}

/// Sums the requests or limits of a pod; its own take the place of the sums of its containers.
pub(crate) fn of_containers(pod: &Value, part: &str) -> Quantities {
    let mut sum = aggregate(&pod["spec"], part);
    let of_pod = quantities(&pod["spec"]["resources"][part]);
    sum.extend(of_pod.into_iter().filter(|(name, _)| is_of_pods(name)));
    sum
}

/// Sums the requests or limits of a pod's containers (`AggregateContainerRequests`, `AggregateContainerLimits`). Sidecars count
/// from their start on, other init containers alone.
pub(crate) fn aggregate(spec: &Value, part: &str) -> Quantities {
    let containers = |list: &str| spec[list].as_array().into_iter().flatten();
    let own = |container: &Value| quantities(&container["resources"][part]);
    let (mut sum, mut sidecars, mut starting) = Default::default();
    containers("containers").for_each(|container| add(&mut sum, &own(container)));
    for container in containers("initContainers") {
        let mut needs = own(container);
        if container["restartPolicy"] == "Always" {
            add(&mut sum, &needs);
            add(&mut sidecars, &needs);
            needs.clone_from(&sidecars);
        } else {
            add(&mut needs, &sidecars);
        }
        raise(&mut starting, needs);
    }
    raise(&mut sum, starting);
    sum
}

/// `PodRequests` and `PodLimits`.
pub(crate) fn total(pod: &Value, part: &str) -> Quantities {
    let mut sum = of_containers(pod, part);
    let mut overhead = quantities(&pod["spec"]["overhead"]);
    if part == "limits" {
        overhead.retain(|name, _| sum.get(name).is_some_and(|limit| limit.sign() != 0));
    }
    add(&mut sum, &overhead);
    sum
}

/// `maxResourceList`.
fn raise(to: &mut Quantities, from: Quantities) {
    for (name, amount) in from {
        let most = to.get(&name).map_or(amount, |own| (*own).max(amount));
        to.insert(name, most);
    }
}

/// `IsSupportedPodLevelResource`.
pub(crate) fn is_of_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}
