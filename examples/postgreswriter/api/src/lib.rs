//! API types of group `demo.yash.com`: rows of a PostgreSQL database.
//!
//! `kubesmith generate` reads this source and writes the CRD, clientset, informers and listers.

pub mod v1;
