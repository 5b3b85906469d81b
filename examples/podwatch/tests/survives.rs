//! The informer in a simulation, with crashes, late watches and lost responses: its last line about each pod is true.

use std::collections::BTreeMap;
use std::future::pending;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use kubesmith_testenv::{Explore, View};
use podwatch::generated::clientset::Clientset;
use podwatch::informer;

const BOTH: &str = "
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: default}
spec: {containers: [{name: main, image: pause}]}
---
apiVersion: v1
kind: Pod
metadata: {name: two, namespace: default}
spec: {containers: [{name: main, image: pause}]}
";

const TWO: &str = "
apiVersion: v1
kind: Pod
metadata: {name: two, namespace: default}
";

/// Whether each pod exists, by the last line about it.
type Told = Arc<Mutex<BTreeMap<String, bool>>>;

struct Lines(Told);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let mut told = self.0.lock().expect("no panic");
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("Sync/Add/Update for Pod ") {
                told.insert(name.to_owned(), true);
            } else if let Some((name, _)) = line.trim_start_matches("Pod ").split_once(" does not exist") {
                told.insert(name.to_owned(), false);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Checks that the lines name exactly the pods that exist.
fn is_true(view: &View, told: &Told) -> Result<(), String> {
    let pods = view.objects("v1", "Pod");
    let there: Vec<&str> = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str()).collect();
    let told = told.lock().expect("no panic");
    let shown: Vec<&str> =
        told.iter().filter(|(_, is_there)| **is_there).map(|(name, _)| name.as_str()).collect();
    if shown == there { Ok(()) } else { Err(format!("there are {there:?}, and told was {shown:?}")) }
}

#[test]
fn printed_states_are_true_after_crashes_and_late_watches() {
    let explored = Explore::new("podwatch").schedules(200).run(|sim| async move {
        let told = Told::default();
        let lines = told.clone();
        sim.operator(move |client| {
            lines.lock().expect("no panic").clear();
            let mut out = Lines(lines.clone());
            async move {
                let factory = informer::factory(&Clientset::new(client), "default", None);
                informer::watch(&factory, &mut out, pending()).await
            }
        });
        sim.apply(BOTH);
        sim.delete(TWO);
        sim.eventually(move |view| is_true(view, &told));
    });
    match explored {
        Ok(report) => println!("{report}"),
        Err(failed) => panic!("{failed}"),
    }
}
