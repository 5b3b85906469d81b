//! Loads Go packages as a crate: the Rust source that `go` writes for them is parsed like other source.

use std::path::{Path, PathBuf};

use kubesmith_core::diag::Code;

use super::dependencies::{Origin, Source};
use super::files::{Place, add_items};
use super::{Crate, LoadOptions, Loaded, Module, ModuleId};
use crate::diag::Diagnostic;
use crate::go;
use crate::parallel;
use crate::parse::{self, Included};
use crate::source::{FileId, Loc};
use crate::syntax::Visibility;

/// The name of the packages' crate.
const CRATE: &str = "go";

/// Turns errors into warnings where controller-gen writes the input. API servers accept values of another type in an
/// enum and any name of a column; the others they refuse.
fn as_controller_gen(found: Diagnostic) -> Diagnostic {
    match found.code {
        Code::INVALID_DEFAULT | Code::LIST_MAP_KEY | Code::RBAC_RULE => found.of_a_server(),
        Code::INVALID_ENUM | Code::INVALID_PRINT_COLUMN => found.of_controller_gen(),
        _ => found,
    }
}

impl Loaded {
    /// Adds a crate with the types of Go packages.
    pub(super) fn add_go(&mut self, inputs: &[&Path], options: LoadOptions<'_>) {
        let Some(first) = inputs.first() else { return };
        let folder = first.to_path_buf();
        let inputs: Vec<PathBuf> = inputs.iter().map(|input| input.to_path_buf()).collect();
        let go_options = go::Options::new(options.ignore_unexported, options.beside, options.types);
        let mut found = go::translate(&inputs, &mut self.files.sources, go_options);
        self.files.diagnostics.append(&mut found.diagnostics);
        let mut krate = Crate {
            is_go: true,
            older: found.older,
            has_unread_kinds: found.has_unread_kinds,
            ..Crate::empty(CRATE.to_string(), folder.clone())
        };
        for name in &found.modules {
            let id = krate.modules.len();
            krate.modules.push(Module::new(name.clone(), Some(0), Visibility::Public));
            krate.modules[0].children.push(id);
        }
        let places: Vec<(ModuleId, Vec<String>)> =
            found.texts.iter_mut().map(|text| (text.package + 1, std::mem::take(&mut text.broken))).collect();
        let texts: Vec<(FileId, String)> = found
            .texts
            .into_iter()
            .map(|text| (self.expansion(text.file, text.pieces, &text.text), text.text))
            .collect();
        let nothing = Included::new();
        let parsed = parallel::map(&texts, |(id, text)| parse::parse_file(*id, text, &krate.cfg, &nothing));
        for ((module, broken), (mut file, diagnostics)) in places.into_iter().zip(parsed) {
            self.files.diagnostics.extend(diagnostics.into_iter().map(as_controller_gen));
            krate.manifests.append(file.manifests);
            for item in &mut file.items.types {
                item.is_broken |= broken.contains(&item.name.text);
            }
            let place =
                Place { module, path_folder: &folder, child_folder: &folder, folder: &folder, chain: &[] };
            add_items(&mut krate, &place, file.items, &mut |_, _, _| {});
        }
        let at = self.crates.list.len();
        self.crates.list.push(krate);
        self.sources.push(Source { origin: Origin::Go, root: at, folder: super::identity(&folder) });
        self.link(at);
    }

    /// Adds a file for the translation of a Go file.
    fn expansion(&mut self, file: FileId, pieces: Vec<crate::source::Piece>, text: &str) -> FileId {
        let sources = &mut self.files.sources;
        let end = u32::try_from(sources.file(file).text.len()).unwrap_or(u32::MAX);
        let start = Loc { file, start: 0, end: 0 };
        let id = sources.add_expansion(CRATE, start, Loc { file, start: 0, end });
        sources.set_expansion(id, text.to_string(), pieces);
        id
    }
}
