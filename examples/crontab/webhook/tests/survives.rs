//! The webhook in a simulation, in front of an operator that reads the old version of what users write in the new one.

use std::time::Duration;

use crontab_api::{v1, v1beta1};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubesmith_runtime::kube::api::{ListParams, Patch, PatchParams};
use kubesmith_runtime::kube::{self, Api, Client, Resource as _, ResourceExt as _};
use kubesmith_testenv::Explore;

const NEW: &str = "
apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: weekly, namespace: default}
spec: {schedule: {minute: '0', hour: '4', dayOfWeek: '1'}, image: backup, timeZone: Europe/Rome}
";

/// Keeps the line of each CronTab in a config map.
async fn operator(client: Client) -> kube::Result<()> {
    let tabs: Api<v1beta1::CronTab> = Api::namespaced(client.clone(), "default");
    let maps: Api<ConfigMap> = Api::namespaced(client, "default");
    loop {
        for tab in tabs.list(&ListParams::default()).await?.items {
            if tab.metadata.deletion_timestamp.is_some() {
                continue;
            }
            let name = tab.name_any();
            let owner_references = tab.controller_owner_ref(&()).map(|owner| vec![owner]);
            let metadata = ObjectMeta { name: Some(name.clone()), owner_references, ..ObjectMeta::default() };
            let data = Some([("line".to_owned(), tab.spec.schedule.clone())].into());
            let map = ConfigMap { metadata, data, ..ConfigMap::default() };
            maps.patch(&name, &PatchParams::apply("lines").force(), &Patch::Apply(&map)).await?;
        }
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
}

#[test]
fn conversion_survives_what_happens_to_it() {
    let explored = Explore::new("crontab").schedules(60).run(|sim| async move {
        sim.crds("../config/crd/bases");
        sim.webhooks("../config/crd/bases", |_| {
            crontab_webhook::server().build().expect("the paths differ").into_service()
        });
        sim.operator(operator);
        sim.apply("../config/samples/old.yaml");
        sim.apply(NEW);
        sim.vary::<v1::CronTab>();
        sim.vary::<v1beta1::CronTab>();
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
