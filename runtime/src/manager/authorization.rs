//! Authorization of metrics: the API server identifies a token's user and decides on the user's rights.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::http::header::AUTHORIZATION;
use ::http::{HeaderMap, StatusCode};
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::{Api, PostParams};
use lru::LruCache;
use tokio::time::{Instant, timeout};

/// The time for which a decision is cached: an approval, and a refusal.
const BELIEVED: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(10)];
/// The limits of cached decisions of each sort. Anybody can cause refusals, which do not displace approvals.
const REMEMBERED: [NonZeroUsize; 2] = [NonZeroUsize::new(1024).unwrap(), NonZeroUsize::new(64).unwrap()];
/// The length limit of a token, in bytes: longer ones are refused without a review, so that the cache stays small.
const LONGEST_TOKEN: usize = 16 * 1024;
/// The timeout of a review.
const REVIEW_TIMEOUT: Duration = Duration::from_secs(10);

/// The response to a refused request.
pub(super) type Refusal = (StatusCode, &'static str);

/// Answers by verb, path and token, each with the time until which it is believed.
type Answers = LruCache<String, (Result<(), Refusal>, Instant)>;

const UNAUTHORIZED: Refusal = (StatusCode::UNAUTHORIZED, "Unauthorized\n");
const FORBIDDEN: Refusal = (StatusCode::FORBIDDEN, "Forbidden\n");
const FAILED: Refusal = (StatusCode::INTERNAL_SERVER_ERROR, "Authentication failed\n");

/// Asks the API server about requests, as controller-runtime's `filters.WithAuthenticationAndAuthorization`.
pub(super) struct Authorizer {
    client: kube::Client,
    /// Approvals and refusals.
    known: Mutex<[Answers; 2]>,
}

impl Authorizer {
    pub(super) fn new(client: kube::Client) -> Self {
        Self { client, known: Mutex::new(REMEMBERED.map(LruCache::new)) }
    }

    /// Checks that the request's bearer token allows this verb on this path.
    pub(super) async fn check(&self, headers: &HeaderMap, verb: &str, path: &str) -> Result<(), Refusal> {
        let token = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = token
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim())
            .filter(|token| (1..=LONGEST_TOKEN).contains(&token.len()));
        let Some(token) = token else { return Err(UNAUTHORIZED) };
        let question = format!("{verb} {path} {token}");
        let now = Instant::now();
        let known = self.known().iter_mut().find_map(|answers| answers.get(&question).copied());
        if let Some((answer, _)) = known.filter(|(_, until)| *until > now) {
            return answer;
        }
        let asked = timeout(REVIEW_TIMEOUT, self.ask(token, verb, path)).await;
        let answer = match asked {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot ask the API server who reads the metrics");
                return Err(FAILED);
            }
            Err(_) => {
                tracing::error!("the API server does not say in time who reads the metrics");
                return Err(FAILED);
            }
        };
        let sort = usize::from(answer.is_err());
        let mut known = self.known();
        // Of the other sort, it is out of date.
        known[1 - sort].pop(&question);
        known[sort].put(question, (answer, now + BELIEVED[sort]));
        answer
    }

    fn known(&self) -> std::sync::MutexGuard<'_, [Answers; 2]> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, token: &str, verb: &str, path: &str) -> Result<Result<(), Refusal>, kube::Error> {
        // The token is an `Option` up to Kubernetes 1.35.
        #[allow(clippy::useless_conversion)]
        let spec = TokenReviewSpec { token: token.to_owned().into(), ..TokenReviewSpec::default() };
        let review = TokenReview { spec, ..TokenReview::default() };
        let reviews: Api<TokenReview> = Api::all(self.client.clone());
        let reviewed = reviews.create(&PostParams::default(), &review).await?.status.unwrap_or_default();
        let Some(user) = reviewed.user.filter(|_| reviewed.authenticated == Some(true)) else {
            return Ok(Err(UNAUTHORIZED));
        };
        let attributes = NonResourceAttributes { path: Some(path.to_owned()), verb: Some(verb.to_owned()) };
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                extra: user.extra,
                groups: user.groups,
                non_resource_attributes: Some(attributes),
                uid: user.uid,
                user: user.username,
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let reviews: Api<SubjectAccessReview> = Api::all(self.client.clone());
        let reviewed = reviews.create(&PostParams::default(), &review).await?.status;
        let is_allowed = reviewed.is_some_and(|status| status.allowed && status.denied != Some(true));
        Ok(if is_allowed { Ok(()) } else { Err(FORBIDDEN) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ::http::HeaderValue;
    use http_body_util::BodyExt as _;
    use kube::client::Body;
    use serde_json::{Value, json};

    use super::*;

    /// An API server that knows Ann, who may read metrics, and Bob, who may not; "down" breaks it.
    fn authorizer() -> (Authorizer, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let service = tower::service_fn(move |request: ::http::Request<Body>| {
            count.fetch_add(1, Ordering::Relaxed);
            async move {
                let path = request.uri().path().to_owned();
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let mut review: Value = serde_json::from_slice(&body).unwrap();
                let spec = review["spec"].clone();
                if spec["token"] == "down" {
                    return Err(std::io::Error::other("down"));
                }
                review["status"] = match path.as_str() {
                    "/apis/authentication.k8s.io/v1/tokenreviews" => match spec["token"].as_str().unwrap() {
                        name @ ("ann" | "bob") => json!({"authenticated": true, "user": {
                            "username": name, "uid": "7", "groups": ["g"], "extra": {"a": ["b"]}}}),
                        _ => json!({"authenticated": false, "user": {}}),
                    },
                    "/apis/authorization.k8s.io/v1/subjectaccessreviews" => {
                        assert_eq!((&spec["uid"], &spec["groups"]), (&json!("7"), &json!(["g"])));
                        assert_eq!(spec["extra"], json!({"a": ["b"]}));
                        let attributes = json!({"path": "/metrics", "verb": "get"});
                        json!({"allowed": spec["user"] == "ann" && spec["nonResourceAttributes"] == attributes})
                    }
                    other => panic!("{other}"),
                };
                Ok(::http::Response::new(Body::from(review.to_string().into_bytes())))
            }
        });
        (Authorizer::new(kube::Client::new(service, "default")), asked)
    }

    fn headers(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).unwrap())])
    }

    #[tokio::test(start_paused = true)]
    async fn token_decides_who_reads_the_metrics() {
        let (authorizer, asked) = authorizer();
        let check = async |value: &str| authorizer.check(&headers(value), "get", "/metrics").await;
        assert_eq!(check("Bearer ann").await, Ok(()));
        assert_eq!(check("bearer ann").await, Ok(()));
        assert_eq!(asked.load(Ordering::Relaxed), 2, "the answer is remembered");
        assert_eq!(check("Bearer bob").await, Err(FORBIDDEN));
        assert_eq!(check("Bearer eve").await, Err(UNAUTHORIZED));
        for value in ["Basic ann", "Bearer", "Bearer ", "ann"] {
            assert_eq!(check(value).await, Err(UNAUTHORIZED), "{value}");
        }
        assert_eq!(authorizer.check(&HeaderMap::new(), "get", "/metrics").await, Err(UNAUTHORIZED));
        assert_eq!(authorizer.check(&headers("Bearer ann"), "post", "/metrics").await, Err(FORBIDDEN));
    }

    #[tokio::test(start_paused = true)]
    async fn authorizations_expire_and_failures_are_not_cached() {
        let (authorizer, asked) = authorizer();
        let check = async |value: &str| authorizer.check(&headers(value), "get", "/metrics").await;
        assert_eq!(check("Bearer ann").await, Ok(()));
        tokio::time::advance(BELIEVED[0]).await;
        assert_eq!(check("Bearer ann").await, Ok(()));
        assert_eq!(asked.load(Ordering::Relaxed), 4);
        assert_eq!(check("Bearer down").await, Err(FAILED));
        assert_eq!(check("Bearer down").await, Err(FAILED));
        assert_eq!(asked.load(Ordering::Relaxed), 6);
    }
}
