//! The status of pods. Source: `ValidatePodStatusUpdate` of `pkg/apis/core/validation`.

use serde_json::{Value, json};

use super::field::{Errors, Field};
use super::{addresses, restart};
use crate::names::{NameRule, quoted};
use crate::status::Cause;

/// `validatePodIPs` and `validateHostIPs`: addresses of the old status stay valid.
fn status_addresses(status: &Field<'_>, old: &Value, errors: &mut Errors) {
    for name in ["podIPs", "hostIPs"] {
        let list = status.child(name);
        let first = list.items().next().map(|entry| entry.child("ip"));
        if let Some(first) =
            first.filter(|first| name == "hostIPs" && first.text() != status.child("hostIP").text())
        {
            errors.invalid(&first, "must be equal to `hostIP`");
        }
        let before = Field::root(old).child("status").child(name);
        let kept: Vec<&str> = before.items().map(|entry| entry.child("ip").text()).collect();
        let mut families = Vec::new();
        for entry in list.items() {
            let address = entry.child("ip").at(entry.path.clone());
            addresses::ip(&address, &kept, errors);
            families.push(addresses::parse(address.text()).map(|one| one.is_ipv4()));
        }
        if families.len() < 2 {
            continue;
        }
        if let Some(i) = families.iter().position(Option::is_none) {
            let text = list.items().nth(i).map_or("", |entry| entry.child("ip").text());
            let detail = format!("failed to check for dual stack with error:invalid IP[{i}]: {text}");
            errors.push(Cause::new("InternalError", &list.path, format!("Internal error: {detail}")));
        }
        let is_dual = matches!(*families, [Some(one), Some(other)] if one != other);
        if !is_dual {
            let shown =
                Value::Array(list.items().map(|entry| json!({"IP": entry.child("ip").text()})).collect());
            errors.invalid(&list.holding(&shown), "may specify no more than one IP for each IP family");
        }
    }
}

/// `ValidatePodStatusUpdate`.
pub(in crate::builtin) fn pod_status(new: &Value, old: &Value) -> Vec<Cause> {
    Errors::of(|errors| {
        let (status, before) = (Field::root(new).child("status"), Field::root(old).child("status"));
        let spec = Field::root(old).child("spec");
        conditions(&status.child("conditions"), errors);
        nominated(&status, &before, spec.child("nodeName").text(), errors);
        let generation = status.child("observedGeneration");
        if generation.number_or_zero() < 0 {
            errors.invalid(&generation, NEGATIVE_GENERATION);
        }
        errors.immutable(&status.child("qosClass"), &before.child("qosClass"));
        let policy = spec.child("restartPolicy").text();
        for (list, containers) in
            [("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")]
        {
            let of_spec = |name: &str| {
                spec.child(containers).items().find(|container| container.child("name").text() == name)
            };
            let may_restart = |name: &str, exit_code: i64| {
                restart::all_could_restart(&spec)
                    || of_spec(name).is_some_and(|one| restart::should_restart(&one, policy, exit_code))
            };
            restarts(&status.child(list), &old["status"][list], may_restart, errors);
        }
        let list = "ephemeralContainerStatuses";
        restarts(&status.child(list), &old["status"][list], |_, _| false, errors);
        claims(&status.child("resourceClaimStatuses"), &spec, errors);
        extended_claim(&status.child("extendedResourceClaimStatus"), &spec, errors);
        status_addresses(&status, old, errors);
        resources(&status, &spec, errors);
    })
}

/// Checks the users and the allocated resources of containers.
fn resources(status: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    for (list, _) in LISTS {
        users(&status.child(list), spec.child("os").child("name").text(), errors);
    }
    for (list, containers) in LISTS {
        match containers {
            Some(containers) => allocated(&status.child(list), &spec.child(containers), errors),
            None => unallocated(&status.child(list), errors),
        }
    }
}

/// `ValidateContainerStateTransition` and its siblings for init and ephemeral containers. `may_restart` gets the name and
/// the exit code of a container that ended.
fn restarts(new: &Field<'_>, old: &Value, may_restart: impl Fn(&str, i64) -> bool, errors: &mut Errors) {
    for before in Field::root(old).at(new.path.clone()).items() {
        let (name, ended) = (before.child("name").text(), before.child("state").child("terminated"));
        if !ended.is_set() || may_restart(name, ended.child("exitCode").number_or_zero()) {
            continue;
        }
        let runs = |now: &Field<'_>| {
            now.child("name").text() == name && !now.child("state").child("terminated").is_set()
        };
        if new.items().any(|now| runs(&now)) {
            errors.forbidden(&before.child("state"), "may not be transitioned to non-terminated state");
        }
    }
}

/// The lists of statuses, and the containers that may have allocated resources.
const LISTS: [(&str, Option<&str>); 3] = [
    ("containerStatuses", Some("containers")),
    ("initContainerStatuses", Some("initContainers")),
    ("ephemeralContainerStatuses", None),
];

const NEGATIVE_GENERATION: &str = "must be a non-negative integer";

/// `validatePodConditions`.
fn conditions(conditions: &Field<'_>, errors: &mut Errors) {
    for condition in conditions.items() {
        let generation = condition.child("observedGeneration");
        if generation.number_or_zero() < 0 {
            errors.invalid(&generation, NEGATIVE_GENERATION);
        }
        let type_ = condition.child("type");
        if !matches!(type_.text(), "PodScheduled" | "Ready" | "Initialized") {
            errors.qualified_name(&type_.at(condition.child("Type").path));
        }
    }
}

/// Checks a new node that the scheduler prefers, which a bound pod does not need.
fn nominated(status: &Field<'_>, before: &Field<'_>, node: &str, errors: &mut Errors) {
    let name = status.child("nominatedNodeName");
    if name.is_empty() || name.value == before.child("nominatedNodeName").value {
        return;
    }
    errors.all_invalid(&name, NameRule::Subdomain.check(name.text()));
    if !node.is_empty() {
        errors.forbidden(&name, "may not be set on pods that are already bound to a node");
    }
}

/// `validatePodResourceClaimStatuses`.
fn claims(statuses: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    let mut seen: Vec<&str> = Vec::new();
    for status in statuses.items() {
        let name = status.child("name");
        if !spec.child("resourceClaims").items().any(|claim| claim.child("name").text() == name.text()) {
            errors.invalid(&name, "must match the name of an entry in `spec.resourceClaims`");
        }
        if seen.contains(&name.text()) {
            errors.duplicate(&name);
        }
        seen.push(name.text());
        let claim = status.child("resourceClaimName");
        if claim.is_set() {
            errors.all_invalid(&claim, NameRule::Subdomain.check(claim.text()));
        }
    }
}

/// `validatePodExtendedResourceClaimStatus`.
fn extended_claim(status: &Field<'_>, spec: &Field<'_>, errors: &mut Errors) {
    if !status.is_set() {
        return;
    }
    let mappings = status.child("requestMappings");
    if mappings.is_empty() {
        errors.required(&mappings, "at least one request mapping is required");
    }
    let mut seen: Vec<[&str; 3]> = Vec::new();
    for mapping in mappings.items() {
        let [container, resource, request] =
            ["containerName", "resourceName", "requestName"].map(|name| mapping.child(name));
        let mut containers = ["containers", "initContainers"].map(|list| spec.child(list)).into_iter();
        let own =
            containers.find_map(|list| list.items().find(|own| own.child("name").text() == container.text()));
        match own {
            Some(own) if own.value["resources"]["requests"].get(resource.text()).is_some() => {}
            Some(_) => errors.invalid(
                &resource,
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or \
                 spec.containers.resources.requests",
            ),
            None => errors.invalid(
                &container,
                "must match the name of an entry in spec.initContainers.name or spec.containers.name",
            ),
        }
        // kube-apiserver's path lacks the index of the mapping, too.
        errors.all_invalid(
            &request.at(status.child("requestName").path),
            NameRule::Label.check(request.text()),
        );
        let names = [&container, &resource, &request];
        if seen.contains(&names.map(Field::text)) {
            names.into_iter().for_each(|name| errors.duplicate(name));
        }
        seen.push(names.map(Field::text));
    }
    errors.required_name(&status.child("resourceClaimName"), NameRule::Subdomain);
}

/// `validateContainerStatusUsers`.
fn users(statuses: &Field<'_>, system: &str, errors: &mut Errors) {
    for linux in statuses.items().map(|status| status.child("user").child("linux")) {
        if !linux.is_set() {
            continue;
        }
        if system == "windows" {
            errors.forbidden(&linux, "cannot be set for a windows pod");
            continue;
        }
        let groups = linux.child("supplementalGroups");
        for id in [linux.child("uid"), linux.child("gid")].into_iter().chain(groups.items()) {
            if !(0..=i64::from(i32::MAX)).contains(&id.number_or_zero()) {
                errors.invalid(&id, "must be between 0 and 2147483647, inclusive");
            }
        }
    }
}

/// The longest message about the health of a resource: `ResourceHealthMessageMaxLength`.
const LONGEST_MESSAGE: usize = 1024;

/// `validateContainerStatusAllocatedResourcesStatus`.
fn allocated(statuses: &Field<'_>, containers: &Field<'_>, errors: &mut Errors) {
    for status in statuses.items() {
        let own = containers.items().find(|own| own.child("name").text() == status.child("name").text());
        for resource in status.child("allocatedResourcesStatus").items() {
            if let Some(own) = &own {
                requested(&resource.child("name"), &own.child("resources"), errors);
            }
            let mut seen: Vec<&str> = Vec::new();
            for device in resource.child("resources").items() {
                errors.text_of(&device.child("health"), &["Healthy", "Unhealthy", "Unknown"]);
                let message = device.child("message");
                if message.is_set() && message.is_empty() {
                    errors.required(&message, "must be non-empty if specified");
                } else if message.text().len() > LONGEST_MESSAGE {
                    errors.too_long(&message.path, LONGEST_MESSAGE);
                }
                let id = device.child("resourceID");
                if seen.contains(&id.text()) {
                    errors.duplicate_as(&id, &quoted(id.text()));
                }
                seen.push(id.text());
            }
        }
    }
}

/// Checks that the container requests a resource, or has a claim such as `claim:name/request`.
fn requested(name: &Field<'_>, resources: &Field<'_>, errors: &mut Errors) {
    if name.text().starts_with("claim:") {
        let is_own = |claim: Field<'_>| {
            let request = claim.child("request").text();
            let tail = if request.is_empty() { String::new() } else { format!("/{request}") };
            format!("claim:{}{tail}", claim.child("name").text()) == name.text()
        };
        if !resources.child("claims").items().any(is_own) {
            let detail = "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or \
                          'claim:<claimName>' if request is empty";
            errors.invalid(name, detail);
        }
    } else if resources.value["requests"].get(name.text()).is_none() {
        errors.invalid(name, "must match one of the container's resource requests");
    }
}

/// `validateContainerStatusNoAllocatedResourcesStatus`.
fn unallocated(statuses: &Field<'_>, errors: &mut Errors) {
    for status in statuses.items() {
        let resources = status.child("allocatedResourcesStatus");
        if !resources.is_empty() {
            errors.forbidden(&resources, "must not be specified in container status");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(spec: &Value, list: &str, exit_code: i64) -> Vec<String> {
        let status = |state: Value| json!({list: [{"name": "a"}, {"name": "c", "state": state}]});
        let old = json!({"spec": spec, "status": status(json!({"terminated": {"exitCode": exit_code}}))});
        let new = json!({"spec": spec, "status": status(json!({"running": {}}))});
        pod_status(&new, &old).into_iter().map(|cause| cause.field).collect()
    }

    #[test]
    fn container_restarts_only_if_its_policies_and_rules_say_so() {
        for (list, statuses) in
            [("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")]
        {
            let refused = [format!("status.{statuses}[1].state")];
            let codes = json!({"operator": "In", "values": [42]});
            let rule = |action: &str| json!([{"action": action, "exitCodes": codes}]);
            for (policy, container, exit_code, restarts) in [
                ("Never", json!({"name": "c"}), 1, false),
                ("OnFailure", json!({"name": "c"}), 1, true),
                ("Always", json!({"name": "other"}), 1, false),
                ("Always", json!({"name": "c", "restartPolicy": "Never"}), 1, false),
                ("Never", json!({"name": "c", "restartPolicy": "Always"}), 0, true),
                (
                    "Never",
                    json!({"name": "c", "restartPolicy": "Never", "restartPolicyRules": rule("Restart")}),
                    42,
                    true,
                ),
                (
                    "Never",
                    json!({"name": "other", "restartPolicyRules": rule("RestartAllContainers")}),
                    0,
                    true,
                ),
            ] {
                let spec = json!({"restartPolicy": policy, list: [container]});
                let wanted = if restarts { &[][..] } else { &refused };
                assert_eq!(faults(&spec, statuses, exit_code), wanted, "{spec}");
            }
        }
        let always = json!({"restartPolicy": "Always", "containers": [{"name": "c"}]});
        let place = "status.ephemeralContainerStatuses[1].state";
        assert_eq!(faults(&always, "ephemeralContainerStatuses", 1), [place]);
    }

    fn fields(spec: &Value, old: &Value, new: &Value) -> Vec<String> {
        let pod = |status: &Value| json!({"spec": spec, "status": status});
        pod_status(&pod(new), &pod(old)).into_iter().map(|cause| cause.field).collect()
    }

    /// Cases of `TestValidatePodStatusUpdate` in pkg/apis/core/validation/validation_test.go.
    #[test]
    fn status_is_compared_with_the_one_before() {
        let bound = json!({"nodeName": "n"});
        let claims = json!({"resourceClaims": [{"name": "c"}]});
        for (spec, old, new, expected) in [
            (&json!({}), json!({}), json!({"nominatedNodeName": "n"}), vec![]),
            (
                &json!({}),
                json!({}),
                json!({"extendedResourceClaimStatus": {}}),
                vec![
                    "status.extendedResourceClaimStatus.requestMappings",
                    "status.extendedResourceClaimStatus.resourceClaimName",
                ],
            ),
            (
                &json!({"containers": [{"name": "c", "resources": {"requests": {"a.b/c": "1"}}}, {"name": "d"}]}),
                json!({}),
                json!({"extendedResourceClaimStatus": {"resourceClaimName": "n", "requestMappings": [
                    {"containerName": "c", "resourceName": "a.b/c", "requestName": "r"},
                    {"containerName": "d", "resourceName": "a.b/c", "requestName": "R"},
                    {"containerName": "e", "resourceName": "a.b/c", "requestName": "r"},
                    {"containerName": "c", "resourceName": "a.b/c", "requestName": "r"}]}}),
                vec![
                    "status.extendedResourceClaimStatus.requestMappings[1].resourceName",
                    "status.extendedResourceClaimStatus.requestName",
                    "status.extendedResourceClaimStatus.requestMappings[2].containerName",
                    "status.extendedResourceClaimStatus.requestMappings[3].containerName",
                    "status.extendedResourceClaimStatus.requestMappings[3].resourceName",
                    "status.extendedResourceClaimStatus.requestMappings[3].requestName",
                ],
            ),
            (&json!({}), json!({}), json!({"nominatedNodeName": "n_"}), vec!["status.nominatedNodeName"]),
            (&bound, json!({}), json!({"nominatedNodeName": "n"}), vec!["status.nominatedNodeName"]),
            (&bound, json!({"nominatedNodeName": "n"}), json!({"nominatedNodeName": "n"}), vec![]),
            (
                &json!({}),
                json!({"qosClass": "Burstable"}),
                json!({"qosClass": "BestEffort"}),
                vec!["status.qosClass"],
            ),
            (&json!({}), json!({}), json!({"observedGeneration": -1}), vec!["status.observedGeneration"]),
            (
                &json!({}),
                json!({}),
                json!({"conditions": [{"type": "a b"}]}),
                vec!["status.conditions[0].Type"],
            ),
            (&claims, json!({}), json!({"resourceClaimStatuses": [{"name": "c"}]}), vec![]),
            (
                &claims,
                json!({}),
                json!({"resourceClaimStatuses": [{"name": "d"}]}),
                vec!["status.resourceClaimStatuses[0].name"],
            ),
        ] {
            assert_eq!(fields(spec, &old, &new), expected, "{new}");
        }
    }

    #[test]
    fn allocated_resources_are_those_that_the_container_requests() {
        let spec = json!({"containers": [{"name": "c", "resources": {"requests": {"x/y": "1"}, "claims": [{"name": "d"}]}}]});
        let found = |resource: Value| {
            let status = json!({"name": "c", "allocatedResourcesStatus": [resource]});
            fields(&spec, &json!({}), &json!({"containerStatuses": [status]}))
        };
        assert!(found(json!({"name": "x/y"})).is_empty());
        assert!(found(json!({"name": "claim:d"})).is_empty());
        assert_eq!(
            found(json!({"name": "z"})),
            ["status.containerStatuses[0].allocatedResourcesStatus[0].name"]
        );
        let device = json!({"resourceID": "a", "health": "well"});
        assert_eq!(found(json!({"name": "x/y", "resources": [device]})).len(), 1);
    }
}
