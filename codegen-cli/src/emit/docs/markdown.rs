//! Emits Markdown for GitHub. Fields are lists, not tables: their descriptions have lists and code of their
//! own.

use super::escape;
use super::{mark, yes};
use crate::reference::{
    Block, Column, Field, Inline, Kind, Page, Sample, Target, Text, Type, Variant, VersionRow,
};

/// A page.
pub(super) fn page(page: &Page) -> String {
    let mut out = mark();
    out.push_str(&format!("\n# {}{}\n", anchor(&page.id), escape::markdown(&page.api_version)));
    contents("Kinds", page.kinds.iter().map(|kind| &kind.object), &mut out);
    contents("Types", page.types.iter(), &mut out);
    for described in &page.kinds {
        kind(described, &mut out);
    }
    for described in &page.types {
        heading(described, &mut out);
        details(described, &mut out);
    }
    out
}

fn anchor(id: &str) -> String {
    format!("<a id=\"{id}\"></a>")
}

fn contents<'a>(title: &str, types: impl Iterator<Item = &'a Type>, out: &mut String) {
    let mut title = Some(title);
    for described in types {
        if let Some(title) = title.take() {
            out.push_str(&format!("\n{title}:\n\n"));
        }
        out.push_str(&format!("- [{}](#{})\n", escape::markdown(&described.name), described.id));
    }
}

fn heading(described: &Type, out: &mut String) {
    out.push_str(&format!("\n## {}{}\n", anchor(&described.id), escape::markdown(&described.name)));
    if described.deprecated {
        out.push_str("\n**Deprecated.**\n");
    }
    blocks(&described.description, 0, out);
}

fn kind(kind: &Kind, out: &mut String) {
    heading(&kind.object, out);
    out.push('\n');
    for (title, text) in &kind.facts {
        out.push_str(&format!("- {title}: {}\n", line(text, false)));
    }
    versions(&kind.versions, out);
    columns(&kind.columns, out);
    if let Some(sample) = &kind.sample {
        manifest(sample, out);
    }
    details(&kind.object, out);
}

fn versions(versions: &[VersionRow], out: &mut String) {
    out.push_str("\n| Version | Served | Stored | Deprecated |\n|---|---|---|---|\n");
    for row in versions {
        let deprecated =
            row.deprecated.as_ref().map(|text| line(text, true)).unwrap_or_else(|| "no".to_string());
        let (served, stored) = (yes(row.served), yes(row.stored));
        out.push_str(&format!("| {} | {served} | {stored} | {deprecated} |\n", line(&row.name, true)));
    }
}

fn columns(columns: &[Column], out: &mut String) {
    if columns.is_empty() {
        return;
    }
    let is_described = columns.iter().any(|column| !column.description.is_empty());
    out.push_str("\nColumns of `kubectl get`:\n\n| Column | Type | Value |");
    out.push_str(if is_described { " Description |\n|---|---|---|---|\n" } else { "\n|---|---|---|\n" });
    for column in columns {
        let wide = if column.wide { " (with `-o wide`)" } else { "" };
        let (name, type_) = (escape::markdown(&column.name), escape::markdown(&column.type_));
        let (value, description) =
            (escape::markdown_code(&column.json_path, true), escape::markdown(&column.description));
        out.push_str(&format!("| {name}{wide} | {type_} | {value} |"));
        out.push_str(&if is_described { format!(" {description} |\n") } else { "\n".to_owned() });
    }
}

fn manifest(sample: &Sample, out: &mut String) {
    out.push_str("\nSample:\n\n");
    out.push_str(&escape::markdown_fence(&sample.yaml, "yaml"));
    if !sample.problem.is_empty() {
        let problem = escape::markdown_code(&sample.problem, false);
        out.push_str(&format!("\nIt shows the form alone: an API server refuses it with {problem}.\n"));
    }
}

/// The details of a type after its description.
fn details(described: &Type, out: &mut String) {
    if !described.form.is_empty() {
        out.push_str(&format!("\nForm: {}\n", line(&described.form, false)));
    }
    if !described.rules.is_empty() {
        out.push_str("\nRules:\n\n");
        rules(&described.rules, 0, out);
    }
    if !described.fields.is_empty() {
        out.push_str("\nFields:\n");
        described.fields.iter().for_each(|described| field(described, out));
    }
    if !described.variants.is_empty() {
        out.push('\n');
        described.variants.iter().for_each(|described| variant(described, out));
    }
    if !described.appears_in.is_empty() {
        let users: Vec<String> = described.appears_in.iter().map(|user| inline(user, false)).collect();
        out.push_str(&format!("\nAppears in: {}\n", users.join(", ")));
    }
}

fn rules(rules: &[Text], indent: usize, out: &mut String) {
    for rule in rules {
        out.push_str(&format!("{:indent$}- {}\n", "", line(rule, false)));
    }
}

fn field(field: &Field, out: &mut String) {
    let presence = if field.required { "required" } else { "optional" };
    let name = match &field.name {
        Some(name) => {
            format!("**{}**: {}, {presence}", escape::markdown_code(name, false), line(&field.ty, false))
        }
        None => format!("the fields of {}, {presence}", line(&field.ty, false)),
    };
    out.push_str(&format!("\n- {}{name}", anchor(&field.id)));
    if let Some(default) = &field.default {
        out.push_str(&format!(", default {}", escape::markdown_code(default, false)));
    }
    if field.deprecated {
        out.push_str(", **deprecated**");
    }
    out.push('\n');
    blocks(&field.description, 2, out);
    if !field.rules.is_empty() {
        // The line separates them from a list at the end of the description.
        out.push_str("\n  Rules:\n\n");
        rules(&field.rules, 2, out);
    }
}

fn variant(variant: &Variant, out: &mut String) {
    out.push_str(&format!("- {}{}", anchor(&variant.id), escape::markdown_code(&variant.name, false)));
    if !variant.holds.is_empty() {
        out.push_str(&format!(": {}", line(&variant.holds, false)));
    }
    if variant.deprecated {
        out.push_str(", **deprecated**");
    }
    out.push('\n');
    blocks(&variant.description, 2, out);
}

/// Blocks, each after an empty line, with this indentation.
fn blocks(blocks: &[Block], indent: usize, out: &mut String) {
    for block in blocks {
        out.push('\n');
        match block {
            Block::Paragraph(text) => out.push_str(&format!("{:indent$}{}\n", "", line(text, false))),
            Block::Code(text) => indented(&escape::markdown_fence(text, ""), indent, out),
            Block::List { ordered, items } => {
                for (at, item) in items.iter().enumerate() {
                    list_item(
                        &if *ordered { format!("{}. ", at + 1) } else { "- ".to_string() },
                        item,
                        indent,
                        out,
                    );
                }
            }
        }
    }
}

/// An item of a list, with the marker before its first block.
fn list_item(marker: &str, item: &[Block], indent: usize, out: &mut String) {
    let mut inside = String::new();
    blocks(item, indent + marker.len(), &mut inside);
    let text = inside.trim_start();
    out.push_str(&format!("{:indent$}{marker}{text}", ""));
    if text.is_empty() {
        out.push('\n');
    }
}

fn indented(text: &str, indent: usize, out: &mut String) {
    for line in text.lines() {
        let indent = if line.is_empty() { 0 } else { indent };
        out.push_str(&format!("{:indent$}{line}\n", ""));
    }
}

fn line(text: &Text, in_table: bool) -> String {
    let mut out = String::new();
    for part in text {
        let part = inline(part, in_table);
        out.push_str(if out.is_empty() { part.trim_start() } else { &part });
    }
    out.trim_end().to_string()
}

fn inline(part: &Inline, in_table: bool) -> String {
    match part {
        Inline::Plain(text) => escape::markdown(text),
        Inline::Code(text) => escape::markdown_code(text, in_table),
        Inline::Link(label, target) => {
            let label = escape::markdown(label);
            match target {
                Target::Here(id) => format!("[{label}](#{id})"),
                Target::Page(file, id) => format!("[{label}]({file}#{id})"),
                Target::Url(url) => format!("[{label}](<{url}>)"),
            }
        }
    }
}
