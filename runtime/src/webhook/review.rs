//! The common part of all reviews.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::hook::Refusal;
use super::object::TypeMeta;

/// A kind of review.
pub(super) struct ReviewKind {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// The field in which webhooks list the versions that they accept.
    pub(super) list: &'static str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound = "R: DeserializeOwned")]
struct Review<R> {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<R>,
}

impl ReviewKind {
    /// Reads the request of a review of this kind.
    pub(super) fn read<R: DeserializeOwned>(&self, body: &[u8]) -> Result<R, Refusal> {
        let bad = |error| Refusal::bad_request(format!("cannot decode the {}: {error}", self.kind));
        let review: Review<R> = match serde_json::from_slice(body) {
            Ok(review) => review,
            Err(error) => {
                // Another kind may have another shape, so check the kind first.
                self.check(&serde_json::from_slice(body).map_err(bad)?)?;
                return Err(bad(error));
            }
        };
        self.check(&TypeMeta { api_version: review.api_version, kind: review.kind })?;
        review.request.ok_or_else(|| Refusal::bad_request(format!("the {} has no request", self.kind)))
    }

    fn check(&self, found: &TypeMeta) -> Result<(), Refusal> {
        let Self { api_version, kind, list } = self;
        if found.kind == *kind && found.api_version == *api_version {
            return Ok(());
        }
        let group = |api_version: &str| api_version.split('/').next().unwrap_or_default().to_owned();
        let is_other_version = found.kind == *kind && group(&found.api_version) == group(api_version);
        let hint = if is_other_version { format!("; list only \"v1\" in {list}") } else { String::new() };
        Err(Refusal::bad_request(format!("expected {api_version}, Kind={kind}, got {found}{hint}")))
    }
}
