//! Help for users of the command: `config`, `completions`, `man`, help texts.

use std::fs;

use serde_json::Value;

use crate::support::{Crate, USES, kind};

fn sample() -> Crate {
    Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: i32,")))
}

/// Standard output of a run that succeeds.
fn printed(sample: &Crate, arguments: &[&str]) -> String {
    let out = sample.run(arguments);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn config_show_prints_file_flags_and_defaults() {
    let sample = sample();
    sample.write(
        "kubesmith.toml",
        "input = [\"api\"]\n[client]\noutput = \"client\"\n[crd]\noutput = \"crds\"\n",
    );
    let text = printed(&sample, &["config", "show", "--max-desc-len", "9", "--deny", "KS0603"]);
    insta::assert_snapshot!(text);
    assert!(!sample.path("client").exists(), "it writes nothing");

    // The text is a configuration of its own.
    sample.write("kubesmith.toml", &text);
    assert_eq!(printed(&sample, &["config", "show"]), text);
    printed(&sample, &["generate"]);
    let wrong = sample.run(&["config", "show", "--crate-name", "1x"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn config_show_prints_every_member() {
    let sample = sample();
    sample.write("kubesmith.toml", "members = [\"a\", \"b\"]\n");
    for member in ["a", "b"] {
        let text = "input = [\"../api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"\n";
        sample.write(&format!("{member}/kubesmith.toml"), text);
    }
    let text = printed(&sample, &["config", "show"]);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings.len(), 2, "{text}");
    assert!(headings[1].starts_with("# b/kubesmith.toml"), "{text}");
}

#[test]
fn config_schema_knows_the_keys_of_every_project() {
    let schema: Value = serde_json::from_str(&printed(&sample(), &["config", "schema"])).unwrap();
    let file: toml::Table =
        "input = [\"api\"]\n[crd]\noutput = \"crds\"\n[deploy]\nname = \"a\"".parse().unwrap();
    for (key, value) in &file {
        let known = &schema["properties"][key];
        assert!(known["description"].is_string(), "{key}");
        for inner in value.as_table().into_iter().flatten().map(|(key, _)| key) {
            let table = known["$ref"].as_str().or_else(|| known["allOf"][0]["$ref"].as_str()).unwrap();
            let known = &schema.pointer(table.trim_start_matches('#')).unwrap()["properties"][inner];
            assert!(known["description"].is_string(), "{key}.{inner}");
        }
    }
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&sample(), &["completions", shell]);
        assert!(script.contains("kubesmith") && script.contains("crd-output"), "{shell}");
    }
    assert_eq!(sample().run(&["completions", "csh"]).status.code(), Some(2));
}

#[test]
fn manual_has_a_page_for_every_command() {
    let sample = sample();
    let page = printed(&sample, &["man"]);
    assert!(page.contains(".TH kubesmith 1") && page.contains("kubesmith\\-generate(1)"), "{page}");
    printed(&sample, &["man", "--output", "man1"]);
    for name in ["kubesmith", "kubesmith-generate", "kubesmith-create-webhook", "kubesmith-config-show"] {
        let page = fs::read_to_string(sample.path("man1").join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    let refused = sample.run(&["man", "--output", "api/Cargo.toml"]);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text.contains("choose a folder that you may write to"), "{text}");
}

#[test]
fn help_wraps_to_the_terminal() {
    let sample = sample();
    let mut command = sample.command(env!("CARGO_BIN_EXE_kubesmith"));
    let out = command.args(["generate", "--help"]).env("COLUMNS", "60").output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let long: Vec<&str> = text.lines().filter(|line| line.len() > 60 && !line.contains("--")).collect();
    assert!(long.is_empty(), "{long:?}");
    assert!(text.lines().count() > 100, "{text}");
}
