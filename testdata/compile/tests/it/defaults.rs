//! Defaults of the generated functions, and those of an API server for the same objects.

use std::collections::BTreeMap;
use std::time::Duration;

use case_defaults::{Bar, Bars, Cafe, CafeSpec, Counter, Delivery, Machine, Old, Pair, Payment, Shift, Tax};
use k8s_openapi::api::core::v1::ContainerPort;
use kube::api::PostParams;
use kubesmith_expected::defaults::Clientset;
use kubesmith_expected::defaults::clientset::scheme::scheme;
use kubesmith_expected::defaults::defaults::SetDefaults;
use kubesmith_expected::defaults::defaults::cafe::v1::{
    DefaultingFuncs, register_defaults_with, set_defaults_cafe,
};
use kubesmith_runtime::scheme::Scheme;
use serde_json::json;

fn machine_of(bits: u32) -> Machine {
    Machine { roast: (bits & 1 != 0).then(|| "none".to_owned()), pressure: (bits & 2 != 0).then_some(0) }
}

/// A cafe with those of its fields set that the bits say.
fn cafe(bits: u32) -> Cafe {
    let set = |bit: u32| bits & (1 << bit) != 0;
    let machine = machine_of(bits);
    let counter = Counter { floor: 1, goods: set(2).then(Vec::new), machine: machine.clone() };
    let mut cafe = Cafe::default();
    cafe.metadata.name = Some(format!("c{bits}"));
    cafe.spec = CafeSpec {
        table_count: set(3).then_some(0),
        shift: set(4).then_some(Shift::Evening),
        machine: set(5).then(|| machine.clone()),
        spare: set(6).then(|| Box::new(machine.clone())),
        counters: if set(7) { vec![counter.clone(), Counter::default()] } else { Vec::new() },
        rooms: set(8).then(|| BTreeMap::from([("hall".to_owned(), vec![counter.clone()])])),
        payment: match (set(9), set(10)) {
            (false, _) => None,
            (true, true) => Some(Payment::Card { network: set(2).then(|| "amex".to_owned()) }),
            (true, false) => Some(Payment::Machine(machine.clone())),
        },
        best: set(9).then(|| Pair { first: counter.clone(), second: Counter::default() }),
        oldest: set(10).then(|| Old::new(machine)),
        delivery: (set(0) || set(1)).then(|| Delivery {
            vehicle: set(0).then(|| "van".to_owned()),
            boiler: set(1).then(Machine::default),
        }),
        tax: if set(2) { Tax::Levy(machine_of(bits)) } else { Tax::Vat { percent: set(3).then_some(4) } },
        bars: if set(4) { Bars::from([Bar { stools: set(5).then_some(1) }]) } else { Bars::new() },
        grace: set(7).then(|| Duration::from_secs(60)),
        ports: if set(6) {
            vec![ContainerPort { container_port: 80, ..ContainerPort::default() }]
        } else {
            Vec::new()
        },
        ..CafeSpec::default()
    };
    cafe
}

#[tokio::test]
async fn set_defaults_equals_defaulting_of_the_server() {
    let env = crate::crds::server("defaults").await;
    let cafes = Clientset::new(env.client()).cafe_v1().caves().namespace("default");
    // Each field set and unset, with every third combination of the others.
    for bits in (0..2048).step_by(3).chain((0..11).map(|bit| 1 << bit)).chain([2047]) {
        let mut cafe = cafe(bits);
        cafe.metadata.name = Some(format!("c{bits}-{}", cafe.spec.seats));
        let stored = match cafes.create(&cafe, &PostParams::default()).await {
            Ok(stored) => stored,
            Err(error) => panic!("{bits}: {error}"),
        };
        cafe.set_defaults();
        assert_eq!(cafe.spec, stored.spec, "{bits}");
        let before = cafe.clone();
        cafe.set_defaults();
        assert_eq!(cafe, before, "{bits}: a second time changes nothing");
        cafes.delete(stored.metadata.name.as_deref().unwrap(), &Default::default()).await.unwrap();
    }
}

#[test]
fn fields_that_are_not_optional_get_no_default() {
    let mut cafe = Cafe::default();
    cafe.set_defaults();
    assert_eq!((cafe.spec.seats, cafe.spec.table_count, cafe.spec.opens_at), (0, Some(4), Some(7)));
    assert_eq!(cafe.spec.machine, Some(Machine { roast: Some("dark".to_owned()), pressure: Some(9) }));
    assert_eq!((cafe.spec.spare, cafe.status), (None, None));
}

#[derive(Clone)]
struct ByHand;

impl DefaultingFuncs for ByHand {
    fn set_defaults_cafe(&self, cafe: &mut Cafe) {
        cafe.spec.spare.get_or_insert_default();
    }

    fn set_defaults_machine(&self, machine: &mut Machine) {
        machine.pressure.get_or_insert(5);
    }
}

#[test]
fn hand_written_defaults_precede_generated_ones() {
    let mut cafe = Cafe::default();
    set_defaults_cafe(&mut cafe, &ByHand);
    let machine = |roast: &str| Machine { roast: Some(roast.to_owned()), pressure: Some(5) };
    assert_eq!(cafe.spec.machine, Some(machine("dark")));
    assert_eq!(cafe.spec.spare, Some(Box::new(machine("light"))));

    let mut scheme = Scheme::new();
    scheme.register::<Cafe>("CafeList");
    register_defaults_with(&mut scheme, &ByHand);
    let mut again = Cafe::default();
    scheme.default(&mut again);
    assert_eq!(again, cafe);
}

#[test]
fn scheme_applies_defaults_on_decoding() {
    let manifest =
        "{apiVersion: cafe.example.com/v1, kind: Cafe, metadata: {name: a}, spec: {counters: [{}], vat: {}}}";
    let scheme = scheme();
    let plain = scheme.decode(manifest).unwrap().downcast::<Cafe>().unwrap();
    assert_eq!((plain.spec.table_count, plain.spec.opens_at), (None, Some(7)));
    let cafe = scheme.decoder().defaulting().decode(manifest).unwrap();
    let value = cafe.to_value().unwrap();
    assert_eq!(value["spec"]["counters"][0]["machine"], json!({"roast": "light", "pressure": 9}));
}

#[test]
fn constant_is_a_default() {
    let mut cafe = Cafe::default();
    cafe.set_defaults();
    assert_eq!((cafe.spec.closes_at, cafe.spec.special), (Some(18), Some(Shift::Evening)));
}
