//! Kinds that a controller owns or watches beside a sharded primary kind.

use super::*;

fn owned_by(owner: &ConfigMap, name: &str) -> Secret {
    let meta = &owner.metadata;
    let owner = OwnerReference {
        api_version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        name: meta.name.clone().unwrap(),
        uid: meta.uid.clone().unwrap(),
        controller: Some(true),
        block_owner_deletion: None,
    };
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        owner_references: Some(vec![owner]),
        ..ObjectMeta::default()
    };
    Secret { metadata, ..Secret::default() }
}

#[tokio::test(start_paused = true)]
async fn changes_of_other_kinds_queue_only_objects_of_the_shard() {
    let env = server(true).await;
    create(&env, (0..10).map(|number| format!("m{number}"))).await;
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let factory = SharedInformerFactory::builder(env.client())
        .namespace("default")
        .shard_selector_for::<ConfigMap>(shard(1))
        .build();
    let maps = factory.informer_for::<ConfigMap>();
    let secrets = factory.informer_for::<Secret>();
    let log = seen.clone();
    let reconciler = reconcile_fn(move |key: ObjectKey| {
        log.lock().unwrap().push(key.to_string());
        async { Ok(Action::done()) }
    });
    let controller = ControllerBuilder::new("maps")
        // The order does not matter.
        .watches(&secrets, |secret: &Secret| {
            secret.metadata.annotations.as_ref().map(|_| ObjectKey::namespaced("default", "m0"))
        })
        .for_(&maps)
        .owns(&secrets)
        .complete(reconciler)
        .unwrap();
    let (watches, stop) = (controller.watches(), CancellationToken::new());
    factory.start();
    let run = tokio::spawn(controller.run(stop.clone()));
    sleep(SECOND).await;
    let ours: BTreeSet<String> = keys(&env).await.swap_remove(1);
    assert!(!ours.is_empty() && ours.len() < 10);
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()).into_iter().collect::<BTreeSet<_>>(), ours);

    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let api_of_secrets: Api<Secret> = Api::namespaced(env.client(), "default");
    for map in api.list(&ListParams::default()).await.unwrap() {
        let mut secret = owned_by(&map, map.metadata.name.as_deref().unwrap());
        secret.metadata.annotations = Some(BTreeMap::from([("a".to_owned(), "b".to_owned())]));
        api_of_secrets.create(&PostParams::default(), &secret).await.unwrap();
    }
    sleep(SECOND).await;
    assert_eq!(secrets.store().len(), 10, "the owned kind is not sharded");
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()).into_iter().collect::<BTreeSet<_>>(), ours);

    watches.add(&secrets, |secret: &Secret| Some(ObjectKey::of(secret))).unwrap();
    sleep(SECOND).await;
    assert_eq!(seen.lock().unwrap().iter().cloned().collect::<BTreeSet<_>>(), ours);
    stop.cancel();
    run.await.unwrap().unwrap();
    factory.shutdown().await;
    env.stop().await;
}

/// The owned objects arrive first, and a predicate refuses their owners: these are queued once both caches are filled.
#[tokio::test(start_paused = true)]
async fn owners_are_queued_when_their_cache_is_filled_last() {
    let env = server(true).await;
    create(&env, (0..10).map(|number| format!("m{number}"))).await;
    let api: Api<ConfigMap> = Api::namespaced(env.client(), "default");
    let secrets: Api<Secret> = Api::namespaced(env.client(), "default");
    for map in api.list(&ListParams::default()).await.unwrap() {
        let secret = owned_by(&map, map.metadata.name.as_deref().unwrap());
        secrets.create(&PostParams::default(), &secret).await.unwrap();
    }
    let maps = SharedInformer::<ConfigMap>::new(
        env.client(),
        InformerOptions::new().namespace("default").shard_selector(shard(1)),
    );
    let secrets = SharedInformer::<Secret>::new(env.client(), InformerOptions::new().namespace("default"));
    let log = Log::default();
    let of_owned = Watch::on(&maps).filter(Predicate::new().on_create(|_| false));
    let controller =
        ControllerBuilder::new("maps").for_(of_owned).owns(&secrets).complete(reconciler("1", &log)).unwrap();
    secrets.start();
    secrets.wait_for_sync(SECOND).await.unwrap();
    // The handler has seen the owned objects.
    sleep(SECOND).await;
    maps.start();
    let stop = CancellationToken::new();
    let run = tokio::spawn(controller.run(stop.clone()));
    sleep(10 * SECOND).await;
    let begun: BTreeSet<String> = log.since(tokio::time::Instant::now() - PATIENCE).into_keys().collect();
    assert_eq!(begun, keys(&env).await.swap_remove(1));
    assert!(!begun.is_empty());
    stop.cancel();
    run.await.unwrap().unwrap();
    env.stop().await;
}

#[tokio::test(start_paused = true)]
async fn shard_of_namespaces_has_all_kinds_of_a_namespace() {
    let env = server(true).await;
    let shards = ShardSelector::nth(ShardKey::Namespace, 0, 2).unwrap();
    let namespaces = ["alpha", "beta", "payments", "shop"];
    for namespace in namespaces {
        let metadata = ObjectMeta { name: Some(namespace.to_owned()), ..ObjectMeta::default() };
        let object = Namespace { metadata, ..Namespace::default() };
        Api::all(env.client()).create(&PostParams::default(), &object).await.unwrap();
        let api: Api<ConfigMap> = Api::namespaced(env.client(), namespace);
        let owner = api.create(&PostParams::default(), &map("m")).await.unwrap();
        let api: Api<Secret> = Api::namespaced(env.client(), namespace);
        api.create(&PostParams::default(), &owned_by(&owner, "s")).await.unwrap();
    }
    let factory = SharedInformerFactory::builder(env.client()).shard_selector(shards.clone()).build();
    let maps = factory.informer_for::<ConfigMap>();
    let secrets = factory.informer_for::<Secret>();
    factory.start();
    factory.wait_for_cache_sync(SECOND).await.unwrap();
    for namespace in namespaces {
        let is_ours = shards.matches("", namespace);
        let has_map = maps.store().get_by_key(&ObjectKey::namespaced(namespace, "m")).is_some();
        let has_secret = secrets.store().get_by_key(&ObjectKey::namespaced(namespace, "s")).is_some();
        assert_eq!((has_map, has_secret), (is_ours, is_ours), "{namespace}");
    }
    assert_eq!(secrets.store().len(), 2);
    factory.shutdown().await;
    env.stop().await;
}

#[tokio::test]
async fn owned_kind_is_sharded_only_with_its_owners() {
    let (client, _) = scripted::client(|_| scripted::failure(500, "Unexpected"));
    let build = |maps: Option<ShardSelector>, secrets: Option<ShardSelector>| {
        let maps = SharedInformer::<ConfigMap>::new(client.clone(), of_shards(maps));
        let secrets = SharedInformer::<Secret>::new(client.clone(), of_shards(secrets));
        let reconciler = reconcile_fn(|_: ObjectKey| async { Ok(Action::done()) });
        ControllerBuilder::new("maps").for_(&maps).owns(&secrets).complete(reconciler).map(|_| ())
    };
    let namespaces = |index| ShardSelector::nth(ShardKey::Namespace, index, 2);
    assert!(build(namespaces(0), namespaces(0)).is_ok());
    assert!(build(Some(shard(0)), None).is_ok());
    for (maps, secrets) in
        [(Some(shard(0)), Some(shard(0))), (namespaces(0), namespaces(1)), (None, namespaces(0))]
    {
        let error = build(maps, secrets).unwrap_err();
        assert!(
            matches!(&error, BuildError::OwnedSharded { resource, .. } if resource == "secrets"),
            "{error}"
        );
    }
}
