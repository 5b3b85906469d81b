//! The binary in temporary folders: exit codes, output, changed files.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::support::{Crate, USES, kind};

fn sample() -> Crate {
    Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: i32,")))
}

const GENERATE: &[&str] = &["generate", "--input", "api", "--output", "client"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn generate_writes_files_and_skips_unchanged_ones() {
    let sample = sample();
    let out = sample.run(GENERATE);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stdout).starts_with("wrote "), "{}", text(&out.stdout));
    let first = sample.tree("client");
    assert!(first.contains_key("crds/example.com_widgets.yaml") && first.contains_key("Cargo.toml"));
    assert!(first.contains_key("src/clientset/typed/example/v1.rs"), "{:?}", first.keys());

    // A file that is not written keeps its time.
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for name in first.keys() {
        let file = fs::File::options().write(true).open(sample.path("client").join(name)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    let out = sample.run(GENERATE);
    assert!(text(&out.stdout).starts_with("wrote 0 files"), "{}", text(&out.stdout));
    for name in first.keys() {
        let modified = fs::metadata(sample.path("client").join(name)).unwrap().modified().unwrap();
        assert_eq!(modified, long_ago, "{name}");
    }
    assert_eq!(sample.tree("client"), first);

    let out = sample.run(&[GENERATE, &["--check"]].concat());
    assert_eq!(out.status.code(), Some(0));
}

#[test]
fn check_prints_a_diff_and_writes_nothing() {
    let sample = sample();
    sample.run(GENERATE);
    let before = sample.tree("client");
    sample.write("api/src/lib.rs", USES.to_string() + &kind("Widget", "    pub sizes: i32,"));
    let out = sample.run(&[GENERATE, &["--check"]].concat());
    assert_eq!(out.status.code(), Some(1));
    let diff = text(&out.stdout);
    assert!(diff.contains("-              size:") && diff.contains("+              sizes:"), "{diff}");
    assert!(text(&out.stderr).contains("client/crds/example.com_widgets.yaml"), "{}", text(&out.stderr));
    assert_eq!(sample.tree("client"), before);
}

#[test]
fn files_with_line_ends_of_windows_are_up_to_date() {
    let source = USES.to_string()
        + "/** A kind\n\n    of two lines. */\npub struct Documented;\n"
        + &kind(
            "Widget",
            "    /** Its\n        size. */\n    #[schema(description = \"a\nb\")]\n    pub size: i32,",
        );
    let sample = Crate::new(&source);
    assert!(sample.run(GENERATE).status.success());
    for (name, content) in sample.tree("client") {
        sample.write(&format!("client/{name}"), content.replace('\n', "\r\n"));
    }
    // git converts sources as well.
    sample.write("api/src/lib.rs", source.replace('\n', "\r\n"));
    let out = sample.run(&[GENERATE, &["--check"]].concat());
    assert_eq!(out.status.code(), Some(0), "{}{}", text(&out.stdout), text(&out.stderr));
    assert!(text(&sample.run(GENERATE).stdout).starts_with("wrote 0 files"), "nothing is rewritten");
}

#[test]
fn diagnostics_are_coloured_on_request() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: Missing,")));
    let stderr = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = sample.command(env!("CARGO_BIN_EXE_kubesmith"));
        for name in ["CARGO_TERM_COLOR", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied()).args(arguments).output().unwrap()
    };
    let is_coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let out = stderr(&[GENERATE, arguments].concat(), variables);
        assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
        text(&out.stderr).contains('\u{1b}')
    };
    let always = ("CARGO_TERM_COLOR", "always");
    assert!(!is_coloured(&[], &[]), "standard error is no terminal");
    assert!(is_coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(is_coloured(&[], &[always]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&["--color=never"], &[always]), "the flag comes first");
    assert!(!is_coloured(&["--message-format=short"], &[always]));
    let out = stderr(&["--color", "often", "config", "schema"], &[]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
}

#[test]
fn stale_files_are_removed_and_foreign_files_kept() {
    let sample = sample();
    sample.run(GENERATE);
    sample.write("client/src/clientset/mine.rs", "fn mine() {}\n");
    sample.write("client/crds/mine.yaml", "kind: ConfigMap\n");
    // A copy for another tool, below the folder of the CRDs, which has the CRDs themselves at its top.
    let copy = sample.tree("client")["crds/example.com_widgets.yaml"].clone();
    sample.write("client/crds/chart/templates/crd.yaml", copy);
    sample.write("api/src/lib.rs", USES.to_string() + &kind("Gadget", "    pub size: i32,"));
    let out = sample.run(GENERATE);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let tree = sample.tree("client");
    assert!(tree.keys().all(|name| !name.contains("widget")), "{:?}", tree.keys());
    assert!(tree.contains_key("crds/chart/templates/crd.yaml"));
    assert!(tree.contains_key("src/clientset/mine.rs") && tree.contains_key("crds/mine.yaml"));
    assert!(text(&out.stdout).contains("removed 1"), "{}", text(&out.stdout));
}

#[test]
fn hand_written_files_become_modules_and_are_kept() {
    let sample = sample();
    assert!(sample.run(GENERATE).status.success());
    let generated = sample.tree("client");
    let folder = "src/clientset/typed/example/v1";
    let expansion = format!("client/{folder}/widget_expansion.rs");
    sample.write(&expansion, "//! Mine.\n");
    sample.write("client/src/clientset/register_custom.rs", "//! Mine.\n");
    assert!(!sample.run(&[GENERATE, &["--check"]].concat()).status.success());
    assert!(sample.run(GENERATE).status.success());
    assert!(sample.run(&[GENERATE, &["--check"]].concat()).status.success());
    let tree = sample.tree("client");
    assert!(tree[&format!("{folder}.rs")].contains("pub mod widget_expansion;"));
    assert!(tree["src/clientset/mod.rs"].contains("pub mod register_custom;"));
    assert_eq!(tree[&format!("{folder}/widget_expansion.rs")], "//! Mine.\n");
    // Without them, the output is as before.
    fs::remove_file(sample.path(&expansion)).unwrap();
    fs::remove_file(sample.path("client/src/clientset/register_custom.rs")).unwrap();
    assert!(sample.run(GENERATE).status.success());
    assert_eq!(sample.tree("client"), generated);
}

#[test]
fn orphaned_or_unreadable_hand_written_file_gets_a_warning() {
    let sample = sample();
    let folder = "client/src/clientset/typed/example/v1";
    let (taken, lost) = (format!("{folder}/widget_expansion.rs"), format!("{folder}/gadget_expansion.rs"));
    sample.write(&taken, b"//! \xff\n");
    sample.write(&lost, "//! Mine.\n");
    for _ in 0..2 {
        let out = sample.run(GENERATE);
        let said = text(&out.stderr);
        assert!(out.status.success(), "{said}");
        assert!(said.contains("warning[KS0604]") && said.contains(&format!("{lost}:1:1")), "{said}");
        assert!(said.contains("warning[KS0605]: the file is not UTF-8") && said.contains(&taken), "{said}");
    }
    // Files of an earlier run are removed without a message.
    sample.write(&lost, "// Code generated by kubesmith v0.1.0. DO NOT EDIT.\n// @generated from api\n");
    let out = sample.run(GENERATE);
    assert!(!text(&out.stderr).contains("KS0604"), "{}", text(&out.stderr));
    assert!(!sample.path(&lost).exists() && sample.path(&taken).exists());
}

#[test]
fn run_fails_when_a_foreign_file_is_in_the_way() {
    let sample = sample();
    sample.write("client/Cargo.toml", "[package]\nname = \"mine\"\n");
    let before = sample.tree("client");
    let out = sample.run(GENERATE);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("KS0601"), "{}", text(&out.stderr));
    assert_eq!(sample.tree("client"), before);
}

#[test]
fn missing_input_is_an_error() {
    let out = sample().run(&["generate", "--input", "nowhere", "--output", "client"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("error[KS0401]: input folder nowhere does not exist"));
}

#[test]
fn files_are_unchanged_when_the_run_has_errors() {
    let sample = sample();
    sample.run(GENERATE);
    let before = sample.tree("client");
    sample.write("api/src/lib.rs", USES.to_string() + &kind("Widget", "    pub size: Missing,"));
    let out = sample.run(GENERATE);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("KS0407"), "{}", text(&out.stderr));
    assert_eq!(sample.tree("client"), before);
}

#[test]
#[cfg(target_os = "linux")]
fn output_folder_that_is_not_writable_is_an_error() {
    let sample = sample();
    // No user may write there, not even root.
    std::os::unix::fs::symlink("/proc/self", sample.path("client")).unwrap();
    let out = sample.run(GENERATE);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("KS0602"), "{}", text(&out.stderr));
}

#[test]
fn output_that_is_a_file_is_an_error() {
    let sample = sample();
    sample.write("client", "in the way");
    let out = sample.run(GENERATE);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("KS0602"), "{}", text(&out.stderr));
    assert_eq!(fs::read_to_string(sample.path("client")).unwrap(), "in the way");
}

#[test]
fn configuration_file_in_the_working_folder_is_read() {
    let sample = sample();
    sample.write(
        "kubesmith.toml",
        "input = [\"api\"]\n[crd]\noutput = \"config/crd\"\n[client]\noutput = \"pkg\"\ncrate_name = \"widgets\"\n",
    );
    let out = sample.run(&["generate"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(sample.tree("config/crd").contains_key("example.com_widgets.yaml"));
    assert!(sample.tree("pkg")["Cargo.toml"].contains("name = \"widgets\""));

    sample.write("kubesmith.toml", "inputs = [\"api\"]\n");
    let out = sample.run(&["generate"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("did you mean `input`?"), "{}", text(&out.stderr));
}

#[test]
fn only_flag_selects_generators() {
    let sample = sample();
    sample.run(&[GENERATE, &["--only", "crd"]].concat());
    assert_eq!(sample.tree("client").len(), 1);
    sample.run(&[GENERATE, &["--only", "client,lister"]].concat());
    let tree = sample.tree("client");
    assert!(tree.keys().any(|name| name.contains("listers")));
    assert!(!tree.keys().any(|name| name.contains("informers/")), "{:?}", tree.keys());
}

#[test]
fn usage_error_exits_with_2() {
    let sample = sample();
    for arguments in [
        &["generate"][..],
        &["generate", "--input", "api"],
        &["generate", "--input", "api", "--output", "o", "--only", "crds"],
        &["generate", "--input", "api", "--output", "o", "--crate-name", "a", "--module", "crate::b"],
        &["generate", "--nonsense"],
        &["explain", "nonsense-of-all-kinds"],
        &[],
    ] {
        assert_eq!(sample.run(arguments).status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(sample.run(&["--help"]).status.code(), Some(0));
    assert_eq!(sample.run(&["explain", "resource"]).status.code(), Some(0));
}

#[test]
fn dump_ir_prints_the_representation_and_writes_no_file() {
    let sample = sample();
    let out = sample.run(&[GENERATE, &["--dump-ir"]].concat());
    let ir: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(ir["groups"][0]["versions"][0]["resources"][0]["kind"], "Widget");
    assert!(sample.tree("client").is_empty());
}

#[test]
fn diagnostics_have_three_formats() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub size: Missing,")));
    let short = sample.run(&[GENERATE, &["--message-format", "short"]].concat());
    assert_eq!(text(&short.stderr), "api/src/lib.rs:15:15: error[KS0407]: cannot find the type `Missing`\n");
    let json = sample.run(&[GENERATE, &["--message-format", "json"]].concat());
    let value: serde_json::Value = serde_json::from_slice(&json.stderr).unwrap();
    assert_eq!(value["code"], "KS0407");
    assert_eq!(value["span"]["file"], "api/src/lib.rs");
}

#[test]
fn header_file_precedes_every_rust_file() {
    let sample = sample();
    sample.write("header.txt", "// Copyright YEAR The authors.\n");
    let out = sample.run(&[GENERATE, &["--header-file", "header.txt", "--year", "2026"]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    for (name, text) in sample.tree("client").iter().filter(|(name, _)| name.ends_with(".rs")) {
        assert!(text.starts_with("// Copyright 2026 The authors.\n"), "{name}");
    }
    // Files with a header are still recognised as ours.
    let out = sample.run(GENERATE);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
}

#[test]
fn warning_levels_are_set_by_file_and_flags() {
    let sample = Crate::new(&(USES.to_string() + &kind("Widget", "    pub node_name: String,")));
    let file = |lints: &str| {
        let rest = "input = [\"api\"]\nonly = [\"crd\"]\n[crd]\noutput = \"crds\"\n[lints]\n";
        sample.write("kubesmith.toml", rest.to_string() + lints);
    };
    let run = |flags: &[&str]| {
        let out = sample.run(&[&["generate", "--message-format", "short"], flags].concat());
        (out.status.code(), text(&out.stderr))
    };
    let shown = "warning[KS0701]: the field name `node_name` is not camelCase in JSON";
    for (lints, flags, code, wanted) in [
        ("", &[][..], 0, shown),
        ("allow = [\"KS0701\"]", &[], 0, ""),
        ("deny = [\"KS0701\"]", &[], 1, "error[KS0701]"),
        ("allow = [\"KS0701\"]", &["--deny", "all"], 1, "error[KS0701]"),
        ("deny = [\"all\"]", &["--allow", "KS0701,KS0711"], 0, ""),
        ("allow = [\"KS0771\"]", &[], 2, "did you mean KS0701?"),
        ("deny = [\"KS0306\"]", &[], 2, "is an error, which has no level"),
        ("alow = [\"KS0701\"]", &[], 2, "did you mean `allow`?"),
    ] {
        file(lints);
        let (status, stderr) = run(flags);
        assert_eq!(status, Some(code), "{lints} {flags:?}: {stderr}");
        assert!(
            stderr.contains(wanted) && (!wanted.is_empty() || stderr.is_empty()),
            "{lints} {flags:?}: {stderr}"
        );
    }
}

/// The exit code is set even if no process reads stderr.
#[cfg(target_os = "linux")]
#[test]
fn exit_code_does_not_depend_on_readable_output() {
    use std::fs::File;
    use std::process::{Command, Stdio};

    let sample = sample();
    sample.write("broken.yaml", "a: [\n");
    sample.write("allowed.toml", "");
    let out_of_date = [GENERATE, &["--check"]].concat();
    let cases: &[(&[&str], [i32; 2])] = &[
        // With standard error full, and with standard output full as well.
        (GENERATE, [0, 1]),
        (&out_of_date, [0, 1]),
        (&["generate", "--input", "nowhere", "--output", "client"], [1, 1]),
        (&["generate", "--config", "nowhere.toml"], [2, 2]),
        (&["import", "broken.yaml", "--output", "x"], [1, 1]),
        (&["import", "broken.yaml", "--output", "9"], [2, 2]),
        (&["import", "--from-cluster", "--kubeconfig", "nowhere", "--output", "x"], [1, 1]),
        (&["diff", "broken.yaml", "nowhere.yaml"], [1, 1]),
        (&["diff", "a", "b", "--kubeconfig", "c"], [2, 2]),
        (&["create", "api", "--group", "a", "--version", "v1", "--kind", "A"], [1, 1]),
        (&["explain"], [0, 1]),
        (&["explain", "nothing"], [2, 2]),
        (&["serve", "--crds", "nowhere", "--addr", "127.0.0.1:0"], [1, 1]),
    ];
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    for (arguments, wanted) in cases {
        let code = |stdout: Stdio, stderr: Stdio| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_kubesmith"));
            command.args(*arguments).current_dir(sample.dir.path()).stdout(stdout).stderr(stderr);
            command.status().unwrap().code()
        };
        assert_eq!(code(Stdio::null(), full()), Some(wanted[0]), "{arguments:?}");
        assert_eq!(code(full(), full()), Some(wanted[1]), "{arguments:?}");
        // A pipe without a reader.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let gone = || Stdio::from(writer.try_clone().unwrap());
        assert_eq!(code(gone(), gone()), Some(wanted[0]), "{arguments:?}");
    }
}
