//! Compares the cut of files with the grammar.

use std::path::{Path, PathBuf};
use std::{env, fs};

use tree_sitter::{Node, Parser};

use super::*;

/// What the grammar says of a whole file: declarations with the names of types and methods, and comments.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    declarations: Vec<(&'static str, Place, Vec<Place>)>,
    comments: Vec<Place>,
}

fn by_grammar(text: &str) -> Option<Seen> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_go::LANGUAGE.into()).unwrap();
    let tree = parser.parse(text, None).unwrap();
    let mut seen = Seen::default();
    visit(tree.root_node(), &mut seen);
    (!tree.root_node().has_error()).then_some(seen)
}

fn visit(node: Node<'_>, seen: &mut Seen) {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    let name = |node: Node<'_>| node.child_by_field_name("name").map(|name| name.byte_range());
    let kind = match node.kind() {
        "comment" => return seen.comments.push(node.byte_range()),
        kind @ ("function_declaration" | "method_declaration" | "var_declaration") => {
            let names = name(node).into_iter().collect();
            return seen.declarations.push((kind, node.byte_range(), names));
        }
        "package_clause" => "package_clause",
        "import_declaration" => "import_declaration",
        "const_declaration" if node.parent().is_some_and(|node| node.kind() == "source_file") => {
            "const_declaration"
        }
        "type_declaration" if node.parent().is_some_and(|node| node.kind() == "source_file") => {
            "type_declaration"
        }
        _ => return children.into_iter().for_each(|child| visit(child, seen)),
    };
    let is_type = kind == "type_declaration";
    let names = children.iter().filter(|_| is_type).filter_map(|child| name(*child)).collect();
    seen.declarations.push((kind, node.byte_range(), names));
    children.into_iter().for_each(|child| visit(child, seen));
}

fn by_cut(text: &str) -> Seen {
    let Cut { declarations, comments, errors } = cut(text);
    assert!(errors.is_empty(), "{errors:?} {text}");
    let declarations = declarations.into_iter().map(|found| {
        let kind = match found.keyword {
            Keyword::Package => "package_clause",
            Keyword::Import => "import_declaration",
            Keyword::Const => "const_declaration",
            Keyword::Type => "type_declaration",
            Keyword::Var => "var_declaration",
            Keyword::Func if found.receiver.is_some() => "method_declaration",
            Keyword::Func => "function_declaration",
        };
        let names = found.parts.into_iter().map(|part| part.name);
        let has_names = matches!(found.keyword, Keyword::Type | Keyword::Func);
        (kind, found.place, names.filter(|_| has_names).collect())
    });
    Seen { declarations: declarations.collect(), comments }
}

fn go_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            go_files(&path, out);
        } else if path.extension().is_some_and(|end| end == "go") {
            out.push(path);
        }
    }
}

/// All Go files of the package, of the project where it is there, and of the folders of `KUBESMITH_GO_FILES`.
#[test]
fn declarations_are_cut_where_the_grammar_ends_them() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    own.parent().iter().for_each(|project| go_files(&project.join("testdata"), &mut files));
    go_files(&own.join("src"), &mut files);
    let more = env::var_os("KUBESMITH_GO_FILES");
    more.iter().flat_map(env::split_paths).for_each(|folder| go_files(&folder, &mut files));
    let mut count = 0;
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else { continue };
        if let Some(seen) = by_grammar(&text) {
            assert_eq!(by_cut(&text), seen, "{}", file.display());
            count += 1;
        }
    }
    println!("{count} of {} files", files.len());
    assert!(count >= 9, "{count}");
}

#[test]
fn unusual_declarations_are_cut() {
    for text in [
        "package p; import \"a\"; type A B; type (C D; E struct{ a int }; F = G)\n",
        "package p\ntype\nA B\nvar a = 1 +\n2\nconst b = 1.\nconst c = 'a'\nvar d = \"\\\"}\"\n",
        "package p /* a */ // b\n/* c\nd */ type A = func(\n) /* e\n */ type B chan\nint\n",
        "package p\nfunc (a *A[K, V]) f() {\n\t// {\n\t'{'\n\t`{\n}`\n}\nfunc (A) g()\nfunc h[T any](a T) { _ = '\\'' }\ntype B struct{}\n",
        "package p\nconst (\n\ta = .5 // a\n\tb = 0x1p-2\n)\n\nvar (\n\t// c\n\tc = struct {\n\t}{}\n)\n",
        "package p\ntype (\n\t// A is.\n\tA[T any] struct {\n\t\ta T\n\t\t// b\n\t}\n\n\tB interface { ~int | ~string }; C map[string]struct{}\n)\n",
        "package p\r\n\r\n// A is.\r\ntype A struct { // b\r\n\ta int `a:\"}\"`\r\n}\r\n",
    ] {
        let cut = by_cut(text);
        if let Some(seen) = by_grammar(text) {
            assert_eq!(cut, seen, "{text}");
        }
    }
}

#[test]
fn receivers_are_named_by_their_types() {
    for (receiver, wanted) in [("a *A", "A"), ("A", "A"), ("a A[K, V]", "A"), ("a (*A)", "A"), ("*A", "A")] {
        let text = format!("package p\nfunc ({receiver}) f() {{}}\n");
        let found = cut(&text).declarations.remove(1).receiver.unwrap();
        assert_eq!(&text[found], wanted);
    }
}

#[test]
fn what_does_not_end_is_an_error() {
    for text in [
        "package p\ntype A struct {\n",
        "package p\ntype (\n\tA int\n",
        "package p\nvar a = \"b\nvar c = 1\n",
        "package p\nvar a = `b",
        "package p\n/* a",
        "package p\nfunc (a",
        "package p\n}\n",
        "package p\nx = 1\n",
        "package p\ntype\n",
        "package p\nfunc '\\",
    ] {
        let Cut { errors, declarations, .. } = cut(text);
        assert!(!errors.is_empty(), "{text}");
        let ends = declarations.iter().chain(None).all(|found| text.get(found.place.clone()).is_some());
        assert!(ends && errors.iter().all(|place| text.get(place.clone()).is_some()), "{text}");
    }
}
