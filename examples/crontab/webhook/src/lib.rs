//! The versions of CronTab: their conversions, served as a webhook, and manifests that are checked without a server.

mod check;
mod conversion;

use crontab_client::clientset;
use crontab_client::conversions::stable::cron_tab::register_conversions;
use kubesmith_runtime::scheme::Scheme;
use kubesmith_runtime::webhook::{Conversions, Server, ServerBuilder};

pub use check::{CheckError, check};
pub use conversion::CronTabs;

/// The kinds of the generated package, their defaults, and the conversions.
#[must_use]
pub fn scheme() -> Scheme {
    let mut scheme = clientset::scheme::scheme();
    register_conversions(&mut scheme, &CronTabs);
    scheme
}

/// Returns the webhook server: it converts at `/convert`, the path in the CRD.
pub fn server() -> ServerBuilder {
    Server::builder().conversions(Conversions::of_scheme(scheme()))
}
