//! Twin of the Go types of the case.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::{Resource, Schema};
use serde::{Deserialize, Serialize};

/// Ticket is filed by an operator.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "strings.conformance.dev", version = "v1")]
pub struct Ticket {
    pub metadata: ObjectMeta,
    pub spec: TicketSpec,
}

/// TicketSpec exercises string markers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct TicketSpec {
    /// Subject is the headline.
    #[validation(min_length = 1, max_length = 120)]
    pub subject: String,
    /// Code uses a raw pattern.
    #[validation(pattern = r"^[A-Z]{2,4}-\d+$")]
    pub code: String,
    /// Slug uses a quoted pattern, with escapes.
    #[validation(pattern = r"^[a-z\.]+$")]
    #[schema(optional)]
    pub slug: Option<String>,
    /// Bare pattern, without quotes.
    #[serde(default)]
    #[validation(pattern = r"^[0-9]+(\.[0-9]+)?$")]
    pub amount: String,
    #[serde(default)]
    #[validation(format = "date-time")]
    pub due: String,
    #[validation(format = "ipv4", min_length = 7)]
    pub origin: Option<String>,
    #[serde(default)]
    #[validation(format = "uri")]
    pub link: String,
    /// Escapes holds quotes, backslashes and a pipe.
    #[serde(default)]
    #[validation(pattern = r#"^("|'|\\|\|)*$"#)]
    pub escapes: String,
}
