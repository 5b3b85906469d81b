//! The API of the README's example.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// An order of a bakery.
#[derive(Clone, Debug, Default, Resource)]
#[resource(
    group = "bakery.example.com",
    version = "v1",
    kind = "Order",
    status,
    print_column(name = "Loaves", json_path = ".spec.loaves")
)]
#[genclient]
pub struct Order {
    /// Standard object metadata.
    pub metadata: ObjectMeta,
    /// The wish of a customer.
    pub spec: OrderSpec,
    /// The work of the bakery.
    #[serde(default)]
    pub status: OrderStatus,
}

/// The wish of a customer.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct OrderSpec {
    /// How many loaves.
    #[validation(minimum = 1, maximum = 100)]
    pub loaves: i32,
    /// Who picks them up.
    #[validation(min_length = 1)]
    pub customer: String,
}

/// The work of the bakery.
#[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
pub struct OrderStatus {
    /// How many loaves are baked.
    #[serde(default)]
    pub baked: i32,
}
