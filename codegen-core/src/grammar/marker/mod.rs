//! Reads markers: controller-gen's and client-gen's notation, in doc comments.
//!
//! `/// +kubebuilder:validation:Minimum=1` equals `#[validation(minimum = 1)]`: both become the same entry.
//! The table of attributes defines the markers.

mod definition;
mod lines;
mod read;
mod scan;
mod write;

pub use definition::{Definition, Target, definitions};
pub use scan::unquoted as unquote_go;
pub use write::text as marker_text;

pub(super) use definition::Written;
pub(crate) use definition::find;
pub use lines::ItemAttributes;
pub(crate) use lines::MarkerLine;

use super::{Family, MEANINGLESS, MODULE, Place};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::names::closest;

/// The name of a marker in plain text, without `+`; `None`: the text is not a marker.
pub fn marker_name(text: &str) -> Option<&str> {
    let rest = text.trim().strip_prefix('+')?;
    let name = rest.split_once('=').map_or(rest, |(name, _)| name).trim_end();
    name.starts_with(char::is_alphabetic).then_some(name)
}

/// The attribute for a marker with this name.
pub fn marker_family(name: &str) -> Option<Family> {
    find(name)?.target.family()
}

/// The definition of a marker by its name, which may end in the name of its first argument.
pub fn marker_definition(name: &str) -> Option<&'static Definition> {
    find(name)
}

/// Whether a marker with this name has an effect.
pub fn is_marker(name: &str) -> bool {
    find(name).is_some()
}

/// Whether a marker with this name is known, even if it has no effect.
fn is_known(name: &str) -> bool {
    is_marker(name) || MEANINGLESS.iter().any(|m| m.covers(name))
}

/// Reports an item's markers without an attribute, and unreadable documentation.
pub fn check_markers(item: &ItemAttributes<'_>, diagnostics: &mut Diagnostics) {
    for span in item.unread() {
        let message = "documentation that a macro makes is not read";
        diagnostics.push(
            Diagnostic::warning(Code::INCLUDED_FILE, span, message)
                .note("the description lacks it")
                .help("write the text itself, as `///`"),
        );
    }
    for (_, line) in item.markers() {
        let (name, _) = line.name();
        if find(name).is_none_or(|definition| matches!(definition.target, Target::Module(_))) {
            diagnostics.push(other(line));
        }
    }
}

/// The diagnostic for a marker that sets no key of an item.
pub(super) fn other(line: &MarkerLine) -> Diagnostic {
    let (name, range) = line.name();
    let span = line.span(0..range.end);
    if find(name).is_some() {
        let message = format!("`+{name}` cannot stand on an item");
        return Diagnostic::error(Code::WRONG_PLACE, span, message).help(MODULE_HELP);
    }
    if let Some(meaningless) = MEANINGLESS.iter().find(|m| m.covers(name)) {
        let message = format!("`+{name}` has no meaning for Rust types");
        return Diagnostic::warning(Code::MEANINGLESS_MARKER, span, message)
            .note(meaningless.reason)
            .help("remove the line");
    }
    let error = Diagnostic::error(Code::UNKNOWN_MARKER, span, format!("unknown marker `+{name}`"));
    if let Some((first, _)) = name.split_once(char::is_whitespace).filter(|(first, _)| is_known(first)) {
        return error.help(format!("a marker stands alone on its line: move what follows `+{first}`"));
    }
    error.help(match near(name) {
        Some(near) => format!("did you mean `+{near}`?"),
        None => concat!(
            book!("reference/attributes.md"),
            " lists the markers; text may not begin with `+`, which could be a misspelt one"
        )
        .to_owned(),
    })
}

const MODULE_HELP: &str = "it belongs in the documentation of a module, as `//!`";

/// The marker with a similar name, for suggestions.
pub fn near(name: &str) -> Option<String> {
    let known = definitions().keys().map(String::as_str);
    // The text after the last colon may be an argument.
    let outer = name.rsplit_once(':').map_or(name, |(outer, _)| outer);
    // Another generator may use another prefix for the same name.
    let last = |name: &str| name.rsplit(':').next().unwrap_or(name).to_lowercase();
    let namesake = || known.clone().find(|other| last(other) == last(name));
    let near = closest(name, known.clone()).or_else(|| closest(outer, known.clone())).or_else(namesake);
    near.map(str::to_owned)
}

/// Reports a marker in an invalid place.
pub(crate) fn misplaced(line: &MarkerLine, definition: &Definition, place: Place) -> Diagnostic {
    let (_, range) = line.name();
    let span = line.span(0..range.end);
    let message = format!("`+{}` cannot stand on {}", definition.name, place.describe());
    let mut help = format!("it belongs on {}", definition.describe_places());
    if MODULE.iter().any(|key| key.markers.contains(&definition.name.as_str())) {
        help.push_str(", or in the documentation of a module, as `//!`");
    }
    Diagnostic::error(Code::WRONG_PLACE, span, message).help(help)
}

/// Reports a marker of an item in the documentation of a module.
pub(super) fn not_of_modules(line: &MarkerLine, definition: &Definition) -> Diagnostic {
    let (_, range) = line.name();
    let message = format!("`+{}` cannot stand in the documentation of a module", definition.name);
    let help = format!("it belongs on {}, as `///`", definition.describe_places());
    Diagnostic::error(Code::WRONG_PLACE, line.span(0..range.end), message).help(help)
}
