//! Kinds that run or scale pods.

use super::kind;
use crate::builtin::{BuiltIn, Conversion, Generation, autoscaling, check, defaults};
use crate::names::NameRule;

/// A kind whose controller creates pods.
const fn workload(
    group: &'static str,
    name: &'static str,
    plural: &'static str,
    singular: &'static str,
    short_names: &'static [&'static str],
) -> BuiltIn {
    BuiltIn {
        status: true,
        generation: Generation::Counted,
        categories: &["all"],
        ..kind(group, name, plural, singular, short_names)
    }
}

pub(super) static KINDS: &[BuiltIn] = &[
    BuiltIn {
        returns_deleted: true,
        selectable: &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "spec.host",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        default: defaults::pod,
        prepare: defaults::prepare_pod,
        check: check::pod,
        check_status: check::pod_status,
        ..workload("", "Pod", "pods", "pod", &["po"])
    },
    BuiltIn {
        returns_deleted: true,
        generation: Generation::Counted,
        default: defaults::pod_template,
        check: check::pod_template,
        ..kind("", "PodTemplate", "podtemplates", "podtemplate", &[])
    },
    BuiltIn {
        scale: true,
        selectable: &["status.replicas"],
        default: defaults::replication_controller,
        check: check::replication_controller,
        check_status: check::replicas_status,
        name_rule: NameRule::GeneratedSubdomain,
        ..workload("", "ReplicationController", "replicationcontrollers", "replicationcontroller", &["rc"])
    },
    BuiltIn {
        scale: true,
        default: defaults::deployment,
        check: check::deployment,
        check_status: check::replicas_status,
        ..workload("apps", "Deployment", "deployments", "deployment", &["deploy"])
    },
    BuiltIn {
        scale: true,
        default: defaults::replica_set,
        check: check::replica_set,
        check_status: check::replicas_status,
        ..workload("apps", "ReplicaSet", "replicasets", "replicaset", &["rs"])
    },
    BuiltIn {
        scale: true,
        default: defaults::stateful_set,
        check: check::stateful_set,
        check_status: check::replicas_status,
        name_rule: NameRule::Label,
        ..workload("apps", "StatefulSet", "statefulsets", "statefulset", &["sts"])
    },
    BuiltIn {
        default: defaults::daemon_set,
        prepare: defaults::note_template_generation,
        check: check::daemon_set,
        check_status: check::daemon_set_status,
        ..workload("apps", "DaemonSet", "daemonsets", "daemonset", &["ds"])
    },
    BuiltIn {
        check: check::controller_revision,
        ..kind("apps", "ControllerRevision", "controllerrevisions", "controllerrevision", &[])
    },
    BuiltIn {
        selectable: &["status.successful"],
        default: defaults::job,
        prepare: defaults::select_own_pods,
        check: check::job,
        check_status: check::job_status,
        ..workload("batch", "Job", "jobs", "job", &[])
    },
    BuiltIn {
        default: defaults::cron_job,
        check: check::cron_job,
        ..workload("batch", "CronJob", "cronjobs", "cronjob", &["cj"])
    },
    BuiltIn {
        status: true,
        categories: &["all"],
        version: "v2",
        default: autoscaling::default,
        check: check::autoscaler,
        check_status: check::autoscaler_status,
        ..kind(
            "autoscaling",
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            "horizontalpodautoscaler",
            &["hpa"],
        )
    },
    BuiltIn {
        status: true,
        categories: &["all"],
        conversion: Some(Conversion {
            stored_as: "autoscaling/v2",
            collection: "horizontalpodautoscalers.autoscaling",
            to_stored: autoscaling::to_v2,
            from_stored: autoscaling::from_v2,
        }),
        default: autoscaling::default_v1,
        check: autoscaling::check_v1,
        check_status: check::autoscaler_status,
        ..kind(
            "autoscaling",
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            "horizontalpodautoscaler",
            &["hpa"],
        )
    },
    BuiltIn {
        status: true,
        generation: Generation::Counted,
        unconditional_update: false,
        check: check::disruption_budget,
        check_status: check::disruption_budget_status,
        name_rule: NameRule::PathSegment,
        ..kind("policy", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", &["pdb"])
    },
];
