//! Whether the types of a definition keep every object that it accepts.

use kubesmith_apiextensions::structural::Schema;
use kubesmith_runtime::ResourceInfo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::random::{self, Random};

/// Reads and writes random objects with the type and tells how many; an error tells the first one that is not kept.
pub(crate) fn check<T>(definitions: &[Value], objects: u64) -> Result<u64, String>
where
    T: ResourceInfo + Serialize + DeserializeOwned,
{
    let is_it =
        |crd: &&Value| crd["spec"]["group"] == T::GROUP && crd["spec"]["names"]["kind"] == T::KIND;
    let crd = definitions.iter().find(is_it).ok_or("no definition")?;
    let versions = crd["spec"]["versions"].as_array().ok_or("no versions")?;
    let version = versions
        .iter()
        .find(|version| version["name"] == T::VERSION)
        .ok_or("no version")?;
    let schema = Schema::enforced(&version["schema"]["openAPIV3Schema"])
        .map_err(|error| error.to_string())?;
    let mut made = 0;
    for seed in 0..objects {
        let mut random = Random::new(seed);
        let Some(object) = random::object(&schema, T::API_VERSION, T::KIND, &mut random) else {
            continue;
        };
        made += 1;
        let value: T = serde_json::from_value(object.clone())
            .map_err(|error| format!("{} {}: {error}: {object}", T::API_VERSION, T::KIND))?;
        let back = serde_json::to_value(&value).map_err(|error| error.to_string())?;
        if let Some(difference) = random::difference(Some(&schema), &object, &back, "") {
            return Err(format!("{} {}: {difference}", T::API_VERSION, T::KIND));
        }
    }
    Ok(made)
}
