//! Emits one self-contained page of HTML: no script, no font, no image.

use super::escape::{html, html_code, html_lines};
use super::{mark, yes};
use crate::reference::{
    Block, Column, Field, Inline, Kind, Page, Reference, Sample, Target, Text, Type, Variant, VersionRow,
};

/// The look of the page, for narrow and wide, light and dark.
const STYLE: &str = include_str!("style.css");

/// The page.
pub(super) fn document(reference: &Reference) -> String {
    let names: Vec<String> = reference.pages.iter().map(|page| html(&page.api_version)).collect();
    let title = format!("API reference: {}", names.join(", "));
    let mut out = format!(
        "<!DOCTYPE html>\n{}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<header><h1>API reference</h1></header>\n",
        mark()
    );
    contents(&reference.pages, &mut out);
    out.push_str("<main>\n");
    for described in &reference.pages {
        page(described, &mut out);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn contents(pages: &[Page], out: &mut String) {
    out.push_str("<nav aria-label=\"Contents\">\n<ul>\n");
    for page in pages {
        out.push_str(&format!("<li><a href=\"#{}\">{}</a>\n<ul>\n", page.id, foldable(&page.api_version)));
        for described in page.kinds.iter().map(|kind| &kind.object) {
            out.push_str(&format!(
                "<li><a href=\"#{}\"><strong>{}</strong></a></li>\n",
                described.id,
                html(&described.name)
            ));
        }
        for described in &page.types {
            out.push_str(&format!("<li><a href=\"#{}\">{}</a></li>\n", described.id, html(&described.name)));
        }
        out.push_str("</ul></li>\n");
    }
    out.push_str("</ul>\n</nav>\n");
}

/// A group and version, which a narrow screen breaks only between their parts.
fn foldable(api_version: &str) -> String {
    html(api_version).replace('.', ".<wbr>").replace('/', "/<wbr>")
}

fn page(page: &Page, out: &mut String) {
    out.push_str(&format!("<section>\n<h2 id=\"{}\">{}</h2>\n", page.id, foldable(&page.api_version)));
    for described in &page.kinds {
        kind(described, out);
    }
    for described in &page.types {
        out.push_str("<article>\n");
        heading(described, out);
        details(described, out);
        out.push_str("</article>\n");
    }
    out.push_str("</section>\n");
}

/// A heading with a link to itself.
fn heading(described: &Type, out: &mut String) {
    let (id, name) = (&described.id, html(&described.name));
    let deprecated = if described.deprecated { DEPRECATED } else { "" };
    out.push_str(&format!("<h3 id=\"{id}\"><a href=\"#{id}\">{name}</a>{deprecated}</h3>\n"));
    blocks(&described.description, out);
}

/// The mark of deprecated items.
const DEPRECATED: &str = " <span class=\"mark warn\">deprecated</span>";

fn kind(kind: &Kind, out: &mut String) {
    out.push_str("<article class=\"kind\">\n");
    heading(&kind.object, out);
    out.push_str("<dl>\n");
    for (title, text) in &kind.facts {
        out.push_str(&format!("<dt>{title}</dt><dd>{}</dd>\n", line(text)));
    }
    out.push_str("</dl>\n");
    versions(&kind.versions, out);
    columns(&kind.columns, out);
    if let Some(sample) = &kind.sample {
        manifest(sample, out);
    }
    details(&kind.object, out);
    out.push_str("</article>\n");
}

fn table(titles: &[&str], rows: impl Iterator<Item = Vec<String>>, out: &mut String) {
    out.push_str("<table>\n<thead><tr>");
    titles.iter().for_each(|title| out.push_str(&format!("<th scope=\"col\">{title}</th>")));
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (title, cell) in titles.iter().zip(row) {
            out.push_str(&format!("<td data-title=\"{title}\">{cell}</td>"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
}

fn versions(versions: &[VersionRow], out: &mut String) {
    let rows = versions.iter().map(|row| {
        let deprecated = row.deprecated.as_ref().map(line).unwrap_or_else(|| "no".to_string());
        vec![line(&row.name), yes(row.served).to_string(), yes(row.stored).to_string(), deprecated]
    });
    table(&["Version", "Served", "Stored", "Deprecated"], rows, out);
}

fn columns(columns: &[Column], out: &mut String) {
    if columns.is_empty() {
        return;
    }
    out.push_str("<h4>Columns of <code>kubectl get</code></h4>\n");
    let rows = columns.iter().map(|column| {
        let wide = if column.wide { " (with <code>-o wide</code>)" } else { "" };
        let name = format!("{}{wide}", html(&column.name));
        let value = format!("<code>{}</code>", html_code(&column.json_path));
        vec![name, html(&column.type_), value, html(&column.description)]
    });
    let titles = ["Column", "Type", "Value", "Description"];
    let is_described = columns.iter().any(|column| !column.description.is_empty());
    table(if is_described { &titles } else { &titles[..3] }, rows, out);
}

fn manifest(sample: &Sample, out: &mut String) {
    out.push_str(&format!("<h4>Sample</h4>\n<pre><code>{}\n</code></pre>\n", html_lines(&sample.yaml)));
    if !sample.problem.is_empty() {
        let problem = html_code(&sample.problem);
        out.push_str(&format!(
            "<p>It shows the form alone: an API server refuses it with <code>{problem}</code>.</p>\n"
        ));
    }
}

/// The details of a type after its description.
fn details(described: &Type, out: &mut String) {
    if !described.form.is_empty() {
        out.push_str(&format!("<p>Form: {}</p>\n", line(&described.form)));
    }
    if !described.rules.is_empty() {
        out.push_str("<h4>Rules</h4>\n");
        rules(&described.rules, out);
    }
    if !described.fields.is_empty() {
        out.push_str("<h4>Fields</h4>\n<div class=\"fields\">\n");
        described.fields.iter().for_each(|described| field(described, out));
        out.push_str("</div>\n");
    }
    if !described.variants.is_empty() {
        out.push_str("<div class=\"fields\">\n");
        described.variants.iter().for_each(|described| variant(described, out));
        out.push_str("</div>\n");
    }
    if !described.appears_in.is_empty() {
        let users: Vec<String> = described.appears_in.iter().map(inline).collect();
        out.push_str(&format!("<p class=\"users\">Appears in: {}</p>\n", users.join(", ")));
    }
}

fn rules(rules: &[Text], out: &mut String) {
    if rules.is_empty() {
        return;
    }
    out.push_str("<ul class=\"rules\">\n");
    rules.iter().for_each(|rule| out.push_str(&format!("<li>{}</li>\n", line(rule))));
    out.push_str("</ul>\n");
}

fn field(field: &Field, out: &mut String) {
    let id = &field.id;
    let name = match &field.name {
        Some(name) => format!("<code>{}</code>", html_code(name)),
        None => "<em>fields of its type</em>".to_string(),
    };
    let presence = if field.required { "required" } else { "optional" };
    out.push_str(&format!(
        "<div class=\"field\" id=\"{id}\">\n<div class=\"name\"><a href=\"#{id}\">{name}</a> \
         <span class=\"mark {presence}\">{presence}</span>{}</div>\n<div class=\"type\">{}</div>\n<div class=\"text\">\n",
        if field.deprecated { DEPRECATED } else { "" },
        line(&field.ty)
    ));
    blocks(&field.description, out);
    if let Some(default) = &field.default {
        out.push_str(&format!("<p>Default: <code>{}</code></p>\n", html_code(default)));
    }
    rules(&field.rules, out);
    out.push_str("</div>\n</div>\n");
}

fn variant(variant: &Variant, out: &mut String) {
    let id = &variant.id;
    out.push_str(&format!(
        "<div class=\"field\" id=\"{id}\">\n<div class=\"name\"><a href=\"#{id}\"><code>{}</code></a>{}</div>\n\
         <div class=\"type\">{}</div>\n<div class=\"text\">\n",
        html_code(&variant.name),
        if variant.deprecated { DEPRECATED } else { "" },
        line(&variant.holds)
    ));
    blocks(&variant.description, out);
    out.push_str("</div>\n</div>\n");
}

fn blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        match block {
            Block::Paragraph(text) => out.push_str(&format!("<p>{}</p>\n", line(text))),
            Block::Code(text) => out.push_str(&format!("<pre><code>{}\n</code></pre>\n", html_lines(text))),
            Block::List { ordered, items } => {
                let tag = if *ordered { "ol" } else { "ul" };
                out.push_str(&format!("<{tag}>\n"));
                for item in items {
                    out.push_str("<li>");
                    self::blocks(item, out);
                    out.push_str("</li>\n");
                }
                out.push_str(&format!("</{tag}>\n"));
            }
        }
    }
}

fn line(text: &Text) -> String {
    text.iter().map(inline).collect()
}

fn inline(part: &Inline) -> String {
    match part {
        Inline::Plain(text) => html(text),
        Inline::Code(text) => format!("<code>{}</code>", html_code(text)),
        Inline::Link(label, target) => {
            let address = match target {
                // Every page is a section of this one.
                Target::Here(id) | Target::Page(_, id) => format!("#{id}"),
                Target::Url(url) => html(url),
            };
            format!("<a href=\"{address}\">{}</a>", html(label))
        }
    }
}
