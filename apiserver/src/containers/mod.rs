//! Responses of containers, none of which run: logs and commands, set by annotations of pods or by closures.

mod channels;
mod exec;
mod script;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

pub use exec::Exec;

pub(crate) use channels::{PROTOCOLS, Session, check_streams};

use crate::meta;
use crate::status::{ApiError, ApiResult};

/// The prefix of the pod annotation with a container's log; the container's name follows.
const LOG: &str = "log.kubesmith.dev/";
/// The prefix of the pod annotation with the responses to commands, likewise.
const EXEC: &str = "exec.kubesmith.dev/";

/// A container of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Container {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod's name.
    pub pod: String,
    /// The container's name.
    pub name: String,
}

type Log = dyn Fn(&Container) -> Option<String> + Send + Sync;
type Run = dyn Fn(Exec) -> ExitCode + Send + Sync;
pub(crate) type ExitCode = Pin<Box<dyn Future<Output = i32> + Send>>;

/// The responses of containers that no annotation of the pod sets.
///
/// ```
/// use kubesmith_apiserver::Containers;
/// use tokio::io::AsyncWriteExt as _;
///
/// let containers = Containers::new()
///     .on_log(|container| (container.name == "web").then(|| "listening\n".to_owned()))
///     .on_exec(|mut exec| async move {
///         if exec.command != ["pg_isready"] {
///             return 127;
///         }
///         let sent = exec.stdout.write_all(b"accepting connections\n").await;
///         i32::from(sent.is_err())
///     });
/// # assert!(!containers.is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Containers {
    log: Option<Arc<Log>>,
    exec: Option<Arc<Run>>,
}

impl Containers {
    /// Reports whether no closure is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.log.is_none() && self.exec.is_none()
    }

    /// Creates containers that only respond by annotations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the function that returns the whole log of a container; `None`: it has none. A client that follows a log gets
    /// its additions when the pod is written.
    #[must_use]
    pub fn on_log(mut self, log: impl Fn(&Container) -> Option<String> + Send + Sync + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Sets the function that runs commands and attachments. The output of its future is the exit code; the future is
    /// dropped if the client leaves.
    #[must_use]
    pub fn on_exec<F, R>(mut self, run: F) -> Self
    where
        F: Fn(Exec) -> R + Send + Sync + 'static,
        R: Future<Output = i32> + Send + 'static,
    {
        self.exec = Some(Arc::new(move |exec| Box::pin(run(exec))));
        self
    }

    /// Returns the log of a container, if annotation or closure set it.
    pub(crate) fn log(&self, pod: &Value, container: &Container) -> Option<String> {
        let annotated = annotation(pod, LOG, container).map(str::to_owned);
        annotated.or_else(|| self.log.as_ref().and_then(|log| log(container)))
    }

    /// Returns the runner of `command` in a container; an attachment has no command.
    ///
    /// # Errors
    /// Returns `InternalError` if there is none, or the annotation is malformed.
    pub(crate) fn runner(&self, pod: &Value, container: &Container, command: &[String]) -> ApiResult<Runner> {
        let key = format!("{EXEC}{}", container.name);
        if let Some(text) = annotation(pod, EXEC, container) {
            let answers = script::read(text);
            let answers =
                answers.map_err(|e| ApiError::internal(format!("the annotation {key} is wrong: {e}")))?;
            if let Some(answer) = answers.into_iter().find(|answer| answer.is_for(command)) {
                return Ok(Runner::Script(answer));
            }
        }
        self.exec.clone().map(Runner::Closure).ok_or_else(|| {
            let what = if command.is_empty() { "an attachment".to_owned() } else { format!("{command:?}") };
            ApiError::internal(format!(
                "this server runs no containers, and nothing says what {:?} of pod {:?} answers to {what}: set the annotation \
                 {key} of the pod",
                container.name, container.pod
            ))
        })
    }
}

impl fmt::Debug for Containers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Containers")
            .field("log", &self.log.is_some())
            .field("exec", &self.exec.is_some())
            .finish()
    }
}

/// The runner of a command.
pub(crate) enum Runner {
    Script(script::Answer),
    Closure(Arc<Run>),
}

impl Runner {
    fn run(self, exec: Exec) -> ExitCode {
        match self {
            Runner::Script(answer) => Box::pin(answer.give(exec)),
            Runner::Closure(run) => run(exec),
        }
    }
}

fn annotation<'a>(pod: &'a Value, prefix: &str, container: &Container) -> Option<&'a str> {
    pod["metadata"]["annotations"].get(format!("{prefix}{}", container.name))?.as_str()
}

/// Returns the container of a request, before any other check (`validateContainer` of
/// pkg/registry/core/pod/strategy.go).
///
/// # Errors
/// Returns `BadRequest` if the pod has no such container, or has several and none is named.
pub(crate) fn container(pod: &Value, given: &str) -> ApiResult<Container> {
    let names = |list: &str| {
        let containers = pod["spec"][list].as_array().map_or(&[][..], Vec::as_slice);
        containers.iter().map(|container| meta::member(container, "name")).collect::<Vec<_>>()
    };
    let own = names("containers");
    let all = [names("initContainers"), own.clone(), names("ephemeralContainers")].concat();
    let name = meta::name(pod);
    let found = match (given, own.as_slice()) {
        ("", [only]) => only,
        ("", []) => {
            return Err(ApiError::bad_request(format!("a container name must be specified for pod {name}")));
        }
        ("", _) => {
            let text = format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                all.join(" ")
            );
            return Err(ApiError::bad_request(text));
        }
        (given, _) if all.contains(&given) => given,
        _ => return Err(ApiError::bad_request(format!("container {given} is not valid for pod {name}"))),
    };
    Ok(Container { namespace: meta::namespace(pod).to_owned(), pod: name.to_owned(), name: found.to_owned() })
}

/// Reports whether a container runs.
pub(crate) fn runs(pod: &Value, name: &str) -> bool {
    status(pod, name).is_some_and(|status| status["state"]["running"].is_object())
}

/// The status of a container.
pub(crate) fn status<'a>(pod: &'a Value, name: &str) -> Option<&'a Value> {
    let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
    let all = lists.into_iter().flat_map(|list| pod["status"][list].as_array().into_iter().flatten());
    all.into_iter().find(|status| status["name"] == name)
}
