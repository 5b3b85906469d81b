//! Defaults in every place that a field can be.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use k8s_openapi::api::core::v1::ContainerPort;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Cafe serves coffee.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "cafe.example.com", version = "v1", status)]
#[genclient]
#[deepcopy]
pub struct Cafe {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: CafeSpec,
    /// What was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<CafeStatus>,
}

const CLOSES_AT: i32 = 12 + 6;

mod menu {
    use super::Shift;

    const LATE: Shift = Shift::Evening;

    pub(crate) const SPECIAL: Shift = LATE;
}

/// What is wanted of a cafe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct CafeSpec {
    /// A number.
    #[schema(default = 4)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table_count: Option<i32>,
    /// A keyword.
    #[schema(default = "bar")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// An enum.
    #[schema(default = "Morning")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
    /// What a function gives.
    #[serde(default = "opens_at", skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<i32>,
    /// A constant.
    #[schema(default = ref(CLOSES_AT))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<i32>,
    /// Constants of another module, as markers name them.
    ///
    /// +default=ref(menu::SPECIAL)
    #[serde(skip_serializing_if = "Option::is_none")]
    pub special: Option<Shift>,
    /// No `Option`: it is never unset.
    #[serde(default = "seats")]
    pub seats: i32,
    /// A struct with a default of its own, in which something is left out.
    #[schema(default = {"roast": "dark"})]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// A struct without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare: Option<Box<Machine>>,
    /// A list of structs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<Counter>,
    /// A map of lists of structs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rooms: Option<BTreeMap<String, Vec<Counter>>>,
    /// Fields beside the others.
    #[serde(flatten)]
    pub address: Address,
    /// Fields beside the others that may all lack.
    #[serde(flatten)]
    pub delivery: Option<Delivery>,
    /// An enum beside the others.
    #[serde(flatten)]
    pub tax: Tax,
    /// An alias of what is no list.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub bars: Bars,
    /// Functions make its form.
    #[schema(schemaless, default = "5m")]
    #[validation(type = "string")]
    #[serde(default, with = "minutes", skip_serializing_if = "Option::is_none")]
    pub grace: Option<Duration>,
    /// An enum whose variants have defaults.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment: Option<Payment>,
    /// A struct with a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Pair<Counter>>,
    /// A newtype.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest: Option<Old>,
    /// Kubernetes has defaults, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<ContainerPort>,
}

fn opens_at() -> Option<i32> {
    Some(7)
}

fn seats() -> i32 {
    12
}

/// When people work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Schema)]
pub enum Shift {
    /// Early.
    Morning,
    /// Late.
    Evening,
}

/// Makes coffee.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Machine {
    /// How dark.
    #[schema(default = "light")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roast: Option<String>,
    /// In bar.
    #[schema(default = 9)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<i64>,
}

/// Sells coffee.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Counter {
    /// What it stands on.
    #[serde(default)]
    pub floor: i32,
    /// What it sells.
    #[schema(default = ["coffee", "tea"])]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goods: Option<Vec<String>>,
    /// What it has.
    #[serde(default)]
    pub machine: Machine,
}

/// Where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Address {
    /// In which country.
    #[schema(default = "it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

/// How it is brought.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Delivery {
    /// By whom.
    #[schema(default = "bike")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vehicle: Option<String>,
    /// With what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boiler: Option<Machine>,
}

/// What the state gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum Tax {
    /// A share.
    Vat {
        /// In percent.
        #[schema(default = 22)]
        #[serde(skip_serializing_if = "Option::is_none")]
        percent: Option<i32>,
    },
    /// For a machine.
    Levy(Machine),
}

impl Default for Tax {
    fn default() -> Self {
        Self::Vat { percent: None }
    }
}

/// Another name for a set.
pub type Bars = BTreeSet<Bar>;

/// Stands in a cafe.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Schema)]
pub struct Bar {
    /// How many sit there.
    #[schema(default = 6)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stools: Option<i32>,
}

/// Writes durations as minutes.
mod minutes {
    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, out: S) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => out.serialize_str(&format!("{}m", time.as_secs() / 60)),
            None => out.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        let minutes = text.as_deref().and_then(|text| text.strip_suffix('m')?.parse::<u64>().ok());
        Ok(minutes.map(|minutes| Duration::from_secs(60 * minutes)))
    }
}

/// How people pay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub enum Payment {
    /// With a card.
    Card {
        /// Whose card.
        #[schema(default = "visa")]
        #[serde(skip_serializing_if = "Option::is_none")]
        network: Option<String>,
    },
    /// With a machine.
    Machine(Machine),
}

/// Two of a sort.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Pair<T> {
    /// The first.
    pub first: T,
    /// The second.
    pub second: T,
}

/// A machine that is old.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct Old(Machine);

/// What was seen of a cafe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
pub struct CafeStatus {
    /// Nothing has a default.
    #[serde(default)]
    pub guests: i32,
}

/// Kiosk has no defaults at all.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "cafe.example.com", version = "v1")]
#[genclient]
pub struct Kiosk {
    /// Standard metadata.
    pub metadata: ObjectMeta,
    /// What is wanted.
    pub spec: CafeStatus,
}

impl Old {
    /// Makes a machine old.
    #[must_use]
    pub fn new(machine: Machine) -> Self {
        Self(machine)
    }
}
