//! Emits the reference documentation of an API: `<group>_<version>.md` for each version of a group, and
//! `index.html`, one self-contained page. [`crate::reference`] makes their content.

mod escape;
mod html;
mod markdown;

use crate::config::DocsFormat;
use crate::ir::Ir;
use crate::output::{DOCS_MARK, OutputTree};
use crate::reference;
use crate::schema::Schemas;

/// Name of the page for everything.
const PAGE: &str = "index.html";

/// Emits the documentation in these formats. Without a kind there are no files.
pub fn emit(ir: &Ir, schemas: &Schemas, formats: &[DocsFormat]) -> OutputTree {
    let mut tree = OutputTree::new();
    let reference = reference::build(ir, schemas);
    if reference.pages.is_empty() {
        return tree;
    }
    if formats.contains(&DocsFormat::Markdown) {
        for page in &reference.pages {
            tree.insert(format!("{}.md", page.file), markdown::page(page));
        }
    }
    if formats.contains(&DocsFormat::Html) {
        tree.insert(PAGE, html::document(&reference));
    }
    tree
}

/// The comment that marks the files.
fn mark() -> String {
    format!("{DOCS_MARK}v{}. DO NOT EDIT. -->\n", env!("CARGO_PKG_VERSION"))
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}
