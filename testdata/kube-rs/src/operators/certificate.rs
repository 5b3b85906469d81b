//! A certificate that is renewed.

use k8s_openapi::api::core::v1::SecretReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// Asks an issuer for a certificate and renews it in time.
#[derive(CustomResource, Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[kube(group = "operators.example.com", version = "v1", kind = "Certificate", namespaced)]
#[kube(status = "CertificateStatus")]
#[kube(shortname = "cert", shortname = "certs")]
#[kube(printcolumn = r#"{"name":"Ready","jsonPath":".status.ready","type":"boolean"}"#)]
#[kube(printcolumn = r#"{"name":"Secret","jsonPath":".spec.secretName","type":"string"}"#)]
#[kube(printcolumn = r#"{"name":"Issuer","jsonPath":".spec.issuerRef.name","type":"string","priority":1}"#)]
#[kube(label("app.kubernetes.io/part-of", "certificates"))]
#[kube(annotation("example.com/docs", "https://example.com/docs/certificates"))]
#[serde(rename_all = "camelCase")]
pub struct CertificateSpec {
    /// The secret that the key and the certificate are written to.
    pub secret_name: String,
    /// Names that it is valid for.
    #[schemars(length(min = 1))]
    pub dns_names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_addresses: Option<Vec<std::net::IpAddr>>,
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "emailSANs")]
    pub email_sans: Option<Vec<String>>,
    /// Who signs it.
    pub issuer_ref: IssuerRef,
    /// How long it is valid, such as `2160h`.
    #[schemars(schema_with = "duration_schema")]
    #[serde(default = "default_duration")]
    pub duration: String,
    #[schemars(schema_with = "duration_schema")]
    pub renew_before: Option<String>,
    #[serde(default)]
    pub private_key: PrivateKey,
    #[serde(default)]
    pub usages: Vec<Usage>,
    pub keystores: Option<Keystores>,
    #[serde(default, rename = "isCA")]
    pub is_ca: bool,
    pub subject: Option<Subject>,
    /// Further settings of the issuer, which it knows the meaning of.
    #[serde(default)]
    pub config: Option<Config>,
}

fn duration_schema(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({
        "type": "string",
        "pattern": "^([0-9]+(h|m|s))+$",
        "maxLength": 20,
    })
}

fn default_duration() -> String {
    "2160h".into()
}

/// An issuer.
#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuerRef {
    pub name: String,
    #[serde(default)]
    pub kind: IssuerKind,
    #[serde(default = "IssuerRef::default_group")]
    pub group: String,
}

impl IssuerRef {
    fn default_group() -> String {
        "operators.example.com".to_owned()
    }
}

#[derive(Deserialize, Serialize, Clone, Debug, Default, JsonSchema)]
pub enum IssuerKind {
    /// In the same namespace.
    #[default]
    Issuer,
    /// In no namespace.
    ClusterIssuer,
}

/// How the private key is made.
#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct PrivateKey {
    pub algorithm: Algorithm,
    /// Its size in bits.
    pub size: Option<u16>,
    pub rotation_policy: RotationPolicy,
}

impl Default for PrivateKey {
    fn default() -> Self {
        Self { algorithm: Algorithm::Ecdsa, size: Some(256), rotation_policy: RotationPolicy::Always }
    }
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, JsonSchema)]
pub enum Algorithm {
    #[serde(rename = "RSA")]
    Rsa,
    #[serde(rename = "ECDSA")]
    Ecdsa,
    Ed25519,
}

#[derive(Deserialize, Serialize, Clone, Copy, Debug, JsonSchema)]
pub enum RotationPolicy {
    Never,
    Always,
}

/// What the key may be used for.
#[derive(Deserialize, Serialize, Clone, Copy, Debug, JsonSchema)]
pub enum Usage {
    #[serde(rename = "digital signature")]
    DigitalSignature,
    #[serde(rename = "key encipherment")]
    KeyEncipherment,
    #[serde(rename = "server auth")]
    ServerAuth,
    #[serde(rename = "client auth")]
    ClientAuth,
}

/// Other formats that the certificate is written in.
#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
pub struct Keystores {
    pub jks: Option<Keystore>,
    pub pkcs12: Option<Keystore>,
}

#[derive(Deserialize, Serialize, Clone, Debug, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keystore {
    pub create: bool,
    pub password_secret_ref: SecretReference,
}

/// The subject.
#[derive(Deserialize, Serialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Subject {
    pub organizations: Vec<String>,
    pub countries: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_number: Option<String>,
}

/// Settings that nobody but the issuer knows.
#[derive(Deserialize, Serialize, Clone, Debug, Default)]
pub struct Config(pub serde_json::Map<String, serde_json::Value>);

impl JsonSchema for Config {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Config".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
        })
    }
}

#[derive(Deserialize, Serialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateStatus {
    #[serde(default)]
    pub ready: bool,
    pub not_before: Option<Time>,
    pub not_after: Option<Time>,
    pub renewal_time: Option<Time>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revision: u64,
    #[serde(flatten)]
    pub failure: Failure,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// The last failure.
#[derive(Deserialize, Serialize, Clone, Debug, Default, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    pub last_failure_time: Option<Time>,
    pub failure_reason: Option<String>,
}
