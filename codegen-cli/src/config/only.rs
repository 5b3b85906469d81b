//! Refuses flags of generators that do not run.

use super::{CLIENT_GENERATORS, Config, FILE_NAME, Generator, Overrides, UsageError};

/// Refuses a flag of a generator that is left out: by `--only`, or without that flag by `only` in every file
/// of the run. A file may have settings beside its `only`, as `--only` can choose other generators for one
/// run.
///
/// # Errors
/// Names the flag and the setting that leaves out its generator.
pub(super) fn check(flags: &Overrides, files: &[&Config]) -> Result<(), UsageError> {
    let by_flag = !flags.only.is_empty();
    let only = match by_flag {
        true => Some(flags.only.clone()),
        // A file without `only` runs every generator.
        false if files.is_empty() => None,
        false => {
            files.iter().map(|file| file.only.clone()).collect::<Option<Vec<_>>>().map(|all| all.concat())
        }
    };
    let Some(only) = only else { return Ok(()) };
    let given = flags_of_generators(flags);
    let left_out = |of: &[Generator]| !of.iter().any(|generator| only.contains(generator));
    match given.iter().find(|(_, given, of)| *given && left_out(of)) {
        Some((flag, ..)) if by_flag => Err(UsageError(format!(
            "{flag} has no effect, as --only leaves out what it is for: remove one of them"
        ))),
        Some((flag, ..)) => Err(UsageError(format!(
            "{flag} has no effect, as `only` in {FILE_NAME} leaves out what it is for: add that to `only`, or name it with --only"
        ))),
        None => Ok(()),
    }
}

/// Flags, whether they are given, and the generators that use them.
fn flags_of_generators(flags: &Overrides) -> [(&'static str, bool, &'static [Generator]); 21] {
    use Generator::{Crd, Deploy, Docs, Helm, Openapi, Policy, Rbac, Webhook};
    const CLIENT: &[Generator] = &CLIENT_GENERATORS;
    let manifests = &flags.manifests;
    [
        ("--crd-output", flags.crd_output.is_some(), &[Crd]),
        ("--crd-header-file", flags.crd_header_file.is_some(), &[Crd]),
        ("--max-desc-len", flags.max_desc_len.is_some(), &[Crd, Openapi]),
        ("--crate-name", flags.crate_name.is_some(), CLIENT),
        ("--module", flags.module.is_some(), CLIENT),
        ("--header-file", flags.header_file.is_some(), CLIENT),
        ("--rbac-output", manifests.rbac_output.is_some(), &[Rbac]),
        ("--rbac-role-name", manifests.rbac_role_name.is_some(), &[Rbac]),
        ("--rbac-file-name", manifests.rbac_file_name.is_some(), &[Rbac]),
        ("--rbac-header-file", manifests.rbac_header_file.is_some(), &[Rbac]),
        ("--webhook-output", manifests.webhook_output.is_some(), &[Webhook]),
        ("--webhook-header-file", manifests.webhook_header_file.is_some(), &[Webhook]),
        ("--policy-output", manifests.policy_output.is_some(), &[Policy]),
        ("--policy-header-file", manifests.policy_header_file.is_some(), &[Policy]),
        ("--openapi-output", manifests.openapi_output.is_some(), &[Openapi]),
        ("--report-filename", manifests.report_filename.is_some(), &[Openapi]),
        ("--kubernetes-version", flags.kubernetes_version.is_some(), &[Crd, Openapi, Docs]),
        ("--keep-unknown-formats", flags.keep_unknown_formats, &[Crd, Openapi, Docs]),
        ("--docs-output", manifests.docs_output.is_some(), &[Docs]),
        ("--docs-formats", !manifests.docs_formats.is_empty(), &[Docs]),
        ("--image", manifests.image.is_some(), &[Deploy, Helm]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::manifests::ManifestFlags;

    #[test]
    fn flag_of_an_unselected_generator_is_refused() {
        let role = || ManifestFlags { rbac_role_name: Some("manager".into()), ..Default::default() };
        let with = |only: &[Generator], manifests| Overrides {
            only: only.to_vec(),
            manifests,
            ..Overrides::default()
        };
        assert_eq!(check(&with(&[], role()), &[]), Ok(()));
        assert_eq!(check(&with(&[Generator::Crd, Generator::Rbac], role()), &[]), Ok(()));
        let error = check(&with(&[Generator::Crd], role()), &[]).unwrap_err();
        assert!(error.0.starts_with("--rbac-role-name has no effect"), "{}", error.0);
        let length = |only| Overrides { max_desc_len: Some(5), ..with(only, ManifestFlags::default()) };
        assert_eq!(check(&length(&[Generator::Openapi]), &[]), Ok(()));
        assert!(check(&length(&[Generator::Client]), &[]).is_err());
    }

    #[test]
    fn flag_is_refused_when_every_file_omits_its_generator() {
        let file = |only: Option<&[Generator]>| Config { only: only.map(<[_]>::to_vec), ..Config::default() };
        let (crds, roles, all) = (file(Some(&[Generator::Crd])), file(Some(&[Generator::Rbac])), file(None));
        let role = || ManifestFlags { rbac_role_name: Some("manager".into()), ..Default::default() };
        let flags = Overrides { manifests: role(), ..Overrides::default() };
        let error = check(&flags, &[&crds]).unwrap_err();
        assert!(
            error.0.starts_with("--rbac-role-name has no effect, as `only` in kubesmith.toml"),
            "{}",
            error.0
        );
        assert_eq!(check(&flags, &[&roles]), Ok(()));
        assert_eq!(check(&flags, &[&crds, &roles]), Ok(()), "it is for one of them");
        assert_eq!(check(&flags, &[&crds, &all]), Ok(()));
        // `--only` chooses for this run, regardless of the file.
        let chosen = Overrides { only: vec![Generator::Rbac], ..flags };
        assert_eq!(check(&chosen, &[&crds]), Ok(()));
    }
}
