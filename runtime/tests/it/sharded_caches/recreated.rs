//! Objects that are created again under their name, perhaps in another shard.

use super::*;

/// Starts a replica whose reconciler has a finalizer. It logs the events with the object's UID, and its work by name.
fn start_with_finalizer(client: kube::Client, index: u32, log: &Log, events: &Events) -> Replica {
    let options = InformerOptions::new().namespace("default").paged_lists().seed(index.into());
    let maps = SharedInformer::<ConfigMap>::new(client.clone(), options.shard_selector(shard(index)));
    let (log, events) = (log.clone(), events.clone());
    let objects = CachedClient::new(client, &maps).timeout(PATIENCE);
    let reconciler = finalizer_fn(objects, "example.com/disk", move |event| {
        let (log, events) = (log.clone(), events.clone());
        async move {
            let (event, map) = match &event {
                FinalizerEvent::Apply(map) => ("apply", map),
                FinalizerEvent::Cleanup(map) => ("cleanup", map),
            };
            let key = ObjectKey::of(&**map);
            log.work(key.as_str(), &index.to_string()).await;
            events.lock().unwrap().push((event, map.metadata.uid.clone().unwrap()));
            Ok(Action::done())
        }
    });
    let controller =
        ControllerBuilder::new("maps").for_(&maps).cache_sync_timeout(PATIENCE).complete(reconciler).unwrap();
    maps.start();
    let stop = CancellationToken::new();
    Replica { maps, bytes: Arc::default(), run: tokio::spawn(controller.run(stop.clone())), stop }
}

type Events = Arc<Mutex<Vec<(&'static str, String)>>>;

/// Creates an object with this name in the shard, and returns its UID.
async fn create_in(api: &Api<ConfigMap>, name: &str, index: u32) -> String {
    loop {
        let map = api.create(&PostParams::default(), &map(name)).await.unwrap();
        let uid = map.metadata.uid.unwrap();
        if shard(index).matches(&uid, "default") {
            return uid;
        }
        api.delete(name, &DeleteParams::default()).await.unwrap();
    }
}

/// The response to the removal of the finalizer is lost, and the watch is silent: the cache still shows the object.
#[tokio::test(start_paused = true)]
async fn object_is_cleaned_up_once_when_another_shard_has_its_name() {
    let env = server(true).await;
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let first = create_in(&api, "m", 0).await;
    let (log, events) = (Log::default(), Events::default());
    let watch = |fault, nth| Rule::new(fault).verb(Verb::Watch).nth(nth);
    let schedule = Schedule::new()
        // The finalizer and the deletion.
        .rule(watch(Fault::EndWatch(2), 1))
        .rule(watch(Fault::SilenceWatch(Some(20 * SECOND)), 2))
        .rule(Rule::new(Fault::DropAnswer).verb(Verb::Patch).nth(2));
    let proxy = env.fault_proxy(schedule).await.unwrap();
    let former = start_with_finalizer(proxy.client(), 0, &log, &events);
    sleep(SECOND).await;
    api.delete("m", &DeleteParams::default()).await.unwrap();
    sleep(SECOND).await;
    assert_eq!(former.maps.store().len(), 1, "{}", proxy.report());
    assert!(api.get_opt("m").await.unwrap().is_none());
    let second = create_in(&api, "m", 1).await;
    let latter = start_with_finalizer(env.client(), 1, &log, &events);
    sleep(60 * SECOND).await;
    assert_eq!(proxy.injections().len(), 3, "{}", proxy.report());
    let applied = events.lock().unwrap().clone();
    let of = |uid: &str| -> Vec<&str> {
        applied.iter().filter(|(_, other)| other == uid).map(|(event, _)| *event).collect()
    };
    assert_eq!(of(&first).iter().filter(|event| **event == "cleanup").count(), 1, "{applied:?}");
    assert!(of(&second).contains(&"apply") && !of(&second).contains(&"cleanup"), "{applied:?}");
    log.check();
    former.stop().await;
    latter.stop().await;
    proxy.stop().await;
    env.stop().await;
}

/// Objects are deleted and created again under their names while requests fail. The finalizer keeps a name until the
/// replica that has it is done.
#[tokio::test(start_paused = true)]
async fn replicas_with_a_finalizer_share_no_name_of_recreated_objects() {
    for seed in 0..4 {
        let env = server(seed % 2 == 0).await;
        let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
        let (log, events) = (Log::default(), Events::default());
        let mut proxies: Vec<FaultProxy> = Vec::new();
        for index in 0..u64::from(REPLICAS) {
            proxies.push(env.fault_proxy(Schedule::seeded(seed * 100 + index)).await.unwrap());
        }
        let replicas: Vec<Replica> = (0..REPLICAS)
            .map(|index| start_with_finalizer(proxies[index as usize].client(), index, &log, &events))
            .collect();
        let names: Vec<String> = (0..10).map(|number| format!("m{number}")).collect();
        let mut owners: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for round in 0..8 {
            for name in &names {
                while api.get_opt(name).await.unwrap().is_some() {
                    sleep(SECOND / 100).await;
                }
                let map = api.create(&PostParams::default(), &map(name)).await.unwrap();
                let uid = map.metadata.uid.unwrap();
                let owner = (0..REPLICAS).position(|index| shard(index).matches(&uid, "default")).unwrap();
                owners.entry(name.clone()).or_default().insert(owner);
            }
            sleep(60 * SECOND).await;
            if round == 7 {
                proxies.iter().for_each(|proxy| proxy.set_schedule(Schedule::new()));
            }
            for name in &names {
                api.delete(name, &DeleteParams::default()).await.unwrap();
            }
        }
        sleep(PATIENCE).await;
        assert!(api.list(&ListParams::default()).await.unwrap().items.is_empty(), "seed {seed}");
        assert!(owners.values().any(|owners| owners.len() > 2), "names have moved: {owners:?}");
        log.check();
        for replica in replicas {
            replica.stop().await;
        }
        for proxy in proxies {
            proxy.stop().await;
        }
        env.stop().await;
    }
}
