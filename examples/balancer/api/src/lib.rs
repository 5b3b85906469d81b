//! API types of group `exposer.hliangzhao.io`: traffic shared over weighted backends.
//!
//! `kubesmith generate` reads this source and writes the CRD, clientset, informers and listers.

pub mod v1alpha1;
