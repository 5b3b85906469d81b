//! `pipeline/go.rs` replaces phrases of diagnostics. Each of them occurs in the sources of diagnostics.

use std::fs;
use std::path::Path;

use syn::{Expr, ExprLit, Item, Lit};

/// Appends the texts of the Rust files below a folder, without the breaks of long literals.
fn read(folder: &Path, out: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, out);
        } else if !path.ends_with("pipeline/go.rs") {
            let text = fs::read_to_string(&path).unwrap();
            let joined = text.split("\\\n").map(str::trim_start).collect::<String>();
            out.push_str(&joined.replace("\\\"", "\""));
        }
    }
}

/// The first string of each pair of a table.
fn phrases(item: &Item) -> Vec<String> {
    let Item::Const(table) = item else { return Vec::new() };
    let Expr::Reference(reference) = &*table.expr else { return Vec::new() };
    let Expr::Array(rows) = &*reference.expr else { return Vec::new() };
    let phrase = |row: &Expr| match row {
        Expr::Tuple(row) => match &row.elems[0] {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    rows.elems.iter().filter_map(phrase).collect()
}

#[test]
fn every_replaced_phrase_occurs_in_diagnostics() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    read(&own.join("src"), &mut sources);
    read(&own.join("../codegen-core/src"), &mut sources);
    let file = syn::parse_file(&fs::read_to_string(own.join("src/pipeline/go.rs")).unwrap()).unwrap();
    let phrases: Vec<String> = file.items.iter().flat_map(phrases).collect();
    assert!(phrases.len() > 20, "{phrases:?}");
    for phrase in phrases {
        // This key is formatted into the text.
        let phrase = phrase.replace("timeout_seconds", "{name}");
        assert!(sources.contains(&phrase), "{phrase}");
    }
}
