//! Version `v1alpha1` of group `tsi.tiduyun.com`.

mod ip_pool;
pub use ip_pool::{ADDRESS_ANNOTATION, IPPool, IPPoolSpec, IPPoolStatus, POOL_ANNOTATION};
// +kubesmith:scaffold:kinds
