//! Reads the parsed declarations of a Go file.

use std::collections::HashMap;

use tree_sitter::Node;

use super::comments::Groups;
use super::markers;
use super::scan::{Declaration, Keyword, Part as Named, word};
use super::syntax::{Comments, Constant, Field, Import, Kind, Part, Place, Type, TypeDecl, Word};
use super::tree;

/// The deepest nesting of types, far from the end of the stack.
const DEPTH_LIMIT: usize = 100;

/// What a declaration has.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Its types: one for each part.
    pub(super) types: Vec<TypeDecl>,
    /// Its string constants.
    pub(super) constants: Vec<Constant>,
    /// Its imports.
    pub(super) imports: Vec<Import>,
    /// The syntax errors.
    pub(super) errors: Vec<Place>,
}

/// Parses a declaration; syntax errors are listed and the rest is read.
pub(super) fn parts(groups: &Groups, declaration: &Declaration) -> Parts {
    let tree = tree::parse(&groups.text, &(declaration.place.start..declaration.terminated));
    let errors = tree.as_ref().map(tree::errors).unwrap_or_default();
    let mut reader = Reader { text: &groups.text, groups, parts: Parts { errors, ..Parts::default() } };
    let mut specs = HashMap::new();
    for node in tree.iter().flat_map(|tree| children(tree.root_node())) {
        match node.kind() {
            "import_declaration" => reader.imports(node),
            "const_declaration" => reader.constants(node, declaration),
            "type_declaration" => specs.extend(children(node).into_iter().filter_map(named)),
            _ => {}
        }
    }
    if declaration.keyword == Keyword::Type {
        let types = declaration.parts.iter().map(|part| reader.type_spec(specs.get(&part.name.start), part));
        reader.parts.types = types.collect();
    }
    reader.parts
}

fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// A specification of a type, with the start of its name.
fn named<'t>(spec: Node<'t>) -> Option<(usize, Node<'t>)> {
    Some((spec.child_by_field_name("name")?.start_byte(), spec))
}

fn has_token(node: Node<'_>, token: &str) -> bool {
    let mut cursor = node.walk();
    node.children(&mut cursor).any(|child| child.kind() == token)
}

struct Reader<'t> {
    text: &'t str,
    groups: &'t Groups,
    parts: Parts,
}

impl<'t> Reader<'t> {
    fn word(&self, node: Node<'_>) -> Word {
        word(self.text, &node.byte_range())
    }

    fn text_of(&self, node: Node<'_>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn imports(&mut self, node: Node<'_>) {
        for child in children(node) {
            match child.kind() {
                "import_spec_list" => self.imports(child),
                "import_spec" => {
                    let Some(path) = child.child_by_field_name("path") else { continue };
                    let text = self.text_of(path).trim_matches(['"', '`']).to_string();
                    let name = child.child_by_field_name("name").map(|name| self.text_of(name).to_string());
                    self.parts.imports.push(Import { name, path: Word { text, place: path.byte_range() } });
                }
                _ => {}
            }
        }
    }

    /// String constants.
    fn constants(&mut self, node: Node<'_>, declaration: &Declaration) {
        let mut after = declaration.after;
        for spec in children(node).into_iter().filter(|child| child.kind() == "const_spec") {
            let start = if declaration.is_group { spec.start_byte() } else { declaration.place.start };
            let description = self.groups.description(self.groups.before(after, start).doc);
            after = spec.end_byte();
            let declared = spec.child_by_field_name("type").map(|ty| self.text_of(ty).to_string());
            let values = spec.child_by_field_name("value").map(children).unwrap_or_default();
            let mut cursor = spec.walk();
            let names = spec.children_by_field_name("name", &mut cursor).filter(Node::is_named);
            for (name, value) in names.zip(values) {
                let (mut parts, mut ty) = (Vec::new(), declared.clone());
                if self.parts(value, &mut parts, &mut ty, 0) {
                    let (name, description) = (self.word(name), description.clone());
                    let is_literal = value.kind().ends_with("string_literal");
                    self.parts.constants.push(Constant { name, ty, value: parts, is_literal, description });
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

    /// A type; with errors, the grammar may have no specification at its name.
    fn type_spec(&self, spec: Option<&Node<'_>>, part: &Named) -> TypeDecl {
        let before = self.groups.before(part.after, part.start);
        // The documentation of a type's group has only markers for the type; those for packages belong to the
        // package.
        let mut markers = self.groups.markers(before.near);
        markers.retain(|marker| !markers::is_of_package(&marker.text));
        markers.extend(self.groups.markers(before.doc));
        let comments = Comments { description: self.groups.description(before.doc), markers };
        let missing = || Type { kind: Kind::Other("no type"), place: part.name.clone() };
        let has = |field: &str| spec.and_then(|spec| spec.child_by_field_name(field));
        TypeDecl {
            name: word(self.text, &part.name),
            is_alias: spec.is_some_and(|spec| spec.kind() == "type_alias"),
            is_generic: has("type_parameters").is_some(),
            comments,
            ty: has("type").map_or_else(missing, |ty| self.ty(ty, 0)),
        }
    }

    fn ty(&self, node: Node<'_>, depth: usize) -> Type {
        let place = node.byte_range();
        if depth > DEPTH_LIMIT {
            return Type { kind: Kind::Other("a type nested too deeply"), place };
        }
        let inner = |node: Option<Node<'_>>| {
            let missing = Type { kind: Kind::Other("no type"), place: place.clone() };
            Box::new(node.map_or(missing, |node| self.ty(node, depth + 1)))
        };
        let field = |name: &str| node.child_by_field_name(name);
        let kind = match node.kind() {
            "type_identifier" | "identifier" => Kind::Name(self.text_of(node).to_string()),
            "qualified_type" => {
                let part =
                    |name: &str| field(name).map(|node| self.text_of(node).to_string()).unwrap_or_default();
                Kind::Qualified(part("package"), part("name"))
            }
            "pointer_type" => Kind::Pointer(inner(node.named_child(0))),
            "parenthesized_type" => return *inner(node.named_child(0)),
            "slice_type" => Kind::Slice(inner(field("element"))),
            "array_type" => Kind::Array(inner(field("element"))),
            "map_type" => Kind::Map(inner(field("key")), inner(field("value"))),
            "struct_type" => Kind::Struct(self.fields(node, depth)),
            "interface_type" => Kind::Other("an interface"),
            "channel_type" => Kind::Other("a channel"),
            "function_type" => Kind::Other("a function"),
            "generic_type" => Kind::Instance(inner(field("type"))),
            _ => Kind::Other("this type"),
        };
        Type { kind, place }
    }

    fn fields(&self, node: Node<'_>, depth: usize) -> Vec<Field> {
        let mut out = Vec::new();
        let mut after = node.start_byte();
        let list = node.named_child(0).map(children).unwrap_or_default();
        for declaration in list.into_iter().filter(|child| child.kind() == "field_declaration") {
            self.field(declaration, after, depth, &mut out);
            after = declaration.end_byte();
        }
        out
    }

    fn field(&self, node: Node<'_>, after: usize, depth: usize, out: &mut Vec<Field>) {
        let before = self.groups.before(after, node.start_byte());
        let markers = self.groups.markers(before.near.into_iter().chain(before.doc));
        let comments = Comments { description: self.groups.description(before.doc), markers };
        let Some(ty) = node.child_by_field_name("type") else { return };
        let ty = self.ty(ty, depth + 1);
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
    let mut rest = tag.trim_start_matches(' ');
    while let Some((key, after)) = rest.split_once(':') {
        if key.is_empty() || key.bytes().any(|byte| byte <= b' ' || matches!(byte, b'"' | 0x7f)) {
            return None;
        }
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
        rest = quoted[end + 1..].trim_start_matches(' ');
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
        assert_eq!(json_tag("`a json:\"b\" json:\"c\"`"), None);
        assert_eq!(json_tag("`yaml:\"b\"\n json:\"a\"`"), None);
    }
}
