//! Items as text, in the layout of the printer.
//!
//! The emitter writes a member of an apply configuration as text where the printer's layout is certain; otherwise the printer
//! gets the member alone. Building, parsing and printing tokens of apply configurations took more than half of the time of
//! `generate`: 6.2 times the parsing with tokens, 2.8 times with text (`bench/codegen`, docs/reference/figures.md).

/// Widest line in bytes that is certainly not broken. The printer's margin is 89, and it does not count what stands behind a
/// group.
const FITS: usize = 86;

/// Lines of more bytes are certainly broken.
const BREAKS: usize = 95;

/// Documentation: a comment for each line.
pub(super) fn docs(text: &str, indent: &str, out: &mut String) {
    for line in text.lines().map(|line| line.trim_end_matches(' ')) {
        out.extend([indent, "///", if line.is_empty() { "" } else { " " }, line, "\n"]);
    }
}

/// A field of a struct, with its attribute. Neither is broken where both fit.
pub(super) fn field(docs_text: &str, attribute: &str, declaration: &str, out: &mut String) {
    let is_narrow = [attribute, declaration].iter().all(|line| 4 + line.len() <= FITS);
    let begin = out.len();
    docs(docs_text, "    ", out);
    out.extend(["    ", attribute, "\n    ", declaration, "\n"]);
    if !is_narrow {
        let text = printed("struct X", &out[begin..]);
        out.truncate(begin);
        out.push_str(&text);
    }
}

/// A method that takes itself and an argument, and returns itself.
pub(super) struct Setter<'s> {
    pub(super) docs: &'s str,
    pub(super) is_inline: bool,
    pub(super) name: &'s str,
    /// With its type.
    pub(super) argument: &'s str,
    /// What it does: an expression, and the methods that are called on it one after the other.
    pub(super) statement: &'s [&'s str],
}

impl Setter<'_> {
    pub(super) fn write(&self, out: &mut String) {
        let begin = out.len();
        docs(self.docs, "    ", out);
        if self.is_inline {
            out.push_str("    #[inline]\n");
        }
        let is_done = [self.signature(out), self.body(out)] == [true; 2];
        out.push_str("        self\n    }\n");
        if !is_done {
            let text = printed("impl X", &out[begin..]);
            out.truncate(begin);
            out.push_str(&text);
        }
    }

    /// Writes the signature; returns whether its layout is certain.
    fn signature(&self, out: &mut String) -> bool {
        let Self { name, argument, .. } = self;
        let flat = format!("    pub fn {name}(mut self, {argument}) -> Self {{\n");
        let broken = 8 + argument.len() + 1;
        if flat.len() > BREAKS && broken <= FITS {
            out.extend([
                "    pub fn ",
                name,
                "(\n        mut self,\n        ",
                argument,
                ",\n    ) -> Self {\n",
            ]);
            return true;
        }
        out.push_str(&flat);
        flat.len() <= FITS
    }

    /// Writes what the method does; returns whether the layout is certain.
    fn body(&self, out: &mut String) -> bool {
        let flat = 8 + self.statement.iter().map(|part| part.len()).sum::<usize>() + 1;
        let [first, calls @ ..] = self.statement else { return true };
        let is_broken = flat > BREAKS && calls.len() > 1 && calls.iter().all(|call| 12 + call.len() < 89);
        out.extend(["        ", first]);
        for call in calls {
            out.extend([if is_broken { "\n            " } else { "" }, call]);
        }
        out.push_str(";\n");
        is_broken || flat <= FITS
    }
}

/// Members as the printer writes them.
///
/// # Panics
/// The text is not Rust; see [`super::code::items`].
fn printed(of: &str, members: &str) -> String {
    let text = format!("{of} {{\n{members}}}");
    let parsed =
        syn::parse_file(&text).unwrap_or_else(|error| panic!("generated code is not Rust: {error}\n{text}"));
    let text = prettyplease::unparse(&parsed);
    let members = text.trim_end().trim_end_matches('}');
    members.split_once('\n').map_or(String::new(), |(_, members)| members.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the printer makes of it.
    fn check(of: &str, text: &str) {
        assert_eq!(text, printed(of, text));
    }

    #[test]
    fn members_are_laid_out_as_by_the_printer_whatever_their_length() {
        for length in (1..90).step_by(3) {
            let name = "n".repeat(length);
            for ty in [
                "bool",
                "impl Into<String>",
                "impl IntoIterator<Item = some::path::to::TheApplyConfiguration>",
            ] {
                for ty in [ty.replace("String", &name), ty.replace("some", &name)] {
                    let mut text = String::new();
                    field(
                        "One.\n\nTwo.  ",
                        "#[serde(skip)]",
                        &format!("pub a: {}<{}>,", name, ty.replace("impl ", "")),
                        &mut text,
                    );
                    check("struct X", &text);
                    for statement in [
                        vec![format!("self.{name} = Some(value)")],
                        vec![
                            format!("self.{name}"),
                            ".get_or_insert_default()".to_owned(),
                            ".extend(items)".to_owned(),
                        ],
                        vec![
                            format!("self.{name}"),
                            ".get_or_insert_default()".to_owned(),
                            ".extend(entries.into_iter().map(|(key, value)| (key.into(), value.into())))"
                                .to_owned(),
                        ],
                        vec![
                            format!("self.{name}"),
                            ".extend(entries.into_iter().map(|(key, value)| (key.into(), value)))".to_owned(),
                        ],
                    ] {
                        let statement: Vec<&str> = statement.iter().map(String::as_str).collect();
                        let argument = format!("value: {ty}");
                        let setter = Setter {
                            docs: "Sets it.",
                            is_inline: length % 2 == 0,
                            name: &format!("with_{name}"),
                            argument: &argument,
                            statement: &statement,
                        };
                        let mut text = String::new();
                        setter.write(&mut text);
                        check("impl X", &text);
                        let plain = |text: &str| text.replace(|c: char| c.is_whitespace() || c == ',', "");
                        assert!(plain(&text).contains(&plain(&statement.concat())), "{text}");
                    }
                }
            }
            let mut text = String::new();
            let attribute =
                format!("#[serde(rename = \"{name}\", skip_serializing_if = \"Option::is_none\")]");
            field("", &attribute, "pub a: bool,", &mut text);
            check("struct X", &text);
        }
    }
}
