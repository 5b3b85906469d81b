//! Files with CRDs and webhook configurations to install.

use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubesmith_apimachinery::decode::read;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Error;
use crate::webhook::Configurations;

/// Returns the CRDs in a file, or in the files of a folder. Of several with one name the last counts, in the first
/// one's place.
pub(crate) fn read_crds(path: &Path) -> Result<Vec<CustomResourceDefinition>, Error> {
    let mut crds: Vec<CustomResourceDefinition> = Vec::new();
    each_document(path, |value| {
        if value["kind"] == "CustomResourceDefinition" {
            let crd: CustomResourceDefinition = typed(value)?;
            match crds.iter_mut().find(|old| old.metadata.name == crd.metadata.name) {
                Some(old) => *old = crd,
                None => crds.push(crd),
            }
        }
        Ok(())
    })?;
    Ok(crds)
}

/// Returns all documents of a file, or of the files in a folder.
pub(crate) fn read_all(path: &Path) -> Result<Vec<Value>, Error> {
    let mut documents = Vec::new();
    each_document(path, |value| {
        documents.push(value);
        Ok(())
    })?;
    Ok(documents)
}

/// Returns all documents of a text; errors show `path`.
pub(crate) fn read_text(path: &Path, text: &str) -> Result<Vec<Value>, Error> {
    let mut documents = Vec::new();
    each_in(path, text, &mut |value| {
        documents.push(value);
        Ok(())
    })?;
    Ok(documents)
}

/// Returns the webhook configurations in a file, or in the files of a folder.
pub(crate) fn read_webhooks(path: &Path) -> Result<Configurations, Error> {
    let mut configurations = Configurations::default();
    each_document(path, |value| {
        let kind = value["kind"].as_str().unwrap_or_default().to_owned();
        let kinds = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
        if kinds.contains(&kind.as_str()) && value["apiVersion"] != "admissionregistration.k8s.io/v1" {
            let name = value["metadata"]["name"].as_str().unwrap_or_default();
            let text = format!("only v1 is supported for {kind} (name: {name})");
            return Err(serde::de::Error::custom(text));
        }
        match kind.as_str() {
            "MutatingWebhookConfiguration" => configurations.mutating.push(typed(value)?),
            "ValidatingWebhookConfiguration" => configurations.validating.push(typed(value)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(configurations)
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, serde_yaml::Error> {
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

/// Passes every document of a file, or of the files in a folder, to `take`.
fn each_document(
    path: &Path,
    mut take: impl FnMut(Value) -> Result<(), serde_yaml::Error>,
) -> Result<(), Error> {
    for file in files(path)? {
        let text =
            std::fs::read_to_string(&file).map_err(|source| Error::Read { path: file.clone(), source })?;
        each_in(&file, &text, &mut take)?;
    }
    Ok(())
}

fn each_in(
    path: &Path,
    text: &str,
    take: &mut impl FnMut(Value) -> Result<(), serde_yaml::Error>,
) -> Result<(), Error> {
    for (i, document) in serde_yaml::Deserializer::from_str(text).enumerate() {
        read(document, Some(text), &mut ()).and_then(&mut *take).map_err(|source| Error::Parse {
            path: path.to_owned(),
            document: i + 1,
            source,
        })?;
    }
    Ok(())
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let fits = file.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json");
        if fits && file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}
