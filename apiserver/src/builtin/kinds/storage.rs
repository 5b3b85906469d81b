//! Volumes and devices, with their classes and drivers.

use super::kind;
use crate::builtin::{BuiltIn, Generation, check, defaults};
use crate::names::NameRule;

const GROUP: &str = "storage.k8s.io";
const DEVICES: &str = "resource.k8s.io";

pub(super) static KINDS: &[BuiltIn] = &[
    BuiltIn {
        status: true,
        namespaced: false,
        returns_deleted: true,
        default: defaults::volume_object,
        check: check::volume,
        ..kind("", "PersistentVolume", "persistentvolumes", "persistentvolume", &["pv"])
    },
    BuiltIn {
        status: true,
        returns_deleted: true,
        default: defaults::claim,
        check: check::claim,
        check_status: check::claim_status,
        ..kind("", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", &["pvc"])
    },
    BuiltIn {
        namespaced: false,
        returns_deleted: true,
        default: defaults::storage_class,
        check: check::storage_class,
        ..kind(GROUP, "StorageClass", "storageclasses", "storageclass", &["sc"])
    },
    BuiltIn {
        status: true,
        namespaced: false,
        unconditional_update: false,
        returns_deleted: true,
        check: check::volume_attachment,
        check_status: check::volume_attachment_status,
        ..kind(GROUP, "VolumeAttachment", "volumeattachments", "volumeattachment", &[])
    },
    BuiltIn {
        namespaced: false,
        unconditional_update: false,
        returns_deleted: true,
        generation: Generation::Changes,
        default: defaults::csi_driver,
        check: check::csi_driver,
        ..kind(GROUP, "CSIDriver", "csidrivers", "csidriver", &[])
    },
    BuiltIn {
        namespaced: false,
        unconditional_update: false,
        returns_deleted: true,
        check: check::csi_node,
        ..kind(GROUP, "CSINode", "csinodes", "csinode", &[])
    },
    BuiltIn {
        unconditional_update: false,
        check: check::csi_storage_capacity,
        ..kind(GROUP, "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity", &[])
    },
    BuiltIn {
        namespaced: false,
        returns_deleted: true,
        check: check::volume_attributes_class,
        ..kind(GROUP, "VolumeAttributesClass", "volumeattributesclasses", "volumeattributesclass", &["vac"])
    },
    BuiltIn {
        namespaced: false,
        generation: Generation::Counted,
        returns_deleted: true,
        check: check::device_class,
        name_rule: NameRule::GeneratedSubdomain,
        ..kind(DEVICES, "DeviceClass", "deviceclasses", "deviceclass", &[])
    },
    BuiltIn {
        status: true,
        returns_deleted: true,
        default: defaults::resource_claim,
        check: check::resource_claim,
        check_status: check::resource_claim_status,
        ..kind(DEVICES, "ResourceClaim", "resourceclaims", "resourceclaim", &[])
    },
    BuiltIn {
        returns_deleted: true,
        default: defaults::resource_claim_template,
        check: check::resource_claim_template,
        ..kind(DEVICES, "ResourceClaimTemplate", "resourceclaimtemplates", "resourceclaimtemplate", &[])
    },
    BuiltIn {
        namespaced: false,
        generation: Generation::Counted,
        returns_deleted: true,
        selectable: &["spec.nodeName", "spec.driver"],
        check: check::resource_slice,
        ..kind(DEVICES, "ResourceSlice", "resourceslices", "resourceslice", &[])
    },
];
