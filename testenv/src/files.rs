//! Files with CRDs to install.

use std::path::{Path, PathBuf};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::Deserialize as _;
use serde_json::Value;

use crate::error::Error;

/// The CRDs in a file, or in the files of a folder. Of several with one name the last counts, in the first one's place.
pub(crate) fn read_crds(path: &Path) -> Result<Vec<CustomResourceDefinition>, Error> {
    let mut crds: Vec<CustomResourceDefinition> = Vec::new();
    for file in files(path)? {
        let text =
            std::fs::read_to_string(&file).map_err(|source| Error::Read { path: file.clone(), source })?;
        for (i, document) in serde_yaml::Deserializer::from_str(&text).enumerate() {
            let failed = |source| Error::Parse { path: file.clone(), document: i + 1, source };
            let value = Value::deserialize(document).map_err(failed)?;
            if value["kind"] == "CustomResourceDefinition" {
                let crd: CustomResourceDefinition =
                    serde_json::from_value(value).map_err(serde::de::Error::custom).map_err(failed)?;
                match crds.iter_mut().find(|old| old.metadata.name == crd.metadata.name) {
                    Some(old) => *old = crd,
                    None => crds.push(crd),
                }
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
