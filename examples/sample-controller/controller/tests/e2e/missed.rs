//! A deletion that no watch told of.

use std::time::Duration;

use kubesmith_runtime::kube::api::DeleteParams;
use kubesmith_testenv::fault::{Fault, Rule, Schedule, Verb};
use operator_testing::{Needs, run};
use tokio::time::Instant;

use crate::support::{Running, cluster, foo};

/// How long the watch tells nothing.
const SILENCE: Duration = Duration::from_secs(2);

#[test]
fn deployment_is_recreated_when_its_deletion_was_missed() {
    run(async {
        let cluster = cluster(Needs::Api).await;
        let watch = |fault, n| Rule::new(fault).verb(Verb::Watch).resource("deployments").nth(n);
        // The first watch tells that there is nothing yet and then of the Deployment, the second one nothing, the third one
        // that it has to be listed anew.
        let schedule = Schedule::new()
            .rule(watch(Fault::EndWatch(2), 1))
            .rule(watch(Fault::SilenceWatch(Some(SILENCE)), 2))
            .rule(watch(Fault::ExpireWatch(0), 3));
        let proxy = cluster.env.fault_proxy(schedule).await.expect("a proxy");
        let client = proxy.client();
        let running = Running::with(cluster, client);
        running.create(&foo("web")).await;
        let first = running.deployment("web", None).await;
        operator_testing::eventually("the watch is silent", async || {
            (proxy.injections().len() >= 2).then_some(())
        })
        .await;
        let deleted = Instant::now();
        let mut known = first.metadata.uid;
        // A reconcile that had looked into the cache before the Deployment was in it may make it again at once.
        while proxy.injections().len() < 3 {
            running.deployments.delete("web", &DeleteParams::background()).await.expect("deleted");
            known = running.deployment("web", known.as_deref()).await.metadata.uid;
        }
        running.assert_before_resync(deleted.elapsed());
        assert_eq!(proxy.injections().len(), 3, "{}", proxy.report());
        running.stop().await;
        proxy.stop().await;
    });
}
