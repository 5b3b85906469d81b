//! Volumes and what provides them.

use super::kind;
use crate::builtin::{BuiltIn, check, defaults};

const GROUP: &str = "storage.k8s.io";

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
];
