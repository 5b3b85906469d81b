//! Names in projects that would clash.

use super::{POOL, Project, WEBHOOKS, api};

/// A project with the same kind in two groups.
fn two_pools() -> Project {
    let project = Project::new();
    project.works(&POOL);
    project.works(&WEBHOOKS);
    project.works(&api("shop", "v1", "IPPool"));
    project
}

#[test]
fn generated_names_do_not_collide() {
    let project = two_pools();
    // Kinds whose modules already exist.
    let shop = |flag| ["create", "webhook", "--group=shop", "--version=v1", "--kind=IPPool", flag];
    project.works(&shop("--defaulting"));
    project.works(&api("shop", "v1", "Main"));
    project.works(&api("shop", "v1", "Webhooks"));
    let main = project.read("controller/src/main.rs");
    for module in ["ip_pool", "shop_ip_pool", "shop_main", "shop_webhooks"] {
        assert!(project.path(&format!("controller/src/{module}.rs")).exists(), "{module}");
        assert!(
            main.contains(&format!(
                "pools_controller::{module}::add_to_manager(&mut manager, flags.manager.workers)?;"
            )),
            "{main}"
        );
    }
    let controller = project.read("controller/src/shop_ip_pool.rs");
    assert!(controller.contains("CONTROLLER_NAME: &str = \"shop-ippool\""), "{controller}");
    let webhooks = project.read("controller/src/webhooks.rs");
    assert!(webhooks.contains(".defaulter(crate::ip_pool_defaulter::IPPoolDefaulter)"), "{webhooks}");
    assert!(webhooks.contains(".defaulter(crate::shop_ip_pool_defaulter::IPPoolDefaulter)"), "{webhooks}");
    // The webhook of another version is not that of the first.
    project.works(&api("shop", "v1beta1", "IPPool"));
    assert!(!project.path("controller/src/ip_pool_v1beta1.rs").exists(), "one controller is enough");
    project.works(&[
        "create",
        "webhook",
        "--group=shop",
        "--version=v1beta1",
        "--kind=IPPool",
        "--defaulting",
    ]);
    assert!(project.path("controller/src/shop_ip_pool_v1beta1_defaulter.rs").exists());
    project.works(&["generate", "--check"]);
}

#[test]
fn colliding_names_are_refused() {
    let project = two_pools();
    project.works(&api("shop", "v1beta1", "IPPool"));
    let before = project.tree();
    let again = |version| [&api("shop", version, "IPPool")[..], &["--controller=true"]].concat();
    for (arguments, part) in [
        (&again("v1beta1")[..], "IPPool has a controller, of version v1"),
        (&api("tsi", "v1alpha1", "Condition"), "files of the project use this name"),
        (&api("tsi", "v1alpha1", "Option"), "Rust's prelude has this name"),
        (&api("tsi", "v1alpha1", "Manager"), "files of the project use this name"),
        (&api("tsi", "v1alpha1", "IpPool"), "IPPool of tsi/v1alpha1 has `ip_pool` in code already"),
        (&api("tsi", "v1alpha1", "IPPoolSpec"), "has `IPPoolSpec` in code already"),
        (&api("tsi", "v1alpha1", "IPPoolDefaulter"), ""),
        (&api("tsi", "v1alpha1", "Action"), ""),
        (&api("lib", "v1", "Book"), "choose another group"),
    ] {
        if part.is_empty() {
            project.works(arguments);
            continue;
        }
        let said = project.fails(arguments);
        assert!(said.starts_with("2: ") && said.contains(part), "{arguments:?}\n{said}");
    }
    assert!(project.path("controller/src/tsi_ip_pool_defaulter.rs").exists());
    let rest = |file: &str| before[file] == project.read(file);
    assert!(rest("controller/src/webhooks.rs") && rest("api/src/lib.rs"));
}
