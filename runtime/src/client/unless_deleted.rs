//! Distinguishes a deleted object from one without the subresource that was written.

use std::future::Future;

use super::Error;

/// Returns the result of a subresource's write; `None` if the object has been deleted meanwhile, so that no work is
/// left.
///
/// Kubernetes returns 404 both for a missing object and for a status that its CRD does not have. Code that treats
/// every 404 as a deletion never notices a wrong CRD. `read`, a get of the object, distinguishes them; it is only
/// sent after a 404.
///
/// ```
/// use k8s_openapi::api::apps::v1::Deployment;
/// use kubesmith_runtime::client::{Error, TypedClient, unless_deleted};
/// use kubesmith_runtime::kube::api::PostParams;
///
/// async fn report(client: &TypedClient<Deployment>, changed: &Deployment) -> Result<(), Error> {
///     let name = changed.metadata.name.as_deref().unwrap_or_default();
///     let written = client.update_status(changed, &PostParams::default()).await;
///     match unless_deleted(written, client.get(name)).await? {
///         Some(stored) => println!("written as {:?}", stored.metadata.resource_version),
///         None => println!("deleted meanwhile"),
///     }
///     Ok(())
/// }
/// ```
///
/// # Errors
///
/// [`Error::NoSubresource`] where `read` finds the object; every other error of the write or of `read`.
pub async fn unless_deleted<K>(
    written: Result<K, Error>,
    read: impl Future<Output = Result<K, Error>>,
) -> Result<Option<K>, Error> {
    let request = match written {
        Err(Error::Api { request, status }) if status.is_not_found() => request,
        other => return other.map(Some),
    };
    match read.await {
        Ok(_) => Err(Error::NoSubresource { request }),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use kube::core::Status;

    use super::*;
    use crate::client::Request;

    fn failed(code: u16, reason: &str) -> Error {
        let (resource, name) = ("foos/status".to_owned(), Some("a".to_owned()));
        let request = Request { verb: "update", resource, namespace: None, name };
        Error::Api { request, status: Status::failure("no", reason).with_code(code).boxed() }
    }

    #[tokio::test]
    async fn not_found_is_a_deletion_only_when_the_object_is_also_not_found() {
        let missing = || Err(failed(404, "NotFound"));
        let error = unless_deleted(missing(), ready(Ok(1))).await.expect_err("it is there");
        assert!(matches!(error, Error::NoSubresource { .. }) && !error.is_not_found(), "{error}");
        let expected = "cannot update foos/status \"a\": the object exists, but the subresource does not; \
                        install a CRD that has it";
        assert_eq!(error.to_string(), expected);
        assert_eq!(unless_deleted::<i32>(missing(), ready(missing())).await.expect("gone"), None);
        let error = unless_deleted::<i32>(missing(), ready(Err(failed(403, "Forbidden")))).await;
        assert!(error.expect_err("not known").is_forbidden());
    }

    #[tokio::test]
    async fn other_results_are_returned_without_a_second_request() {
        let never = std::future::pending;
        assert_eq!(unless_deleted(Ok(2), never()).await.expect("written"), Some(2));
        let error = unless_deleted::<i32>(Err(failed(409, "Conflict")), never()).await;
        assert!(error.expect_err("refused").is_conflict());
    }
}
