//! Files: CRDs to install and kubeconfigs.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::error::Error;
use crate::listen::Listener;

/// The CRDs in a file, or in the files of a folder.
pub(crate) fn read_crds(path: &Path) -> Result<Vec<CustomResourceDefinition>, Error> {
    let mut crds = Vec::new();
    for file in files(path)? {
        let text =
            std::fs::read_to_string(&file).map_err(|source| Error::Read { path: file.clone(), source })?;
        for (i, document) in serde_yaml::Deserializer::from_str(&text).enumerate() {
            let failed = |source| Error::Parse { path: file.clone(), document: i + 1, source };
            let value = Value::deserialize(document).map_err(failed)?;
            if value["kind"] == "CustomResourceDefinition" {
                let crd = serde_json::from_value(value).map_err(serde::de::Error::custom).map_err(failed)?;
                crds.push(crd);
            }
        }
    }
    Ok(crds)
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

/// A kubeconfig for a listener.
pub(crate) fn kubeconfig(listener: &Listener) -> String {
    const NAME: &str = "kubesmith";
    let mut cluster = json!({"server": listener.url()});
    if let Some(authority) = &listener.authority {
        cluster["certificate-authority-data"] = json!(BASE64.encode(authority));
    }
    let user = listener.token.as_ref().map_or_else(|| json!({}), |token| json!({"token": **token}));
    let config = json!({
        "apiVersion": "v1", "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": user}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME, "namespace": "default"}}],
        "current-context": NAME,
    });
    serde_yaml::to_string(&config).unwrap_or_default()
}
