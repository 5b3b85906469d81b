//! The addresses and node ports of services.

use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::Value;

use super::Server;
use crate::meta;
use crate::store::Object;

impl Server {
    /// Returns a free address for a service, from 10.0.1.1 to 10.0.255.254: the first 256 of the range are for addresses
    /// that clients choose (`calculateRangeOffset` of pkg/registry/core/service/ipallocator).
    pub(crate) fn service_address(&self) -> String {
        const OWN: u64 = 0xfefe;
        let used =
            |address: &str| self.any_service(|spec| meta::strings(&spec["clusterIPs"]).contains(&address));
        let next = || {
            let n = self.store.count("service-addresses") % OWN + 0x101;
            format!("10.0.{}.{}", n >> 8, n & 0xff)
        };
        // The search in a full range would never end. The write of the service then refuses the address.
        (0..OWN).map(|_| next()).find(|address| !used(address)).unwrap_or_else(next)
    }

    /// Returns the stored services.
    pub(crate) fn services(&self) -> Vec<Arc<Object>> {
        let services = self.store.list("services", "", None).map(|list| list.objects).unwrap_or_default();
        services.into_iter().map(|(_, service)| service).collect()
    }

    /// Excludes other writes of services until the result is dropped.
    pub(crate) fn lock_services(&self) -> MutexGuard<'_, ()> {
        self.writing_services.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports whether a stored service has such a spec.
    fn any_service(&self, is_so: impl Fn(&Value) -> bool) -> bool {
        self.services().iter().any(|service| is_so(&service.value["spec"]))
    }

    /// Returns a port on the nodes that is free and not in the spec `own`, from 30086 to 32767: those before are for ports that clients choose
    /// (`calculateRangeOffset` of pkg/registry/core/service/portallocator).
    pub(crate) fn node_port(&self, own: &Value) -> u64 {
        let uses = |spec: &Value, number: u64| {
            spec["healthCheckNodePort"] == number
                || spec["ports"].as_array().into_iter().flatten().any(|p| p["nodePort"] == number)
        };
        let used = |number: u64| uses(own, number) || self.any_service(|spec| uses(spec, number));
        let next = || 30_086 + self.store.count("node-ports") % 2_682;
        (0..2_682).map(|_| next()).find(|number| !used(*number)).unwrap_or_else(next)
    }
}
