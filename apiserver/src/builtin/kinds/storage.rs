//! Volumes and devices, and what provides them.

use super::kind;
use crate::builtin::{BuiltIn, check, defaults};

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
        ..kind(GROUP, "VolumeAttachment", "volumeattachments", "volumeattachment", &[])
    },
    BuiltIn {
        namespaced: false,
        unconditional_update: false,
        returns_deleted: true,
        default: defaults::csi_driver,
        ..kind(GROUP, "CSIDriver", "csidrivers", "csidriver", &[])
    },
    BuiltIn {
        namespaced: false,
        unconditional_update: false,
        returns_deleted: true,
        ..kind(GROUP, "CSINode", "csinodes", "csinode", &[])
    },
    BuiltIn {
        unconditional_update: false,
        ..kind(GROUP, "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity", &[])
    },
    BuiltIn {
        namespaced: false,
        returns_deleted: true,
        ..kind(GROUP, "VolumeAttributesClass", "volumeattributesclasses", "volumeattributesclass", &["vac"])
    },
    BuiltIn {
        namespaced: false,
        generation: true,
        returns_deleted: true,
        ..kind(DEVICES, "DeviceClass", "deviceclasses", "deviceclass", &[])
    },
    BuiltIn {
        status: true,
        returns_deleted: true,
        ..kind(DEVICES, "ResourceClaim", "resourceclaims", "resourceclaim", &[])
    },
    BuiltIn {
        returns_deleted: true,
        ..kind(DEVICES, "ResourceClaimTemplate", "resourceclaimtemplates", "resourceclaimtemplate", &[])
    },
    BuiltIn {
        namespaced: false,
        generation: true,
        returns_deleted: true,
        selectable: &["spec.nodeName", "spec.driver"],
        ..kind(DEVICES, "ResourceSlice", "resourceslices", "resourceslice", &[])
    },
];
