//! Emits CustomResourceDefinitions, one file per group and plural: `<group>_<plural>.yaml`.

use kubesmith_apimachinery::yaml;

use crate::definition::Definition;
use crate::output::OutputTree;
use crate::parallel;

/// Emits every definition.
pub(crate) fn emit(definitions: &[Definition<'_>]) -> OutputTree {
    let texts = parallel::map(definitions, |definition| {
        let name = format!("{}_{}.yaml", definition.group, definition.first().plural);
        (name, yaml::document(&definition.to_value()))
    });
    let mut tree = OutputTree::new();
    for (name, text) in texts {
        tree.insert(name, text);
    }
    tree
}
