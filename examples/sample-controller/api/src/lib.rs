//! API types of group `samplecontroller.k8s.io`: a Deployment, asked for by name and number.
//!
//! `kubesmith generate` reads this source and writes the CRD, clientset, informers and listers.

pub mod v1alpha1;
