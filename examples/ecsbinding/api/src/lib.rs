//! API types of group `hopegi.com`: which cloud host is which node.
//!
//! `kubesmith generate` reads this source and writes the CRD, clientset, informers and listers.

pub mod v1;
