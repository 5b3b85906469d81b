//! Flags that mean nothing beside `--only`.

use super::{CLIENT_GENERATORS, Generator, Overrides, UsageError};

/// Refuses a flag of a generator that `--only` leaves out. In a file both may stand: there `--only` chooses for one run.
///
/// # Errors
/// Names the flag and what it belongs to.
pub(super) fn check(flags: &Overrides) -> Result<(), UsageError> {
    use Generator::{Crd, Deploy, Docs, Openapi, Rbac, Webhook};
    const CLIENT: &[Generator] = &CLIENT_GENERATORS;
    if flags.only.is_empty() {
        return Ok(());
    }
    let manifests = &flags.manifests;
    let given: [(&str, bool, &[Generator]); 18] = [
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
        ("--openapi-output", manifests.openapi_output.is_some(), &[Openapi]),
        ("--report-filename", manifests.report_filename.is_some(), &[Openapi]),
        ("--keep-unknown-formats", flags.keep_unknown_formats, &[Crd, Openapi, Docs]),
        ("--docs-output", manifests.docs_output.is_some(), &[Docs]),
        ("--docs-formats", !manifests.docs_formats.is_empty(), &[Docs]),
        ("--image", manifests.image.is_some(), &[Deploy]),
    ];
    let left_out = |of: &[Generator]| !of.iter().any(|generator| flags.only.contains(generator));
    match given.iter().find(|(_, given, of)| *given && left_out(of)) {
        Some((flag, ..)) => Err(UsageError(format!(
            "{flag} has no effect, as --only leaves out what it is for: remove one of them"
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::manifests::ManifestFlags;

    #[test]
    fn flags_of_what_is_left_out_are_refused() {
        let role = || ManifestFlags { rbac_role_name: Some("manager".into()), ..Default::default() };
        let with = |only: &[Generator], manifests| Overrides {
            only: only.to_vec(),
            manifests,
            ..Overrides::default()
        };
        assert_eq!(check(&with(&[], role())), Ok(()));
        assert_eq!(check(&with(&[Generator::Crd, Generator::Rbac], role())), Ok(()));
        let error = check(&with(&[Generator::Crd], role())).unwrap_err();
        assert!(error.0.starts_with("--rbac-role-name has no effect"), "{}", error.0);
        let length = |only| Overrides { max_desc_len: Some(5), ..with(only, ManifestFlags::default()) };
        assert_eq!(check(&length(&[Generator::Openapi])), Ok(()));
        assert!(check(&length(&[Generator::Client])).is_err());
    }
}
