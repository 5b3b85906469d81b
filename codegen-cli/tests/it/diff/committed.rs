//! `kubesmith generate` warns if a new definition breaks objects or clients of the committed one.

use crate::support::{Crate, USES, kind};

fn source(fields: &str) -> String {
    format!("{USES}{}", kind("Widget", fields))
}

fn generate(folder: &Crate, more: &[&str]) -> (Option<i32>, String) {
    let arguments = ["generate", "--input", "api", "--crd-output", "crds", "--only", "crd"];
    let output = folder.run(&[&arguments[..], more].concat());
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn generate_warns_when_it_breaks_committed_crds() {
    let folder = Crate::new(&source("    pub size: i32,\n    pub name: String,"));
    assert_eq!(generate(&folder, &[]), (Some(0), String::new()), "nothing was there");
    let before = folder.tree("crds");
    folder.write(
        "api/src/lib.rs",
        source("    pub size: i32,\n    pub name: String,\n    pub note: Option<String>,"),
    );
    assert_eq!(generate(&folder, &[]), (Some(0), String::new()), "compatible");

    folder.write("api/src/lib.rs", source("    pub size: String,"));
    let (code, err) = generate(&folder, &["--check"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("warning[KS0603]"), "{err}");
    let kept = folder.tree("crds");
    let (code, err) = generate(&folder, &["--deny", "KS0603"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("error[KS0603]") && err.contains("nothing was written"), "{err}");
    assert_eq!(folder.tree("crds"), kept, "nothing was written");
    assert_eq!(generate(&folder, &["--allow", "KS0603"]), (Some(0), String::new()));
    assert_ne!(folder.tree("crds"), kept);

    for (path, text) in &before {
        folder.write(&format!("crds/{path}"), text);
    }
    let (code, err) = generate(&folder, &[]);
    assert_eq!(code, Some(0), "a warning stops nothing");
    insta::assert_snapshot!("diff_committed", err);
    assert_eq!(generate(&folder, &[]), (Some(0), String::new()), "said once");

    let unsigned = |bound| source(&format!("    #[validation({bound})]\n    pub size: u8,"));
    folder.write("api/src/lib.rs", source("    pub size: u8,"));
    assert!(generate(&folder, &[]).1.contains("KS0703"));
    folder.write("api/src/lib.rs", unsigned("minimum = 0, maximum = 255"));
    assert_eq!(generate(&folder, &[]), (Some(0), String::new()), "bounds of the type, as KS0703 advises");
    folder.write("api/src/lib.rs", unsigned("minimum = 1, maximum = 255"));
    assert!(generate(&folder, &[]).1.contains("minimum 0 became 1"));

    folder.write("api/src/lib.rs", format!("{USES}{}", kind("Other", "    pub size: i32,")));
    let (code, err) = generate(&folder, &[]);
    assert_eq!(code, Some(0));
    assert!(err.contains("the definition is gone"), "{err}");
}
