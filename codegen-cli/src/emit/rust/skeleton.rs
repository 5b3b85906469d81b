//! Fills skeletons: Rust with placeholders for names and items.
//!
//! A skeleton of `templates/rust` is valid Rust. In it,
//! - `__Name__` in an identifier or in a string (documentation included) is a placeholder for a text; an
//!   identifier that is only a placeholder may become a path; documentation may become several lines;
//! - an item `__name__! {}` is a placeholder for items that the emitter builds with quote.
//!
//! A skeleton has no conditions and no loops.

use proc_macro2::{Group, Ident, Literal, Punct, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};

/// A skeleton and its substitutions.
pub(super) struct Skeleton<'s> {
    name: &'s str,
    names: Vec<(&'s str, String)>,
    items: Vec<(&'s str, TokenStream)>,
}

impl<'s> Skeleton<'s> {
    /// Returns the skeleton with this name, that of its file without `.rs`.
    pub(super) fn new(name: &'s str) -> Self {
        Self { name, names: Vec::new(), items: Vec::new() }
    }

    /// Replaces `__name__` by a text or a path.
    pub(super) fn name(mut self, name: &'s str, text: impl Into<String>) -> Self {
        self.names.push((name, text.into()));
        self
    }

    /// Replaces `__name__! {}` by items.
    pub(super) fn items(mut self, name: &'s str, items: TokenStream) -> Self {
        self.items.push((name, items));
        self
    }

    /// Fills in the skeleton.
    ///
    /// # Panics
    /// Panics if the program has no such skeleton, or it is not Rust. Tests fill in each skeleton.
    pub(super) fn fill(&self) -> TokenStream {
        let text = kubesmith_templates::rust(self.name);
        let tokens = text.map(str::parse::<TokenStream>);
        match tokens {
            Some(Ok(tokens)) => self.stream(tokens),
            _ => panic!("no skeleton is called {}, or it is not Rust", self.name),
        }
    }

    fn stream(&self, tokens: TokenStream) -> TokenStream {
        let mut out = TokenStream::new();
        let mut rest = tokens.into_iter().peekable();
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => {
                    let inner = rest.next_if(|next| is_punct(next, '!'));
                    match rest.next() {
                        Some(TokenTree::Group(group)) => self.attribute(&mark, inner, &group, &mut out),
                        other => {
                            out.extend([Some(TokenTree::Punct(mark)), inner, other].into_iter().flatten());
                        }
                    }
                }
                TokenTree::Ident(ident) if rest.peek().is_some_and(|next| is_punct(next, '!')) => {
                    match self.built(&ident) {
                        Some(items) => {
                            out.extend(items.clone());
                            rest.nth(1);
                        }
                        None => out.append(ident),
                    }
                }
                TokenTree::Ident(ident) => self.ident(ident, &mut out),
                TokenTree::Literal(literal) => out.append(self.literal(literal)),
                TokenTree::Group(group) => {
                    out.append(Group::new(group.delimiter(), self.stream(group.stream())));
                }
                other @ TokenTree::Punct(_) => out.append(other),
            }
        }
        out
    }

    /// An attribute; documentation becomes one attribute per line.
    fn attribute(&self, mark: &Punct, inner: Option<TokenTree>, group: &Group, out: &mut TokenStream) {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        let text = match &tokens[..] {
            [TokenTree::Ident(name), _, TokenTree::Literal(text)] if name == "doc" => string(text),
            _ => None,
        };
        let Some(text) = text.and_then(|text| self.replaced(&text)) else {
            out.append(mark.clone());
            out.extend(inner);
            out.append(Group::new(group.delimiter(), self.stream(group.stream())));
            return;
        };
        for line in text.trim_start().lines() {
            let line = Literal::string(&if line.is_empty() { String::new() } else { format!(" {line}") });
            out.append(mark.clone());
            out.extend(inner.clone());
            out.extend(quote::quote!([doc = #line]));
        }
    }

    fn built(&self, ident: &Ident) -> Option<&TokenStream> {
        let name = ident.to_string();
        let name = name.strip_prefix("__")?.strip_suffix("__")?;
        self.items.iter().find(|(known, _)| *known == name).map(|(_, items)| items)
    }

    fn ident(&self, ident: Ident, out: &mut TokenStream) {
        match self.replaced(&ident.to_string()) {
            Some(text) => out.extend(path(&text)),
            None => out.append(ident),
        }
    }

    fn literal(&self, literal: Literal) -> Literal {
        match string(&literal).and_then(|text| self.replaced(&text)) {
            Some(text) => Literal::string(&text),
            None => literal,
        }
    }

    /// Returns the text with its placeholders replaced, or `None` if it has none.
    fn replaced(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("__") {
            let (name, behind) = after.split_once("__")?;
            let value = self.names.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
            let Some(value) = value else { panic!("the skeleton {} asks for `{name}`", self.name) };
            out.extend([before, value]);
            rest = behind;
        }
        (rest.len() < text.len()).then(|| out + rest)
    }
}

fn is_punct(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The value of a string literal in a skeleton.
fn string(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    if !text.contains("__") {
        return None;
    }
    syn::parse_str::<syn::LitStr>(&text).ok().map(|text| text.value())
}

/// A path as tokens.
///
/// # Panics
/// Panics if the text is not a path. All paths consist of identifiers, as users' names are converted.
pub(super) fn path(text: &str) -> TokenStream {
    match text.parse() {
        Ok(tokens) => tokens,
        Err(error) => panic!("`{text}` is not a path: {error}"),
    }
}

/// An identifier.
pub(super) fn ident(text: &str) -> TokenTree {
    match text.strip_prefix("r#") {
        Some(raw) => Ident::new_raw(raw, proc_macro2::Span::call_site()).into(),
        None => Ident::new(text, proc_macro2::Span::call_site()).into(),
    }
}

/// Documentation: an attribute for each line.
pub(super) struct Docs<T>(pub(super) T);

impl<T: AsRef<str>> ToTokens for Docs<T> {
    fn to_tokens(&self, out: &mut TokenStream) {
        for line in self.0.as_ref().lines() {
            let line = Literal::string(&if line.is_empty() { String::new() } else { format!(" {line}") });
            out.append(Punct::new('#', Spacing::Alone));
            out.extend(quote::quote!([doc = #line]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skeleton_placeholders_are_replaced() {
        let skeleton = Skeleton { name: "test", names: Vec::new(), items: Vec::new() }
            .name("Kind", "Cart")
            .name("Object", "::shop::Cart")
            .name("Doc", "One.\n\nTwo \"2\".")
            .items(
                "methods",
                quote::quote!(
                    fn a() {}
                ),
            );
        let source = "/// __Doc__\n/// Of `__Kind__`.\nstruct __Kind__Lister(__Object__, X__); impl A { __methods__! {} } const B: &str = \"a __Kind__\"; c!();";
        // `X__` has no second mark, and stays unchanged.
        let filled = skeleton.stream(source.parse().unwrap()).to_string();
        let expected: TokenStream = "/// One.\n///\n/// Two \"2\".\n/// Of `Cart`.\nstruct CartLister(::shop::Cart, X__); impl A { fn a() {} } const B: &str = \"a Cart\"; c!();"
            .parse()
            .unwrap();
        assert_eq!(filled, expected.to_string());
    }
}
