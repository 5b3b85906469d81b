//! Emits CustomResourceDefinitions, one file per group and plural: `<group>_<plural>.yaml`.

use kubesmith_apimachinery::yaml;

use crate::definition::Definition;
use crate::output::OutputTree;
use crate::parallel;

/// The file of a definition.
pub(super) fn file_name(definition: &Definition<'_>) -> String {
    format!("{}_{}.yaml", definition.group, definition.first().plural)
}

/// Emits every definition.
pub(crate) fn emit(definitions: &[Definition<'_>]) -> OutputTree {
    let texts = parallel::map(definitions, |definition| {
        (file_name(definition), yaml::document(&definition.to_value()))
    });
    let mut tree = OutputTree::new();
    for (name, text) in texts {
        tree.insert(name, text);
    }
    tree
}
