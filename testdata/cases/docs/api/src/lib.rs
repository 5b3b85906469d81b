//! A kind with two versions and every validation, one that belongs to the cluster, and enums of all forms.
// Descriptions are what people write, not what rustdoc likes best.
#![allow(rustdoc::bare_urls, rustdoc::invalid_html_tags, rustdoc::broken_intra_doc_links)]

/// The first version.
pub mod v1alpha1 {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use kubesmith_runtime::{Resource, Schema};
    use serde::{Deserialize, Serialize};

    /// Oven is what it was.
    #[derive(Clone, Debug, Default, Resource)]
    #[resource(
        group = "bakery.example.com",
        version = "v1alpha1",
        short_name("ov", "ovn"),
        category("all", "bakery"),
        deprecated_version(warning = "use v1, which has `trays`")
    )]
    pub struct Oven {
        /// Standard object metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: OvenSpec,
    }

    /// OvenSpec is what is wanted.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub struct OvenSpec {
        /// Degrees.
        pub heat: i32,
    }
}

/// The second version.
pub mod v1 {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use k8s_openapi::api::core::v1::{LocalObjectReference, PodTemplateSpec};
    use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
    use kubesmith_runtime::{Resource, Schema};
    use serde::{Deserialize, Serialize};

    /// Oven bakes what lies on its trays.
    ///
    /// It has three phases:
    ///
    /// 1. heating, which takes
    ///    a while;
    /// 2. baking:
    ///    - first with steam,
    ///    - then without;
    /// 3. cooling | waiting.
    ///
    /// ```yaml
    /// heat: 220 # <degrees>
    /// ```
    ///
    /// See [the manual](https://example.com/manual?a=1&b=2) or https://example.com/ovens. _Not_ a <b>toaster</b>.
    #[derive(Clone, Debug, Default, Resource)]
    #[resource(
        group = "bakery.example.com",
        version = "v1",
        short_name("ov", "ovn"),
        category("all", "bakery"),
        status,
        storage_version,
        scale(spec_path = ".spec.count", status_path = ".status.count", selector_path = ".status.selector"),
        print_column(name = "Heat", json_path = ".spec.heat", description = "in degrees | Celsius"),
        print_column(name = "Age", json_path = ".metadata.creationTimestamp", priority = 1),
        selectable_field(json_path = ".spec.name"),
        conversion(
            strategy = "Webhook",
            service_namespace = "bakery",
            service_name = "hook",
            path = "/convert"
        )
    )]
    pub struct Oven {
        /// Standard object metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        pub spec: OvenSpec,
        /// What there is.
        #[serde(default)]
        pub status: OvenStatus,
    }

    /// OvenSpec is what is wanted.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    #[serde(rename_all = "camelCase")]
    #[validation(rule(rule = "self.heat > 100 || self.count == 1", message = "a cold oven stands alone"))]
    #[validation(exactly_one_of("gas", "current"))]
    pub struct OvenSpec {
        /// Name on the door.
        #[validation(min_length = 2, max_length = 20, pattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$")]
        #[schema(immutable)]
        pub name: String,
        /// Degrees. Tens of them:
        ///
        /// - `150` for meringue,
        /// - `250` for bread.
        #[validation(minimum = 50, maximum = 300, exclusive_maximum, multiple_of = 10)]
        #[schema(default = 220)]
        pub heat: i32,
        /// How many there are.
        #[schema(default = 1)]
        pub count: i32,
        /// Serial numbers.
        #[validation(min_items = 1, max_items = 8, items(format = "uuid"))]
        #[schema(list_type = "set")]
        pub serials: Vec<String>,
        /// What lies in it.
        #[validation(min_items = 2, max_items = 6)]
        #[schema(list_type = "map", list_map_key = "level")]
        pub trays: Vec<Tray>,
        /// Labels of its bread.
        #[validation(min_properties = 1, max_properties = 4)]
        #[schema(map_type = "atomic")]
        pub labels: BTreeMap<String, String>,
        /// Whoever bakes.
        #[validation(enum("baker", "apprentice|helper"))]
        pub operator: String,
        /// Litres of gas, if that heats it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub gas: Option<Quantity>,
        /// Volts, if current heats it.
        ///
        /// Deprecated: gas is cheaper.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[validation(minimum = 0, exclusive_minimum)]
        pub current: Option<i32>,
        /// How it bakes.
        pub mode: Mode,
        /// Where flour comes from.
        #[serde(default)]
        pub flour: Option<Flour>,
        /// When it is lit.
        #[serde(default)]
        pub timer: Option<Timer>,
        /// Who watches it.
        #[serde(default)]
        pub watch: Option<Watch>,
        /// A pod that runs beside it.
        #[serde(default)]
        pub template: Option<PodTemplateSpec>,
        /// The door's port.
        #[serde(default)]
        pub port: Option<IntOrString>,
        /// The key.
        #[serde(default)]
        pub key: Option<LocalObjectReference>,
        /// How long it has to cool.
        #[serde(default)]
        pub cooling: Option<Duration>,
        /// Anything else.
        #[serde(default)]
        pub notes: Option<serde_json::Value>,
        /// Where it stands.
        #[serde(flatten)]
        pub place: Place,
    }

    /// Place is where an oven stands.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub struct Place {
        /// Storey, from the street.
        #[schema(example = 2)]
        pub storey: i64,
        /// The room, if it may be told.
        #[schema(nullable)]
        pub room: Option<String>,
    }

    /// Tray is a level of an oven.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub struct Tray {
        /// Level, from below.
        #[validation(minimum = 1)]
        pub level: i32,
        /// Trays on this one.
        #[validation(rule(rule = "self == oldSelf", message = "crumbs stay where they are"))]
        pub crumbs: Crumbs,
    }

    /// Crumbs is how many there are.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    #[serde(transparent)]
    pub struct Crumbs(#[validation(minimum = 0, maximum = 1000)] pub i64);

    /// Mode is how an oven bakes.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub enum Mode {
        /// From above | below.
        #[default]
        Static,
        /// With a fan.
        ///
        /// Deprecated: it is loud.
        #[serde(alias = "Ventilated")]
        Fan,
    }

    /// Flour is where it comes from.
    #[derive(Clone, Debug, Serialize, Deserialize, Schema)]
    #[serde(rename_all = "camelCase")]
    pub enum Flour {
        /// A mill.
        Mill(Mill),
        /// A shop.
        Shop {
            /// Its address.
            url: String,
        },
    }

    /// Mill grinds.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub struct Mill {
        /// The miller.
        pub miller: String,
    }

    /// Timer is when it is lit.
    #[derive(Clone, Debug, Serialize, Deserialize, Schema)]
    #[serde(tag = "kind")]
    pub enum Timer {
        /// Never.
        Off,
        /// Once.
        Once {
            /// When.
            at: Time,
        },
    }

    /// Watch is who watches it.
    #[derive(Clone, Debug, Serialize, Deserialize, Schema)]
    #[serde(untagged)]
    pub enum Watch {
        /// A name.
        Name(String),
        /// A team.
        Team(Vec<String>),
    }

    /// OvenStatus is what there is.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub struct OvenStatus {
        /// How many are lit.
        pub count: i32,
        /// Which ones, as a selector.
        pub selector: String,
        /// Conditions.
        #[schema(list_type = "map", list_map_key = "type")]
        pub conditions: Vec<Condition>,
    }

    /// Street belongs to no namespace and has an example.
    #[derive(Clone, Debug, Default, Resource)]
    #[resource(group = "bakery.example.com", version = "v1", scope = "Cluster")]
    pub struct Street {
        /// Standard object metadata.
        pub metadata: ObjectMeta,
        /// What is wanted.
        #[schema(example = {"ovens": 3}, title = "The street", external_docs(url = "https://example.com/streets", description = "Streets"))]
        pub spec: StreetSpec,
    }

    /// StreetSpec is what is wanted.
    #[derive(Clone, Debug, Default, Serialize, Deserialize, Schema)]
    pub struct StreetSpec {
        /// How many ovens.
        pub ovens: i32,
    }
}
