//! Skeletons: Rust files with placeholders, and how one becomes a file of the output.
//!
//! A skeleton is valid Rust, so that an editor understands it. In it,
//! - `__Name__` inside an identifier or a string literal (documentation included) is replaced by
//!   the bound text; of a path, and of what is imported, such a first identifier may be replaced by a whole path;
//! - a documentation line that is only `__Name__` becomes as many lines as the bound text has, and
//!   goes away, with the empty line before it, when there is no text;
//! - `#[when(flag)]` and `#[unless(flag)]` keep or drop what they stand on, parameters and arguments of methods and bounds of
//!   traits included;
//! - `__Name__` among the arguments of an attribute is replaced by the bound text, as tokens;
//! - `#![when(flag, attribute)]` becomes `#![attribute]` or goes away;
//! - `#[each(list)]` repeats what it stands on, once per entry of the list; `#[along(list)]` behind it says that the two
//!   take turns.
//!
//! Skeletons decide nothing: flags and lists are computed by the plan. A skeleton is parsed once
//! and then copied per file; nothing is lexed again.

use std::sync::Arc;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Meta};

/// What a placeholder stands for.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Part of an identifier or of a string.
    Text(String),
    /// A path, such as the user's type; it stands for a whole identifier.
    Path(String),
    /// Traits: `__Name__` among the bounds of a trait stands for all of them.
    Traits(Vec<String>),
}

/// Placeholders, flags and lists of one level: package, group, version or kind.
///
/// An entry of a list sees the names of the levels above it.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    values: Vec<(&'static str, Value)>,
    flags: Vec<(&'static str, bool)>,
    lists: Vec<(&'static str, Vec<Arc<Bindings>>)>,
}

impl Bindings {
    /// Binds `__name__` to a text.
    pub(super) fn text(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.values.push((name, Value::Text(text.into())));
        self
    }

    /// Binds `__name__` to a path.
    pub(super) fn path(mut self, name: &'static str, path: impl Into<String>) -> Self {
        self.values.push((name, Value::Path(path.into())));
        self
    }

    /// Binds `__name__`, among the bounds of a trait, to these traits.
    pub(super) fn traits(mut self, name: &'static str, paths: Vec<String>) -> Self {
        self.values.push((name, Value::Traits(paths)));
        self
    }

    /// Says whether `#[when(name)]` holds.
    pub(super) fn flag(mut self, name: &'static str, set: bool) -> Self {
        self.flags.push((name, set));
        self
    }

    /// The text or path that `__name__` stands for.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.values.iter().find(|(known, _)| *known == name)?;
        match value {
            Value::Text(text) | Value::Path(text) => Some(text),
            Value::Traits(_) => None,
        }
    }

    /// The rows of the first list that has any, with the list's name.
    pub(super) fn rows(&self) -> Option<(&'static str, &[Arc<Bindings>])> {
        let mut lists = self.lists.iter().map(|(name, entries)| (*name, &**entries));
        lists.find(|(_, entries)| !entries.is_empty())
    }

    /// The flags, as far as they are set on this level.
    pub(super) fn flags(&self) -> &[(&'static str, bool)] {
        &self.flags
    }

    /// The same flags, with no text and nothing in the lists.
    pub(super) fn only_flags(&self) -> Self {
        let lists = self.lists.iter().map(|(name, _)| (*name, Vec::new())).collect();
        Self { flags: self.flags.clone(), lists, ..Self::default() }
    }

    /// Gives `#[each(name)]` its entries.
    pub(super) fn list(mut self, name: &'static str, entries: Vec<Arc<Bindings>>) -> Self {
        self.lists.retain(|(known, _)| *known != name);
        self.lists.push((name, entries));
        self
    }
}

/// A parsed skeleton.
pub(super) struct Skeleton {
    file: syn::File,
}

impl Skeleton {
    /// Parses a skeleton that this program embeds.
    ///
    /// # Panics
    /// The text is no Rust; every embedded skeleton is parsed by a test.
    pub(super) fn parse(source: &str) -> Self {
        match syn::parse_file(source) {
            Ok(file) => Self { file },
            Err(error) => panic!("an embedded skeleton is no Rust: {error}"),
        }
    }

    /// Fills the skeleton in. Levels are given from the outermost to the innermost.
    pub(super) fn fill(&self, levels: &[&Bindings]) -> syn::File {
        self.filled(levels, false)
    }

    /// The same, and the rows of lists begin with a line of documentation that is their [`row_mark`].
    pub(super) fn fill_marked(&self, levels: &[&Bindings]) -> syn::File {
        self.filled(levels, true)
    }

    fn filled(&self, levels: &[&Bindings], marks_rows: bool) -> syn::File {
        let mut file = self.file.clone();
        Filler { levels: levels.to_vec(), marks_rows }.visit_file_mut(&mut file);
        file
    }
}

/// The documentation that marks a row by its number, of the characters that nobody else has a use for.
pub(super) fn row_mark(row: u8) -> char {
    char::from_u32(0xE000 + u32::from(row)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Replaces `__Name__` in a text by what `lookup` says; names it does not know stay.
fn substitute<'v>(text: &str, lookup: impl Fn(&str) -> Option<&'v str>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some(start) = rest.find("__") {
        let after = &rest[start + 2..];
        // A name may itself hold single underscores: `__group_version__`.
        let Some(end) = after.find("__") else { break };
        if let Some(value) = lookup(&after[..end]) {
            out.push_str(&rest[..start]);
            out.push_str(value);
            rest = &after[end + 2..];
            changed = true;
        } else {
            out.push_str(&rest[..start + 2]);
            rest = after;
        }
    }
    out.push_str(rest);
    changed.then_some(out)
}

struct Filler<'b> {
    levels: Vec<&'b Bindings>,
    marks_rows: bool,
}

impl<'b> Filler<'b> {
    fn value(&self, name: &str) -> Option<&'b Value> {
        self.find(|level| &level.values, name)
    }

    fn text(&self, name: &str) -> Option<&'b str> {
        match self.value(name)? {
            Value::Text(text) => Some(text),
            Value::Path(_) | Value::Traits(_) => None,
        }
    }

    /// The innermost level that knows the name wins.
    fn find<T>(&self, table: impl Fn(&'b Bindings) -> &'b [(&'static str, T)], name: &str) -> Option<&'b T> {
        let mut levels = self.levels.iter().rev();
        levels.find_map(|level| table(level).iter().find(|(known, _)| *known == name).map(|(_, value)| value))
    }

    fn flag(&self, name: &str) -> bool {
        match self.find(|level| &level.flags, name) {
            Some(set) => *set,
            None => panic!("a skeleton asks for the flag `{name}`, which nothing sets"),
        }
    }

    fn entries(&self, name: &str) -> &'b [Arc<Bindings>] {
        match self.find(|level| &level.lists, name) {
            Some(entries) => entries,
            None => panic!("a skeleton asks for the list `{name}`, which nothing gives"),
        }
    }

    /// Applies the directives that stand on a node: appends it to `out` never, once or repeatedly.
    fn expand<T: Node>(&mut self, mut node: T, out: &mut Vec<T>) {
        let each = node.attributes().and_then(|attributes| take_directive(attributes, "each"));
        let Some(list) = each else {
            if self.wanted(&mut node) {
                node.fill(self);
                out.push(node);
            }
            return;
        };
        for (row, entry) in self.entries(&list).iter().enumerate() {
            let begin = out.len();
            self.levels.push(entry);
            self.expand(node.clone(), out);
            self.levels.pop();
            self.mark(row, out.get_mut(begin));
        }
    }

    /// Marks the beginning of a row, if rows are to be marked.
    fn mark<T: Node>(&self, row: usize, node: Option<&mut T>) {
        if let (true, Some(attributes)) = (self.marks_rows, node.and_then(Node::attributes)) {
            let mark = row_mark(u8::try_from(row).unwrap_or(u8::MAX)).to_string();
            attributes.insert(0, syn::parse_quote!(#[doc = #mark]));
        }
    }

    fn wanted<T: Node>(&self, node: &mut T) -> bool {
        let Some(attributes) = node.attributes() else { return true };
        while let Some(flag) = take_directive(attributes, "when") {
            if !self.flag(&flag) {
                return false;
            }
        }
        while let Some(flag) = take_directive(attributes, "unless") {
            if self.flag(&flag) {
                return false;
            }
        }
        true
    }

    fn expand_all<T: Node>(&mut self, nodes: &mut Vec<T>) {
        let mut out = Vec::with_capacity(nodes.len());
        let mut rest = std::mem::take(nodes).into_iter().peekable();
        while let Some(node) = rest.next() {
            let mut turns = Vec::new();
            let mut list = None;
            while let Some(mut next) = rest.next_if(goes_along) {
                list = next.attributes().and_then(|attributes| take_directive(attributes, "along"));
                turns.push(next);
            }
            match list {
                Some(list) => self.expand_turns(node, &turns, &list, &mut out),
                None => self.expand(node, &mut out),
            }
        }
        *nodes = out;
    }

    /// Repeats nodes together, once per entry of the list.
    fn expand_turns<T: Node>(&mut self, mut first: T, others: &[T], list: &str, out: &mut Vec<T>) {
        let each = first.attributes().and_then(|attributes| take_directive(attributes, "each"));
        assert_eq!(each.as_deref(), Some(list), "a skeleton goes along with another list");
        for (row, entry) in self.entries(list).iter().enumerate() {
            let begin = out.len();
            self.levels.push(entry);
            for node in std::iter::once(&first).chain(others) {
                self.expand(node.clone(), out);
            }
            self.levels.pop();
            self.mark(row, out.get_mut(begin));
        }
    }

    fn expand_list<T: Node, P: Default>(&mut self, nodes: &mut Punctuated<T, P>) {
        let mut list = std::mem::take(nodes).into_iter().collect();
        self.expand_all(&mut list);
        *nodes = list.into_iter().collect();
    }
}

/// Whether the node has the directive `along`.
fn goes_along<T: Node>(node: &T) -> bool {
    let has = |attributes: &mut Vec<Attribute>| attributes.iter().any(|it| it.path().is_ident("along"));
    node.clone().attributes().is_some_and(has)
}

/// Removes the first `#[name(argument)]` and returns the argument.
fn take_directive(attributes: &mut Vec<Attribute>, name: &str) -> Option<String> {
    let at = attributes.iter().position(|attribute| attribute.path().is_ident(name))?;
    let argument = attributes.remove(at).parse_args::<Ident>();
    Some(argument.map_or_else(|error| panic!("`{name}` in a skeleton: {error}"), |ident| ident.to_string()))
}

/// A syntax node that a directive may stand on.
trait Node: Clone {
    /// Its attributes, if it has any.
    fn attributes(&mut self) -> Option<&mut Vec<Attribute>>;
    /// Fills in what is below it.
    fn fill(&mut self, filler: &mut Filler<'_>);
}

macro_rules! nodes {
    ($($node:ty, $visit:ident, $it:ident => $attributes:expr;)*) => {
        $(impl Node for $node {
            fn attributes(&mut self) -> Option<&mut Vec<Attribute>> {
                let $it = self;
                $attributes
            }

            fn fill(&mut self, filler: &mut Filler<'_>) {
                filler.$visit(self);
            }
        })*
    };
}

nodes! {
    syn::Item, visit_item_mut, item => item_attributes(item);
    syn::ImplItem, visit_impl_item_mut, item => match item {
        syn::ImplItem::Fn(it) => Some(&mut it.attrs),
        syn::ImplItem::Type(it) => Some(&mut it.attrs),
        _ => None,
    };
    syn::TraitItem, visit_trait_item_mut, item => match item {
        syn::TraitItem::Fn(it) => Some(&mut it.attrs),
        syn::TraitItem::Type(it) => Some(&mut it.attrs),
        _ => None,
    };
    syn::Field, visit_field_mut, field => Some(&mut field.attrs);
    syn::FieldValue, visit_field_value_mut, field => Some(&mut field.attrs);
    syn::FnArg, visit_fn_arg_mut, argument => match argument {
        syn::FnArg::Receiver(it) => Some(&mut it.attrs),
        syn::FnArg::Typed(it) => Some(&mut it.attrs),
    };
    Expr, visit_expr_mut, expr => match expr {
        Expr::Lit(it) => Some(&mut it.attrs),
        Expr::Path(it) => Some(&mut it.attrs),
        _ => None,
    };
    syn::WherePredicate, visit_where_predicate_mut, predicate => match predicate {
        syn::WherePredicate::Type(it) => Some(&mut it.attrs),
        _ => None,
    };
    syn::Variant, visit_variant_mut, variant => Some(&mut variant.attrs);
    syn::Arm, visit_arm_mut, arm => Some(&mut arm.attrs);
    syn::Stmt, visit_stmt_mut, stmt => match stmt {
        syn::Stmt::Expr(Expr::MethodCall(call), _) => Some(&mut call.attrs),
        syn::Stmt::Expr(Expr::Call(call), _) => Some(&mut call.attrs),
        syn::Stmt::Local(local) => Some(&mut local.attrs),
        _ => None,
    };
    Attribute, visit_attribute_mut, _it => None;
}

fn item_attributes(item: &mut syn::Item) -> Option<&mut Vec<Attribute>> {
    match item {
        syn::Item::Enum(it) => Some(&mut it.attrs),
        syn::Item::Fn(it) => Some(&mut it.attrs),
        syn::Item::Impl(it) => Some(&mut it.attrs),
        syn::Item::Mod(it) => Some(&mut it.attrs),
        syn::Item::Static(it) => Some(&mut it.attrs),
        syn::Item::Struct(it) => Some(&mut it.attrs),
        syn::Item::Trait(it) => Some(&mut it.attrs),
        syn::Item::Use(it) => Some(&mut it.attrs),
        _ => None,
    }
}

/// `__Name__` if that is all the text says.
fn lone_placeholder(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &meta.value else { return None };
    let text = text.value();
    let name = text.trim().strip_prefix("__")?.strip_suffix("__")?;
    (meta.path.is_ident("doc") && !name.contains("__")).then(|| name.to_owned())
}

impl Filler<'_> {
    /// An attribute's arguments, in which `__name__` stands for as many tokens as the bound text has.
    ///
    /// # Panics
    /// The plan binds what are no tokens.
    fn tokens(&self, tokens: &TokenStream) -> TokenStream {
        let fill = |token: TokenTree| -> TokenStream {
            let TokenTree::Ident(ident) = &token else { return token.into() };
            let ident = ident.to_string();
            let name = ident.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
            match name.and_then(|name| self.text(name)) {
                Some(text) => text.parse().unwrap_or_else(|error| panic!("the plan binds {text:?}: {error}")),
                None => token.into(),
            }
        };
        tokens.clone().into_iter().map(fill).collect()
    }

    /// Puts the attribute inside `#![when(flag, attribute)]` in its place; says whether it is wanted.
    fn choose(&self, attribute: &mut Attribute) -> bool {
        let parsed = attribute.parse_args_with(|input: syn::parse::ParseStream<'_>| {
            let flag: Ident = input.parse()?;
            input.parse::<syn::Token![,]>()?;
            Ok((flag, input.parse::<Meta>()?))
        });
        let (flag, meta) = parsed.unwrap_or_else(|error| panic!("`when` in a skeleton: {error}"));
        attribute.meta = meta;
        self.flag(&flag.to_string())
    }

    /// Replaces the first identifier of an import by the path that it stands for, if it does; says whether that is absolute.
    fn begin_import(&self, tree: &mut syn::UseTree) -> bool {
        let (ident, rest) = match tree {
            syn::UseTree::Name(it) => (it.ident.to_string(), None),
            syn::UseTree::Path(it) => (it.ident.to_string(), Some(&it.tree)),
            _ => return false,
        };
        let name = ident.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
        let Some(Value::Path(path)) = name.and_then(|name| self.value(name)) else { return false };
        let rest = rest.map(|rest| quote::quote!(:: #rest)).unwrap_or_default();
        let path: syn::Path = syn::parse_str(path)
            .unwrap_or_else(|error| panic!("the plan binds {path:?}, which is no path: {error}"));
        let import: syn::ItemUse = syn::parse_quote!(use #path #rest;);
        *tree = import.tree;
        import.leading_colon.is_some()
    }

    /// Spreads bounds that are a placeholder for several traits.
    fn spread_bounds(&self, bounds: &mut Punctuated<syn::TypeParamBound, syn::Token![+]>) {
        let mut spread: Vec<syn::TypeParamBound> = Vec::new();
        for bound in std::mem::take(bounds) {
            let ident = match &bound {
                syn::TypeParamBound::Trait(it) => it.path.get_ident().map(Ident::to_string),
                _ => None,
            };
            let name = ident.as_deref().and_then(|it| it.strip_prefix("__")?.strip_suffix("__"));
            match name.and_then(|name| self.value(name)) {
                Some(Value::Traits(paths)) => spread.extend(paths.iter().map(|path| {
                    syn::parse_str::<syn::TypeParamBound>(path)
                        .unwrap_or_else(|error| panic!("the plan binds {path:?}, which is no trait: {error}"))
                })),
                _ => spread.push(bound),
            }
        }
        *bounds = spread.into_iter().collect();
    }

    /// Spreads documentation lines that are only a placeholder.
    fn spread_documentation(&self, attributes: &mut Vec<Attribute>) {
        let found = attributes
            .iter()
            .enumerate()
            .find_map(|(at, attribute)| Some((at, self.text(&lone_placeholder(attribute)?)?)));
        let Some((at, text)) = found else { return };
        let template = attributes.remove(at);
        if text.is_empty() && at > 0 {
            attributes.remove(at - 1);
            return;
        }
        let lines = text.lines().map(|line| {
            let mut attribute = template.clone();
            let line = if line.is_empty() { String::new() } else { format!(" {line}") };
            if let Meta::NameValue(meta) = &mut attribute.meta {
                meta.value = syn::parse_quote!(#line);
            }
            attribute
        });
        attributes.splice(at..at, lines);
    }
}

impl VisitMut for Filler<'_> {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.attrs.retain_mut(|attribute| !attribute.path().is_ident("when") || self.choose(attribute));
        self.visit_attributes_mut(&mut file.attrs);
        self.expand_all(&mut file.items);
    }

    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        self.spread_documentation(attributes);
        for attribute in attributes {
            self.visit_attribute_mut(attribute);
        }
    }

    fn visit_attribute_mut(&mut self, attribute: &mut Attribute) {
        if let Meta::List(list) = &mut attribute.meta {
            list.tokens = self.tokens(&list.tokens);
        }
        visit_mut::visit_attribute_mut(self, attribute);
    }

    fn visit_item_use_mut(&mut self, item: &mut syn::ItemUse) {
        if self.begin_import(&mut item.tree) {
            item.leading_colon = Some(Default::default());
        }
        visit_mut::visit_item_use_mut(self, item);
    }

    fn visit_item_impl_mut(&mut self, item: &mut syn::ItemImpl) {
        self.visit_type_mut(&mut item.self_ty);
        if let Some((path, _)) = &mut item.trait_ {
            self.visit_path_mut(path);
        }
        self.expand_all(&mut item.items);
    }

    fn visit_item_trait_mut(&mut self, item: &mut syn::ItemTrait) {
        self.visit_attributes_mut(&mut item.attrs);
        self.visit_ident_mut(&mut item.ident);
        self.spread_bounds(&mut item.supertraits);
        item.supertraits.iter_mut().for_each(|bound| self.visit_type_param_bound_mut(bound));
        if let Some(bounds) = &mut item.generics.where_clause {
            self.expand_list(&mut bounds.predicates);
        }
        self.expand_all(&mut item.items);
    }

    fn visit_fields_named_mut(&mut self, fields: &mut syn::FieldsNamed) {
        self.expand_list(&mut fields.named);
    }

    fn visit_signature_mut(&mut self, signature: &mut syn::Signature) {
        self.expand_list(&mut signature.inputs);
        self.visit_ident_mut(&mut signature.ident);
        self.visit_generics_mut(&mut signature.generics);
        self.visit_return_type_mut(&mut signature.output);
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        self.visit_expr_mut(&mut call.receiver);
        self.visit_ident_mut(&mut call.method);
        if let Some(turbofish) = &mut call.turbofish {
            self.visit_angle_bracketed_generic_arguments_mut(turbofish);
        }
        self.expand_list(&mut call.args);
    }

    fn visit_expr_struct_mut(&mut self, expr: &mut syn::ExprStruct) {
        self.visit_path_mut(&mut expr.path);
        self.expand_list(&mut expr.fields);
    }

    fn visit_item_enum_mut(&mut self, item: &mut syn::ItemEnum) {
        self.visit_attributes_mut(&mut item.attrs);
        self.expand_list(&mut item.variants);
    }

    fn visit_expr_match_mut(&mut self, expr: &mut syn::ExprMatch) {
        self.visit_expr_mut(&mut expr.expr);
        self.expand_all(&mut expr.arms);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        self.expand_all(&mut block.stmts);
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        let first = path.segments.first().map(|segment| segment.ident.to_string());
        let name = first.as_deref().and_then(|first| first.strip_prefix("__")?.strip_suffix("__"));
        if let Some(Value::Path(value)) = name.and_then(|name| self.value(name)) {
            let value: syn::Path = syn::parse_str(value)
                .unwrap_or_else(|error| panic!("the plan binds {value:?}, which is no path: {error}"));
            let tail = std::mem::take(&mut path.segments).into_iter().skip(1);
            path.leading_colon = value.leading_colon;
            path.segments = value.segments.into_iter().chain(tail).collect();
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        let text = ident.to_string();
        if let Some(text) = substitute(&text, |name| self.text(name)) {
            *ident = Ident::new(&text, Span::call_site());
        }
    }

    fn visit_macro_mut(&mut self, macro_: &mut syn::Macro) {
        // Literals among the tokens, such as the path of a file that is included.
        let fill = |token: TokenTree| match syn::parse2::<syn::LitStr>(token.clone().into()) {
            Ok(literal) => match substitute(&literal.value(), |name| self.text(name)) {
                Some(text) => TokenTree::Literal(proc_macro2::Literal::string(&text)),
                None => token,
            },
            Err(_) => token,
        };
        macro_.tokens = macro_.tokens.clone().into_iter().map(fill).collect();
        visit_mut::visit_macro_mut(self, macro_);
    }

    fn visit_lit_str_mut(&mut self, literal: &mut syn::LitStr) {
        if let Some(text) = substitute(&literal.value(), |name| self.text(name)) {
            *literal = syn::LitStr::new(&text, Span::call_site());
        }
    }
}
