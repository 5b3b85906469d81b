//! Types of the standard library and of well-known crates.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use either::Either;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use url::Url;
use uuid::Uuid;

/// The standard library.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "Standard")]
#[serde(rename_all = "camelCase")]
pub struct StandardSpec {
    pub duration: Duration,
    pub maybe_duration: Option<Duration>,
    /// So long.
    pub described_duration: Duration,
    pub system_time: SystemTime,
    pub path: PathBuf,
    pub boxed_path: Box<std::path::Path>,
    pub letter: char,
}

/// Addresses.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "Addresses")]
pub struct AddressesSpec {
    pub any: IpAddr,
    pub four: Ipv4Addr,
    pub six: Ipv6Addr,
    pub socket: SocketAddr,
    pub socket_four: SocketAddrV4,
    pub socket_six: SocketAddrV6,
    pub maybe: Option<IpAddr>,
    pub list: Vec<Ipv4Addr>,
}

/// chrono.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "Chrono")]
#[serde(rename_all = "camelCase")]
pub struct ChronoSpec {
    pub time: DateTime<Utc>,
    pub maybe_time: Option<DateTime<Utc>>,
    /// When it was.
    pub described: DateTime<chrono::FixedOffset>,
    pub date: chrono::NaiveDate,
    pub naive: chrono::NaiveDateTime,
    pub time_of_day: chrono::NaiveTime,
    pub weekday: chrono::Weekday,
    pub maybe_weekday: Option<chrono::Weekday>,
}

/// jiff.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "Jiff")]
#[serde(rename_all = "camelCase")]
pub struct JiffSpec {
    pub timestamp: jiff::Timestamp,
    pub span: jiff::Span,
    pub signed: jiff::SignedDuration,
    pub date: jiff::civil::Date,
    pub time: jiff::civil::Time,
    pub date_time: jiff::civil::DateTime,
    pub maybe: Option<jiff::Timestamp>,
}

/// Identifiers and addresses.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "Identifiers")]
#[serde(rename_all = "camelCase")]
pub struct IdentifiersSpec {
    pub id: Uuid,
    pub maybe_id: Option<Uuid>,
    pub ids: Vec<uuid::Uuid>,
    pub link: Url,
    pub maybe_link: Option<url::Url>,
    /// Where to go.
    pub described_link: Url,
    pub version: semver::Version,
    pub maybe_version: Option<semver::Version>,
    #[schemars(length(max = 100))]
    pub limited: Url,
    pub by_id: BTreeMap<Uuid, String>,
}

/// What holds others.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "Holders")]
pub struct HoldersSpec {
    pub either: Either<String, i32>,
    pub small: SmallVec<[String; 4]>,
    pub index: indexmap::IndexMap<String, Url>,
}

/// kube's own.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "KubeTypes")]
pub struct KubeTypesSpec {
    pub duration: kube::core::Duration,
    pub maybe: Option<kube::core::Duration>,
}

/// Defaults of known types.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "KnownDefaults")]
#[serde(rename_all = "camelCase")]
pub struct KnownDefaultsSpec {
    #[serde(default)]
    pub duration: Duration,
    #[serde(default = "half_a_minute")]
    pub seconds: Duration,
    #[serde(default = "localhost")]
    pub address: Ipv4Addr,
    #[serde(default)]
    pub path: PathBuf,
    #[serde(default = "some_path")]
    pub some_path: PathBuf,
    #[serde(default)]
    pub id: Uuid,
}

fn half_a_minute() -> Duration {
    Duration::from_secs(30)
}

fn localhost() -> Ipv4Addr {
    Ipv4Addr::LOCALHOST
}

fn some_path() -> PathBuf {
    PathBuf::from("/var/lib")
}

/// Texts of the operating system, which are lists of numbers of two kinds.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "known.example.com", version = "v1", kind = "OsTexts")]
pub struct OsTextsSpec {
    pub text: std::ffi::OsString,
}
