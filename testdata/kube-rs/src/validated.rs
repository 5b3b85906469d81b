//! Attributes of validator and garde, which schemars reads too.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// validator.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "validated.example.com", version = "v1", kind = "Validator")]
#[serde(rename_all = "camelCase")]
pub struct ValidatorSpec {
    #[validate(length(min = 1, max = 63))]
    pub name: String,
    #[validate(range(min = 1, max = 65535))]
    pub port: u16,
    #[validate(range(min = 0.0, max = 1.0))]
    pub ratio: f64,
    #[validate(length(equal = 3))]
    pub code: String,
    #[validate(email)]
    pub email: String,
    #[validate(url)]
    pub url: String,
    #[validate(range(min = 1, max = MAXIMUM))]
    pub constant: i32,
    #[validate(range(max = "MAXIMUM"))]
    pub constant_text: i32,
    #[validate(length(min = 1), email)]
    pub several: Option<String>,
    #[validate(contains(pattern = "@"))]
    pub contains: String,
    #[validate(regex(path = PATTERN))]
    pub pattern: String,
    #[validate(required)]
    pub required: Option<String>,
    #[validate(nested)]
    pub nested: Nested,
    #[validate(length(min = 1))]
    pub list: Vec<Nested>,
}

pub const MAXIMUM: i32 = 42;
pub const PATTERN: &str = "^[a-z]+$";

/// A nested one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Nested {
    #[validate(range(min = 3))]
    pub value: i32,
}

/// What validator knows and schemars does not.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "validated.example.com", version = "v1", kind = "ValidatorOthers")]
pub struct ValidatorOthersSpec {
    #[validate(length(min = 1, message = "must not be empty", code = "empty"))]
    pub message: String,
    #[validate(email(message = "no address"))]
    pub email: String,
    #[validate(custom(function = "check"))]
    pub custom: String,
    #[validate(must_match(other = "custom"))]
    pub matching: String,
    #[validate(does_not_contain(pattern = "x"))]
    pub without: String,
    #[validate(credit_card)]
    pub card: String,
    #[validate(range(exclusive_min = 1, exclusive_max = 5))]
    pub exclusive: i32,
    #[validate(range(min = 2, message = "too small"))]
    pub number: i32,
    #[validate(ip)]
    pub ip: String,
    #[validate(non_control_character)]
    pub visible: String,
    #[validate(required, length(max = 3))]
    pub required: Option<String>,
    #[validate(regex(path = *PATTERN, code = "pattern"))]
    pub dereferenced: String,
}

/// garde.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "validated.example.com", version = "v1", kind = "Garde")]
#[serde(rename_all = "camelCase")]
pub struct GardeSpec {
    #[garde(length(min = 1, max = 63))]
    pub name: String,
    #[garde(range(min = 1, max = 65535))]
    pub port: u16,
    #[garde(pattern("^[a-z]+$"))]
    pub pattern: String,
    #[garde(pattern(PATTERN))]
    pub constant_pattern: String,
    #[garde(contains("a"))]
    pub contains: String,
    #[garde(email)]
    pub email: String,
    #[garde(url)]
    pub url: String,
    #[garde(ip)]
    pub ip: String,
    #[garde(ipv4)]
    pub ipv4: String,
    #[garde(ipv6)]
    pub ipv6: String,
    #[garde(inner(length(min = 2)))]
    pub inner: Vec<String>,
    #[garde(length(min = 1), inner(range(max = 9)))]
    pub both: Vec<i32>,
    #[garde(required)]
    pub required: Option<String>,
    #[garde(skip)]
    pub skipped: String,
    #[garde(dive)]
    pub nested: Nested,
    #[garde(ascii, alphanumeric, prefix("a"), suffix("b"))]
    pub others: String,
    #[garde(length(chars, max = 5))]
    pub characters: String,
    #[garde(custom(check))]
    pub custom: String,
    #[garde(byte_length(min = 1))]
    pub bytes: String,
}

/// Several of them together.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "validated.example.com", version = "v1", kind = "Together")]
pub struct TogetherSpec {
    #[schemars(length(min = 1))]
    #[validate(range(min = 1))]
    pub different: String,
    #[validate(range(min = 1))]
    #[schemars(range(max = 5), title = "Both")]
    pub by_schemars: String,
    #[validate(length(min = 2))]
    #[garde(url)]
    pub both: String,
    #[validate(range(min = 1))]
    #[schemars(with = "i32")]
    pub with: i64,
    #[validate(length(min = 1))]
    pub maybe: Option<Vec<String>>,
}
