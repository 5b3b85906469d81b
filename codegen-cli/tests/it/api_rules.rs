//! The report of API rules: its entries, and the effect of an unaccepted violation on a run.

use crate::support::{Crate, USES, kind};

const FIELDS: &str = "    pub size: i32,\n    pub nodes: Vec<String>,\n    #[schema(list_type = \"set\")]\n    \
    pub ids: Vec<String>,\n    pub cluster_ip: String,\n    #[serde(rename = \"hostIP\")]\n    pub host_ip: String,";

const LINES: &str = "API rule violation: list_type_missing,sample_api,WidgetSpec,nodes\n\
    API rule violation: names_match,sample_api,WidgetSpec,cluster_ip\n";

const ARGUMENTS: &[&str] = &[
    "generate",
    "--input",
    "api",
    "--output",
    "out",
    "--only",
    "crd,openapi",
    "--report-filename",
    "rules.list",
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sample() -> Crate {
    Crate::new(&(USES.to_string() + &kind("Widget", FIELDS)))
}

#[test]
fn unaccepted_violations_fail_the_run() {
    let sample = sample();
    let out = sample.run(ARGUMENTS);
    assert_eq!(out.status.code(), Some(1));
    assert!(sample.tree("out").is_empty());
    let diff = text(&out.stdout);
    assert!(
        diff.contains("+++ rules.list") && diff.contains(&format!("+{}", LINES.lines().next().unwrap())),
        "{diff}"
    );
    insta::assert_snapshot!(text(&out.stderr));
}

#[test]
fn report_is_written_on_request_and_checked_by_later_runs() {
    let sample = sample();
    let out = sample.run(&[ARGUMENTS, &["--update-report"]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(std::fs::read_to_string(sample.path("rules.list")).unwrap(), LINES);
    let check = [ARGUMENTS, &["--check"]].concat();
    assert_eq!(sample.run(ARGUMENTS).status.code(), Some(0));
    assert_eq!(sample.run(&check).status.code(), Some(0));

    // Another violation, and one less.
    for fields in [format!("{FIELDS}\n    pub more: Vec<String>,"), FIELDS.replace("cluster_ip", "clusterip")]
    {
        sample.write("api/src/lib.rs", USES.to_string() + &kind("Widget", &fields));
        let out = sample.run(&check);
        assert_eq!(out.status.code(), Some(1));
        assert!(text(&out.stdout).contains("--- rules.list"), "{}", text(&out.stdout));
        assert!(text(&out.stderr).contains("KS0541"), "{}", text(&out.stderr));
        assert_eq!(std::fs::read_to_string(sample.path("rules.list")).unwrap(), LINES);
    }
}

#[test]
fn report_is_not_written_without_violations() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: i32,")));
    assert_eq!(sample.run(&[ARGUMENTS, &["--update-report"]].concat()).status.code(), Some(0));
    assert!(!sample.path("rules.list").exists());
}

#[test]
fn report_does_not_overwrite_a_foreign_file() {
    let sample = sample();
    sample.write("rules.list", "my own notes\n");
    let out = sample.run(&[ARGUMENTS, &["--update-report"]].concat());
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("KS0601"), "{}", text(&out.stderr));
    let out = sample.run(&["generate", "--input", "api", "--output", "out", "--update-report"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("no effect"), "{}", text(&out.stderr));
}
