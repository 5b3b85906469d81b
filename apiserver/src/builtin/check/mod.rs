//! Validation of built-in kinds: the rules of kube-apiserver's `pkg/apis/*/validation`, in their order and words.
//!
//! Each rule is in the module of its subject, under the name of its kind. [`field`] has the common parts.

mod addresses;
mod autoscaling;
mod containers;
mod csi;
mod data;
mod devices;
mod downward;
mod endpoints;
mod ephemeral;
mod events;
mod field;
mod flow;
mod gated;
mod ingress;
mod iscsi;
mod job_policies;
mod job_status;
mod jobs;
mod network;
mod nodes;
mod objects;
mod persistent_volumes;
mod pod_annotations;
mod pod_resources;
mod pod_status;
mod pods;
mod probes;
mod quotas;
mod resize;
mod resources;
mod restart;
mod scheduling;
mod security;
mod services;
mod storage;
#[cfg(test)]
mod tests;
mod tolerated;
mod volumes;
mod windows;
mod workload_status;
mod workloads;

pub(crate) use addresses::parse as parse_address;
pub(in crate::builtin) use addresses::{range_warnings, warning as address_warning};
pub(super) use autoscaling::{autoscaler, autoscaler_status};
pub(super) use csi::{
    csi_driver, csi_node, csi_storage_capacity, volume_attachment, volume_attachment_status,
    volume_attributes_class,
};
pub(super) use data::{config_map, secret};
pub(crate) use devices::drop_deallocated;
pub(super) use devices::{
    admin_access, device_class, resource_claim, resource_claim_status, resource_claim_template,
    resource_slice,
};
pub(super) use endpoints::{endpoint_slice, endpoints};
pub(super) use ephemeral::pod_ephemeral_containers;
pub(super) use events::{core_event, event};
pub(crate) use field::domain_prefixed_path;
pub(super) use flow::{flow_schema, flow_status, priority_level};
pub(super) use ingress::{INGRESS_CLASS, ingress, ingress_status, network_policy};
pub(super) use job_status::job_status;
pub(super) use jobs::{cron_job, job};
pub(super) use network::{ingress_class, ip_address, service_cidr};
pub(super) use nodes::{node, node_status};
pub(crate) use objects::SYSTEM_PRIORITIES;
pub(super) use objects::{
    api_service, controller_revision, lease, namespace, namespace_finalizers, namespace_status,
    priority_class, role, role_binding, runtime_class,
};
pub(super) use persistent_volumes::volume;
pub(super) use pod_status::pod_status;
pub(super) use pods::pod;
pub(super) use quotas::{quota, quota_status};
pub(super) use resize::pod_resize;
pub(crate) use resources::is_extended;
pub(super) use resources::limit_range;
pub(crate) use services::address_fields;
pub(super) use services::{service, service_status};
pub(super) use storage::{claim, claim_status, storage_class};
pub(super) use workload_status::{daemon_set_status, disruption_budget_status, replicas_status};
pub(super) use workloads::{
    daemon_set, deployment, disruption_budget, pod_template, replica_set, replication_controller,
    stateful_set,
};
