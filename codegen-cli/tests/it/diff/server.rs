//! Definitions of a cluster: the embedded server, over TLS, with the kubeconfig that it writes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Output;

use crate::serve::Served;
use crate::support::{Crate, testdata};

fn run(folder: &Crate, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = folder.run(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

#[test]
fn definitions_of_a_cluster_are_imported_and_compared() {
    let folder = Crate::with_files(&[]);
    let crds = testdata().join("../examples/balancer/config/crd/bases");
    let served = Served::start(&["--addr", "127.0.0.1:0", "--crds", crds.to_str().unwrap()]);
    let kubeconfig = served.kubeconfig.to_str().unwrap();
    let access = ["--kubeconfig", kubeconfig];
    let file = fs::read_dir(&crds).unwrap().next().unwrap().unwrap().path();
    let name = file.file_name().unwrap().to_str().unwrap().trim_end_matches(".yaml");
    let (group, plural) = name.split_once('_').unwrap();
    let full = format!("{plural}.{group}");

    for names in [vec![], vec![full.as_str()]] {
        let mut arguments = vec!["import", "--output", "balancer-api", "--force", "--from-cluster"];
        arguments.extend(names);
        arguments.extend(access);
        let (code, out, err) = run(&folder, &arguments);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        assert!(out.starts_with("imported 1 definition "), "{out}");
    }
    let from_cluster = folder.tree("balancer-api");
    let (code, _, err) = run(
        &folder,
        &["import", file.to_str().unwrap(), "--output", "from-file", "--crate-name", "balancer-api"],
    );
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(folder.tree("from-file"), from_cluster, "a server adds nothing of its own");

    let (code, out, err) =
        run(&folder, &[&["diff", "cluster", crds.to_str().unwrap()][..], &access].concat());
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "no changes\n", ""));
    let text = fs::read_to_string(&file).unwrap();
    folder.write("new.yaml", text.replace("scope: Namespaced", "scope: Cluster"));
    let (code, out, _) = run(&folder, &[&["diff", "cluster", "new.yaml"][..], &access].concat());
    assert_eq!(code, Some(1));
    assert!(out.contains("scope-changed") && out.contains("(new.yaml:"), "{out}");
    let (code, out, _) = run(&folder, &[&["diff", "new.yaml", "cluster"][..], &access].concat());
    assert_eq!(code, Some(1));
    assert!(out.contains("`Cluster` became `Namespaced`\n"), "without a place: {out}");

    let outside = ["import", "--output", "x", "--from-cluster", "../x"];
    let (code, _, err) = run(&folder, &[&outside[..], &access].concat());
    assert_eq!(code, Some(1));
    assert!(
        err.contains("\"../x\" is not a valid name of a CustomResourceDefinition")
            && err.contains("PLURAL.GROUP"),
        "{err}"
    );

    let missing = format!("{plural}s.{group}");
    let (code, _, err) =
        run(&folder, &[&["import", "--output", "x", "--from-cluster", &missing][..], &access].concat());
    assert_eq!(code, Some(1));
    assert!(err.contains(&format!("did you mean `{full}`?")), "{err}");
    let wrong = ["diff", "cluster:kubesmit", "new.yaml"];
    let (code, _, err) = run(&folder, &[&wrong[..], &access].concat());
    assert_eq!(code, Some(1));
    assert!(err.contains("no context `kubesmit`") && err.contains("did you mean `kubesmith`?"), "{err}");
    let token = fs::read_to_string(kubeconfig).unwrap();
    let token: String = token
        .lines()
        .map(|line| match line.split_once("token:") {
            Some((head, _)) => format!("{head}token: nobody\n"),
            None => format!("{line}\n"),
        })
        .collect();
    folder.write("stranger", token);
    let (code, _, err) = run(&folder, &["diff", "cluster", "new.yaml", "--kubeconfig", "stranger"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("does not accept the credentials"), "{err}");
}

#[test]
fn import_fails_when_the_cluster_has_no_definition() {
    let folder = Crate::with_files(&[]);
    let served = Served::start(&["--addr", "127.0.0.1:0"]);
    let kubeconfig = served.kubeconfig.to_str().unwrap();
    let (code, out, err) =
        run(&folder, &["import", "--output", "x", "--from-cluster", "--kubeconfig", kubeconfig]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.starts_with("error: the cluster has no CustomResourceDefinition\n  = help: "), "{err}");
    assert!(!folder.path("x").exists());
}

fn kubeconfig(url: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {{server: '{url}'}}\n\
         users:\n- name: a\n  user: {{token: t}}\ncontexts:\n- name: a\n  context: {{cluster: a, user: a}}\n"
    )
}

#[test]
fn inaccessible_cluster_is_an_error_with_help() {
    let folder = Crate::with_files(&[]);
    folder.write("new.yaml", fs::read(testdata().join("import/good/everything.yaml")).unwrap());
    let diff = || run(&folder, &["diff", "cluster", "new.yaml", "--kubeconfig", "config"]);
    let (code, _, err) = diff();
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot use the kubeconfig") && err.contains("= help: "), "{err}");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    folder.write("config", kubeconfig(&url));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let body = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"customresourcedefinitions is forbidden","reason":"Forbidden","code":403}"#;
            let head = "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length:";
            let _ = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let (code, _, err) = diff();
    assert_eq!(code, Some(1));
    assert!(
        err.contains("forbids reading CustomResourceDefinitions: ")
            && err.contains("grant the verbs get and list"),
        "{err}"
    );

    let free = kubesmith_testenv::free_address().unwrap();
    folder.write("config", kubeconfig(&format!("http://{free}")));
    let (code, _, err) = diff();
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot reach http://127.0.0.1"), "{err}");

    for (arguments, wanted) in [
        (&["diff", "new.yaml", "new.yaml", "--kubeconfig", "config"][..], "no side is a cluster"),
        (&["diff", "cluster:a", "new.yaml", "--context", "a"], "--context has no effect"),
        (&["import", "new.yaml", "--context", "a", "--output", "x"], "without --from-cluster"),
    ] {
        let (code, _, err) = run(&folder, arguments);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(wanted), "{err}");
    }
}
