//! Reads the declarations of a parsed Go file.

use tree_sitter::Node;

use super::comments::Groups;
use super::markers;
use super::release::Release;
use super::syntax::{Comments, Constant, Field, File, Import, Kind, Method, Part, Type, TypeDecl, Word};
use super::tree::{self, Parsed};

/// The deepest nesting of types, far from the end of the stack.
const DEPTH_LIMIT: usize = 100;

/// Parses a file; syntax errors are listed and the rest is read.
pub(crate) fn parse_file(text: &str, release: Release) -> File {
    let Some(Parsed { tree, comments, errors }) = tree::parse(text) else { return File::default() };
    let file = File { is_generated: is_generated(text), errors, ..File::default() };
    let mut reader = Reader { text, groups: Groups::new(text, comments, release), file };
    for node in children(tree.root_node()) {
        reader.declaration(node);
    }
    let rest = reader.groups.rest();
    let last = reader.groups.markers(rest);
    reader.file.markers.extend(last);
    reader.file.markers.sort_by_key(|marker| marker.place.start);
    if reader.file.package.is_none() && reader.file.errors.is_empty() {
        reader.file.errors.push(0..text.find('\n').unwrap_or(text.len()));
    }
    reader.file
}

/// Parses the part of a file before its declarations, with its imports.
pub(super) fn head(text: &str) -> File {
    let is_declaration =
        |line: &str| ["const", "func", "type", "var"].iter().any(|start| line.starts_with(start));
    let lines = text.split_inclusive('\n').take_while(|line| !is_declaration(line));
    parse_file(&text[..lines.map(str::len).sum()], Release::default())
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn has_token(node: Node<'_>, token: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == token)
}

/// Whether the text has the header of generated files: <https://go.dev/s/generatedcode>.
fn is_generated(text: &str) -> bool {
    let comments = text.lines().take_while(|line| !line.starts_with("package "));
    let is_mark = |line: &str| line.starts_with("// Code generated ") && line.ends_with(" DO NOT EDIT.");
    comments.map(str::trim_end).any(is_mark)
}

/// Whether other packages may need a file: it declares types or constants, has markers, or methods that
/// decide the JSON of a type. Most of the text of Kubernetes' packages does not, such as `generated.pb.go`.
pub(super) fn declares(text: &str) -> bool {
    let says = |line: &str| {
        let is_marker =
            || line.trim_start().strip_prefix("//").is_some_and(|rest| rest.trim_start().starts_with('+'));
        line.starts_with("type")
            || line.starts_with("const") && !line.starts_with("const _ = ")
            || line.starts_with("func (")
                && (line.contains(") MarshalJSON(") || line.contains(") MarshalText("))
            || is_marker()
    };
    text.lines().any(says)
}

struct Reader<'t> {
    text: &'t str,
    groups: Groups<'t>,
    file: File,
}

impl<'t> Reader<'t> {
    fn word(&self, node: Node<'_>) -> Word {
        Word { text: self.text_of(node).to_string(), place: node.byte_range() }
    }

    fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn declaration(&mut self, node: Node<'_>) {
        match node.kind() {
            "comment" => return,
            "type_declaration" => return self.types(node),
            _ => {}
        }
        // Markers before the documentation of a declaration count; those for packages also count inside it.
        let before = self.groups.before(node.start_byte());
        let is_package = node.kind() == "package_clause";
        let doc = before.doc;
        let counted = before.free.chain(before.near).chain(before.doc.filter(|_| is_package));
        let markers = self.groups.markers(counted);
        self.file.markers.extend(markers);
        if !is_package {
            self.documenting(doc);
        }
        if node.kind() == "const_declaration" {
            self.constants(node, doc);
        }
        self.groups.skip(node.end_byte());
        match node.kind() {
            "package_clause" => {
                self.file.package = node.named_child(0).map(|name| self.word(name));
            }
            "import_declaration" => self.imports(node),
            "method_declaration" => self.method(node),
            _ => {}
        }
    }

    fn imports(&mut self, node: Node<'_>) {
        for child in children(node) {
            match child.kind() {
                "import_spec_list" => self.imports(child),
                "import_spec" => {
                    let Some(path) = child.child_by_field_name("path") else { continue };
                    let text = self.text_of(path).trim_matches(['"', '`']).to_string();
                    let name = child.child_by_field_name("name").map(|name| self.text_of(name).to_string());
                    self.file.imports.push(Import { name, path: Word { text, place: path.byte_range() } });
                }
                _ => {}
            }
        }
    }

    /// String constants; `doc` is the documentation of the declaration.
    fn constants(&mut self, node: Node<'_>, doc: Option<usize>) {
        let is_group = has_token(node, "(");
        for spec in children(node).into_iter().filter(|child| child.kind() == "const_spec") {
            let own = if is_group { self.groups.before(spec.start_byte()).doc } else { doc };
            let description = self.groups.description(own);
            self.groups.skip(spec.end_byte());
            let declared = spec.child_by_field_name("type").map(|ty| self.text_of(ty).to_string());
            let values = spec.child_by_field_name("value").map(children).unwrap_or_default();
            let mut cursor = spec.walk();
            let names = spec.children_by_field_name("name", &mut cursor).filter(Node::is_named);
            for (name, value) in names.zip(values) {
                let (mut parts, mut ty) = (Vec::new(), declared.clone());
                if self.parts(value, &mut parts, &mut ty, 0) {
                    let (name, description) = (self.word(name), description.clone());
                    let is_literal = value.kind().ends_with("string_literal");
                    self.file.constants.push(Constant { name, ty, value: parts, is_literal, description });
                }
            }
        }
    }

    /// The parts of a string constant, and the type of its conversion; `false`: another constant.
    fn parts(&self, node: Node<'_>, out: &mut Vec<Part>, ty: &mut Option<String>, depth: usize) -> bool {
        let field = |name: &str| node.child_by_field_name(name);
        let mut inner = |node: Option<Node<'_>>| {
            node.is_some_and(|node| depth < DEPTH_LIMIT && self.parts(node, out, ty, depth + 1))
        };
        match node.kind() {
            "interpreted_string_literal" | "raw_string_literal" => {
                out.extend(unquoted(self.text_of(node)).map(Part::Text));
                true
            }
            "identifier" => {
                out.push(Part::Name(self.text_of(node).to_string()));
                true
            }
            "parenthesized_expression" => inner(node.named_child(0)),
            "binary_expression" => has_token(node, "+") && inner(field("left")) && inner(field("right")),
            "call_expression" | "type_conversion_expression" => {
                let called = field("function").or_else(|| field("type")).map(|called| self.text_of(called));
                let arguments = field("arguments").map(children).unwrap_or_default();
                let argument = arguments.first().copied().or_else(|| field("operand"));
                let is_text = arguments.len() < 2 && inner(argument);
                if is_text && ty.is_none() {
                    *ty = called.map(str::to_string);
                }
                is_text
            }
            _ => false,
        }
    }

    /// Notes markers of roles and webhooks in documentation.
    fn documenting(&mut self, doc: Option<usize>) {
        let found = self.groups.markers(doc).into_iter();
        self.file.documenting.extend(found.filter(|marker| markers::is_manifest(markers::name(marker))));
    }

    fn method(&mut self, node: Node<'_>) {
        let receiver = node.child_by_field_name("receiver").and_then(|list| list.named_child(0));
        let ty = receiver.and_then(|receiver| receiver.child_by_field_name("type"));
        if let (Some(ty), Some(name)) = (ty, node.child_by_field_name("name")) {
            let receiver = self.text_of(ty).trim_start_matches(['*', ' ', '(']);
            let end = receiver.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(receiver.len());
            let receiver = receiver[..end].to_string();
            self.file.methods.push(Method { receiver, name: self.word(name) });
        }
    }

    /// `type A B`, or several in parentheses.
    fn types(&mut self, node: Node<'_>) {
        let is_group = has_token(node, "(");
        let before = self.groups.before(node.start_byte());
        let free = self.groups.markers(before.free);
        self.file.markers.extend(free);
        let near = self.groups.markers(before.near);
        if is_group {
            self.file.markers.extend(near);
            for spec in children(node).into_iter().filter(|child| child.kind() != "comment") {
                let before = self.groups.before(spec.start_byte());
                let near = self.groups.markers(before.near);
                self.type_spec(spec, near, before.doc);
            }
        } else if let Some(spec) = children(node).into_iter().find(|child| child.kind() != "comment") {
            self.type_spec(spec, near, before.doc);
        }
        self.groups.skip(node.end_byte());
    }

    fn type_spec(&mut self, spec: Node<'_>, near: Vec<Word>, doc: Option<usize>) {
        let (Some(name), Some(ty)) = (spec.child_by_field_name("name"), spec.child_by_field_name("type"))
        else {
            return;
        };
        // The documentation of a type's group has only markers for the type; those for packages belong to the
        // package.
        let (of_package, mut markers): (Vec<Word>, Vec<Word>) =
            near.into_iter().partition(|marker| markers::is_of_package(&marker.text));
        self.file.markers.extend(of_package);
        markers.extend(self.groups.markers(doc));
        self.documenting(doc);
        let description = self.groups.description(doc);
        let ty = self.ty(ty, 0);
        self.file.types.push(TypeDecl {
            name: self.word(name),
            is_alias: spec.kind() == "type_alias",
            is_generic: spec.child_by_field_name("type_parameters").is_some(),
            comments: Comments { description, markers },
            ty,
        });
    }

    fn ty(&mut self, node: Node<'_>, depth: usize) -> Type {
        let place = node.byte_range();
        if depth > DEPTH_LIMIT {
            return Type { kind: Kind::Other("a type nested too deeply"), place };
        }
        let inner = |reader: &mut Self, node: Option<Node<'_>>| {
            let missing = Type { kind: Kind::Other("no type"), place: place.clone() };
            Box::new(node.map_or(missing, |node| reader.ty(node, depth + 1)))
        };
        let field = |name: &str| node.child_by_field_name(name);
        let kind = match node.kind() {
            "type_identifier" | "identifier" => Kind::Name(self.text_of(node).to_string()),
            "qualified_type" => {
                let part =
                    |name: &str| field(name).map(|node| self.text_of(node).to_string()).unwrap_or_default();
                Kind::Qualified(part("package"), part("name"))
            }
            "pointer_type" => Kind::Pointer(inner(self, node.named_child(0))),
            "parenthesized_type" => return *inner(self, node.named_child(0)),
            "slice_type" => Kind::Slice(inner(self, field("element"))),
            "array_type" => Kind::Array(inner(self, field("element"))),
            "map_type" => Kind::Map(inner(self, field("key")), inner(self, field("value"))),
            "struct_type" => Kind::Struct(self.fields(node, depth)),
            "interface_type" => Kind::Other("an interface"),
            "channel_type" => Kind::Other("a channel"),
            "function_type" => Kind::Other("a function"),
            "generic_type" => Kind::Instance(inner(self, field("type"))),
            _ => Kind::Other("this type"),
        };
        Type { kind, place }
    }

    fn fields(&mut self, node: Node<'_>, depth: usize) -> Vec<Field> {
        let mut out = Vec::new();
        self.groups.skip(node.start_byte());
        let list = node.named_child(0).map(children).unwrap_or_default();
        for declaration in list.into_iter().filter(|child| child.kind() == "field_declaration") {
            self.field(declaration, depth, &mut out);
        }
        out
    }

    fn field(&mut self, node: Node<'_>, depth: usize, out: &mut Vec<Field>) {
        let before = self.groups.before(node.start_byte());
        let markers = self.groups.markers(before.near.into_iter().chain(before.doc));
        let comments = Comments { description: self.groups.description(before.doc), markers };
        let Some(ty) = node.child_by_field_name("type") else { return };
        let ty = self.ty(ty, depth + 1);
        self.groups.skip(node.end_byte());
        let json = node.child_by_field_name("tag").and_then(|tag| json_tag(self.text_of(tag)));
        let mut cursor = node.walk();
        let names: Vec<Word> =
            node.children_by_field_name("name", &mut cursor).map(|name| self.word(name)).collect();
        let place = node.byte_range();
        let field = |name| Field {
            name,
            place: place.clone(),
            ty: ty.clone(),
            json: json.clone(),
            comments: comments.clone(),
        };
        if names.is_empty() {
            out.push(field(None));
        } else {
            out.extend(names.into_iter().map(|name| field(Some(name))));
        }
    }
}

/// The value of the key `json` in a tag: `StructTag.Lookup` of Go's `reflect`.
fn json_tag(literal: &str) -> Option<String> {
    let tag = unquoted(literal)?;
    let mut rest = tag.trim_start();
    while let Some((key, after)) = rest.split_once(':') {
        let quoted = after.strip_prefix('"')?;
        let mut is_escaped = false;
        let end = quoted.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        })?;
        if key == "json" {
            return unquoted(&after[..end + 2]);
        }
        rest = quoted[end + 1..].trim_start();
    }
    None
}

/// The text of a Go string literal; `None` for other literals.
fn unquoted(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
        return Some(raw.replace('\r', ""));
    }
    kubesmith_core::grammar::unquote_go(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_tag_parses_as_in_go_reflect() {
        assert_eq!(json_tag("`json:\"a,omitempty\"`").as_deref(), Some("a,omitempty"));
        assert_eq!(json_tag("`yaml:\"b\\\"c\" json:\"a\"`").as_deref(), Some("a"));
        assert_eq!(json_tag("\"json:\\\"a\\\"\"").as_deref(), Some("a"));
        assert_eq!(json_tag("`yaml:\"b\"`"), None);
        assert_eq!(json_tag("`json:a`"), None);
    }

    #[test]
    fn markers_belong_to_the_next_declaration() {
        let file = parse_file(
            "// +a\n\n// Package p.\n// +b\npackage p\n\n// +kubebuilder:rbac:groups=x\n\n// T is.\n// +t\ntype T struct {\n\t// +near\n\n\t// Doc.\n\t// +f\n\tA, B string `json:\"a\"` // +no\n\tC int\n}\n\n// +g\nfunc f() {\n\t// +in\n}\n// +end\n",
            Release::default(),
        );
        let texts = |words: &[Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&file.markers), ["+a", "+b", "+kubebuilder:rbac:groups=x", "+end"]);
        assert_eq!(texts(&file.types[0].comments.markers), ["+t"]);
        let Kind::Struct(fields) = &file.types[0].ty.kind else { panic!() };
        assert_eq!(fields.len(), 3);
        assert_eq!(texts(&fields[1].comments.markers), ["+near", "+f"]);
        assert_eq!(fields[1].comments.description, "Doc.");
        assert!(fields[2].comments.markers.is_empty());
    }

    #[test]
    fn malformed_go_is_reported() {
        assert!(!parse_file("package p\ntype T struct {", Release::default()).errors.is_empty());
        for text in [
            "type T [3]int",
            "var a = A{B: new(int32(1)), C: map[string]int{\"a\": 1}}",
            "type A[T comparable] = map[T]struct{}",
            "var a = new(\"b\")\n\nfunc f() *A {\n\tif x {\n\t\treturn new(A{B: new(true)})\n\t}\n\treturn new([]A)\n}",
        ] {
            let file = parse_file(&format!("package p\n{text}\n"), Release::default());
            assert!(file.errors.is_empty(), "{text}");
        }
    }

    #[test]
    fn file_without_declarations_or_markers_is_skipped() {
        for (text, is_read) in [
            ("package a\n\ntype A struct{}\n", true),
            ("package a\n\ntype (\n\tA string\n)\n", true),
            ("package a\n\nconst B A = \"b\"\n", true),
            ("// +groupName=a.b\n\npackage a\n", true),
            ("package a\n\nfunc (a A) MarshalJSON() ([]byte, error) {\n", true),
            ("package a\n\nconst _ = proto.Version\n\nfunc (m *A) Marshal() ([]byte, error) {\n", false),
            ("package a\n\n// A is.\nvar map_A = map[string]string{\"\": \"type\"}\n", false),
        ] {
            assert_eq!(declares(text), is_read, "{text}");
        }
    }
}
