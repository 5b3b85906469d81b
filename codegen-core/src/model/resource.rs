//! `#[resource(...)]`

mod paths;

use proc_macro2::{Ident, Span};

use super::extra::check_schema;
use super::schema::is_absolute_url;
use super::{Conversion, EntryValue};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::grammar::{Entry, Json, Parsed, Spanned, Value};
use crate::names::{
    CodeName, Group, Kind, NameError, PluralName, Scope, Version, label_value, pluralize_kind, qualified_name,
};

/// The values of `#[resource(...)]`, with defaults filled in.
#[derive(Clone, Debug)]
pub struct ResourceAttrs {
    /// The attribute; the struct's name if there is none.
    pub span: Span,
    /// Whether there is an attribute or a marker.
    pub is_given: bool,
    /// API group; `None`: that of the module.
    pub group: Option<Spanned<Group>>,
    /// API version; `None`: that of the module.
    pub version: Option<Spanned<Version>>,
    /// Kind; default: the name of the struct.
    pub kind: Spanned<Kind>,
    /// Kind of lists; default: the kind and `List`.
    pub list_kind: Spanned<Kind>,
    /// Plural; default: that of controller-gen.
    pub plural: Spanned<PluralName>,
    /// Singular; default: the kind in lower case.
    pub singular: Spanned<PluralName>,
    /// Short names, in source order.
    pub short_names: Vec<Spanned<PluralName>>,
    /// Categories, in source order.
    pub categories: Vec<Spanned<PluralName>>,
    /// Scope; default: namespaced.
    pub scope: Spanned<Scope>,
    /// The `/status` subresource.
    pub status: Option<Span>,
    /// The `/scale` subresource.
    pub scale: Option<Scale>,
    /// Columns of kubectl, in source order.
    pub print_columns: Vec<PrintColumn>,
    /// Paths of selectable fields, in source order.
    pub selectable_fields: Vec<Spanned<String>>,
    /// Marks this version as stored.
    pub storage_version: Option<Span>,
    /// Marks this version as not served.
    pub unserved_version: Option<Span>,
    /// Leaves this version out of the CRD.
    pub skip_version: Option<Span>,
    /// Marks this version as deprecated.
    pub deprecated_version: Option<Deprecation>,
    /// The conversion of objects between the versions of the kind.
    pub conversion: Option<Spanned<Conversion>>,
    /// Marks this version as the one that all others are converted to and from.
    pub hub: Option<Span>,
    /// Annotations of the CRD, without the API approval.
    pub annotations: Vec<StringPair>,
    /// Labels of the CRD.
    pub labels: Vec<StringPair>,
    /// Value of the annotation `api-approved.kubernetes.io`.
    pub api_approved: Option<Spanned<String>>,
    /// Schemas of apiVersion, kind and metadata that differ from the usual ones, by name; `None`: the field
    /// is absent.
    pub standard_fields: Vec<(String, Option<Json>)>,
    /// Name of the group in the clientset, if it is not the default.
    pub group_name_in_code: Option<Spanned<CodeName>>,
    /// Name of the group in the informer factory, if it differs.
    pub informer_group_name: Option<Spanned<CodeName>>,
}

/// A name and a value.
pub type StringPair = (Spanned<String>, Spanned<String>);

/// `scale(...)`
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Path of the wanted replicas, under `.spec`.
    pub spec_path: Spanned<String>,
    /// Path of the counted replicas, under `.status`.
    pub status_path: Spanned<String>,
    /// Path of the label selector, under `.status` or `.spec`.
    pub selector_path: Option<Spanned<String>>,
}

/// `print_column(...)`
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are those of CustomResourceColumnDefinition")]
pub struct PrintColumn {
    pub name: Spanned<String>,
    /// The type; `None`: that of the field.
    pub column_type: Option<Spanned<String>>,
    pub json_path: Spanned<String>,
    pub description: Option<Spanned<String>>,
    pub format: Option<Spanned<String>>,
    pub priority: Option<Spanned<i32>>,
}

/// `deprecated_version`
#[derive(Clone, Debug)]
pub struct Deprecation {
    /// The key.
    pub span: Span,
    /// The warning; `None`: the API server's default.
    pub warning: Option<Spanned<String>>,
}

impl ResourceAttrs {
    /// Takes the values out of the parsed attributes, checks them and fills in defaults from the name of the
    /// struct. `None` after a diagnostic for an essential name that is missing or invalid.
    pub fn from_parsed(parsed: &Parsed, ident: &Ident, diagnostics: &mut Diagnostics) -> Option<Self> {
        // An attribute without keys has been reported.
        if parsed.span.is_some() && parsed.entries.is_empty() {
            return None;
        }
        let span = parsed.span.unwrap_or_else(|| ident.span());
        let mut reader = Reader { parsed, diagnostics };
        let group = reader.name("group", Code::INVALID_GROUP, "API group", Group::parse);
        let version = reader.text("version").and_then(|text| parse_version(&text, reader.diagnostics));
        let kind = reader.kind(ident);
        let default_kind = kind.as_ref().map(|kind| kind.value.as_str().to_owned()).unwrap_or_default();
        let list_kind = reader.list_kind(kind.as_ref());
        let plural = reader.resource_name("plural", || pluralize_kind(&default_kind), kind.as_ref());
        let singular = reader.resource_name("singular", || default_kind.to_lowercase(), kind.as_ref());
        let short_names = reader.resource_names("short_name", "short name");
        let categories = reader.resource_names("category", "category");
        let (annotations, labels) = reader.metadata();
        let span_of = |name: &str| parsed.given(name);
        let scope = reader.scope();
        let scale = reader.scale();
        let print_columns = reader.print_columns();
        let selectable_fields = reader.selectable_fields();
        let standard_fields = reader.standard_fields();
        let api_approved = reader.api_approved();
        let conversion = reader.conversion();
        let group_name_in_code = reader.code_name("group_name_in_code");
        let informer_group_name = reader.code_name("informer_group_name");
        reader.contradictions();
        if reader.is_lost("group", group.is_some()) || reader.is_lost("version", version.is_some()) {
            return None;
        }
        Some(Self {
            span,
            is_given: parsed.span.is_some(),
            group,
            version,
            kind: kind?,
            list_kind: list_kind?,
            plural: plural?,
            singular: singular?,
            short_names,
            categories,
            scope: scope.unwrap_or(Spanned::new(Scope::default(), span)),
            status: span_of("status"),
            scale,
            print_columns,
            selectable_fields,
            storage_version: span_of("storage_version"),
            hub: span_of("hub"),
            unserved_version: span_of("unserved_version"),
            skip_version: span_of("skip_version"),
            deprecated_version: parsed.get("deprecated_version").map(deprecation),
            conversion,
            annotations,
            labels,
            api_approved,
            standard_fields,
            group_name_in_code,
            informer_group_name,
        })
    }
}

fn deprecation(entry: &Entry) -> Deprecation {
    let warning = entry.nested().iter().find(|e| e.key.name == "warning").and_then(EntryValue::string);
    Deprecation { span: entry.span, warning }
}

fn invalid(code: Code, what: &str, text: &Spanned<String>, error: &NameError) -> Diagnostic {
    let message = format!("invalid {what} {:?}: {}", text.value, error.reason);
    let help = error.suggestion.as_ref().map(|better| format!("did you mean {better:?}?"));
    Diagnostic::error(code, text.span, message).help_opt(help.or_else(|| Some(hint(code).to_owned())))
}

/// The form of a valid name, for errors without a similar one.
fn hint(code: Code) -> &'static str {
    match code {
        Code::INVALID_GROUP => "groups look like this: \"hopegi.com\"",
        Code::INVALID_VERSION => "versions look like this: \"v1\", \"v1beta2\", \"v2alpha1\"",
        Code::INVALID_KIND => "kinds look like this: \"EcsBinding\"",
        Code::INVALID_CODE_NAME => "names in code look like this: \"EcsBind\"",
        _ => "resource names look like this: \"ecsbindings\"",
    }
}

/// Parses a name; an invalid one is reported.
pub(super) fn parse_name<T>(
    text: &Spanned<String>,
    code: Code,
    what: &str,
    parse: impl Fn(&str) -> Result<T, NameError>,
    diagnostics: &mut Diagnostics,
) -> Option<Spanned<T>> {
    match parse(&text.value) {
        Ok(name) => Some(Spanned::new(name, text.span)),
        Err(error) => {
            diagnostics.push(invalid(code, what, text, &error));
            None
        }
    }
}

/// Parses a version, and warns of one that resembles a conventional one.
pub(super) fn parse_version(
    text: &Spanned<String>,
    diagnostics: &mut Diagnostics,
) -> Option<Spanned<Version>> {
    let version = parse_name(text, Code::INVALID_VERSION, "API version", Version::parse, diagnostics)?;
    if let Some(likely) = version.value.likely() {
        let message = format!("the version {:?} has no rank and comes after all that have one", text.value);
        diagnostics.push(
            Diagnostic::warning(Code::UNUSUAL_VERSION, text.span, message)
                .help(format!("did you mean {likely:?}?")),
        );
    }
    Some(version)
}

struct Reader<'a> {
    parsed: &'a Parsed,
    diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn text(&self, key: &str) -> Option<Spanned<String>> {
        self.parsed.get(key).and_then(EntryValue::string)
    }

    fn parse<T>(
        &mut self,
        text: &Spanned<String>,
        code: Code,
        what: &str,
        parse: impl Fn(&str) -> Result<T, NameError>,
    ) -> Option<Spanned<T>> {
        parse_name(text, code, what, parse, self.diagnostics)
    }

    fn name<T>(
        &mut self,
        key: &str,
        code: Code,
        what: &str,
        parse: impl Fn(&str) -> Result<T, NameError>,
    ) -> Option<Spanned<T>> {
        let text = self.text(key)?;
        self.parse(&text, code, what, parse)
    }

    fn kind(&mut self, ident: &Ident) -> Option<Spanned<Kind>> {
        if self.parsed.get("kind").is_some() {
            return self.name("kind", Code::INVALID_KIND, "kind", Kind::parse);
        }
        let name = ident.to_string();
        match Kind::of_type(&name) {
            Ok(kind) => Some(Spanned::new(kind, ident.span())),
            Err(error) => {
                let better = error.suggestion.as_deref().unwrap_or("EcsBinding");
                self.diagnostics.push(
                    Diagnostic::error(
                        Code::INVALID_KIND,
                        ident.span(),
                        format!("`{name}` is not a valid kind: {}", error.reason),
                    )
                    .note("the name of the struct is the kind unless `kind` is given")
                    .help(format!("rename the struct, or add kind = {better:?} to #[resource]")),
                );
                None
            }
        }
    }

    fn list_kind(&mut self, kind: Option<&Spanned<Kind>>) -> Option<Spanned<Kind>> {
        if self.parsed.get("list_kind").is_none() {
            let kind = kind?;
            let list = Kind::parse(&format!("{}List", kind.value));
            if let Err(error) = &list {
                let message =
                    format!("the kind of lists, \"{}List\", is invalid: {}", kind.value, error.reason);
                let diagnostic = Diagnostic::error(Code::INVALID_KIND, kind.span, message);
                self.diagnostics.push(diagnostic.help("add list_kind = \"...\", or choose a shorter kind"));
            }
            return list.ok().map(|list| Spanned::new(list, kind.span));
        }
        let list = self.name("list_kind", Code::INVALID_KIND, "list kind", Kind::parse)?;
        if let Some(kind) = kind.filter(|kind| kind.value == list.value) {
            let message = format!("`list_kind` is the kind itself, {:?}", kind.value.as_str());
            let help = format!("write list_kind = \"{}List\", or leave the key out", kind.value);
            self.diagnostics.push(Diagnostic::error(Code::CONTRADICTION, list.span, message).help(help));
        }
        Some(list)
    }

    /// `plural` or `singular`, or the default from the kind.
    fn resource_name(
        &mut self,
        key: &str,
        default: impl FnOnce() -> String,
        kind: Option<&Spanned<Kind>>,
    ) -> Option<Spanned<PluralName>> {
        if self.parsed.get(key).is_some() {
            return self.name(key, Code::INVALID_RESOURCE_NAME, key, PluralName::parse);
        }
        let text = Spanned::new(default(), kind?.span);
        self.parse(&text, Code::INVALID_RESOURCE_NAME, key, PluralName::parse)
    }

    fn resource_names(&mut self, key: &str, what: &str) -> Vec<Spanned<PluralName>> {
        let texts: Vec<_> =
            self.parsed.entries.iter().filter(|e| e.key.name == key).flat_map(EntryValue::strings).collect();
        let mut names: Vec<Spanned<PluralName>> = Vec::new();
        for text in texts {
            let Some(name) = self.parse(&text, Code::INVALID_RESOURCE_NAME, what, PluralName::parse) else {
                continue;
            };
            if let Some(first) = names.iter().find(|other| **other == name) {
                let message = format!("the {what} {:?} is given twice", name.value.as_str());
                let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, name.span, message);
                self.diagnostics
                    .push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
            } else {
                names.push(name);
            }
        }
        names
    }

    fn scope(&self) -> Option<Spanned<Scope>> {
        let text = self.text("scope")?;
        Scope::parse(&text.value).map(|scope| Spanned::new(scope, text.span))
    }

    fn code_name(&mut self, key: &str) -> Option<Spanned<CodeName>> {
        self.name(key, Code::INVALID_CODE_NAME, "name in code", CodeName::parse)
    }

    fn metadata(&mut self) -> (Vec<StringPair>, Vec<StringPair>) {
        let mut annotations: Vec<StringPair> = Vec::new();
        let mut labels: Vec<StringPair> = Vec::new();
        let nested = self.parsed.entries.iter().filter(|e| e.key.name == "metadata").flat_map(|e| e.nested());
        for entry in nested {
            let Value::StringMap(pairs) = &entry.value else { continue };
            let is_label = entry.key.name == "labels";
            for (name, value) in pairs {
                let what = if is_label { "label" } else { "annotation" };
                let all = if is_label { &mut labels } else { &mut annotations };
                if let Err(error) = qualified_name(&name.value) {
                    self.diagnostics.push(metadata_error(&format!("{what} key"), name, &error));
                }
                if let Err(error) = label_value(&value.value).map_err(|e| (is_label, e))
                    && error.0
                {
                    self.diagnostics.push(metadata_error("label value", value, &error.1));
                }
                if let Some((first, _)) = all.iter().find(|(other, _)| other == name) {
                    let message = format!("the {what} {:?} is given twice", name.value);
                    let diagnostic = Diagnostic::error(Code::DUPLICATE_KEY, name.span, message);
                    self.diagnostics
                        .push(diagnostic.secondary(first.span, "first given here").help("keep one of them"));
                }
                all.push((name.clone(), value.clone()));
            }
        }
        (annotations, labels)
    }

    fn conversion(&mut self) -> Option<Spanned<Conversion>> {
        let entry = self.parsed.get("conversion")?;
        Some(Spanned::new(Conversion::read(entry, self.diagnostics), entry.span))
    }

    /// Whether a fact has an invalid value or a misspelt key, so that the module must not supply it.
    fn is_lost(&self, key: &str, is_found: bool) -> bool {
        !is_found && (self.parsed.get(key).is_some() || self.parsed.meant.contains(&key))
    }

    fn api_approved(&mut self) -> Option<Spanned<String>> {
        let text = self.text("api_approved")?;
        if !text.value.starts_with("unapproved") && !is_absolute_url(&text.value) {
            let message = format!("{:?} is neither a URL nor starts with \"unapproved\"", text.value);
            let help = "write the URL of the approving pull request, or \"unapproved, experimental-only\"";
            self.diagnostics
                .push(Diagnostic::error(Code::INVALID_API_APPROVED, text.span, message).help(help));
        }
        Some(text)
    }

    fn standard_fields(&mut self) -> Vec<(String, Option<Json>)> {
        let Some(entry) = self.parsed.get("standard_fields") else { return Vec::new() };
        let Value::Json(json) = &entry.value else { return Vec::new() };
        let mut out = Vec::new();
        let mut reasons = Vec::new();
        let names = "name apiVersion, kind or metadata: standard_fields = {\"metadata\": null}";
        match &json.value {
            Json::Object(members) => {
                for (name, schema) in members {
                    if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                        reasons.push((format!("`{name}` is not a standard field"), names));
                    } else if *schema == Json::Null {
                        out.push((name.clone(), None));
                    } else {
                        let help = "write keywords as a CRD has them: {\"type\": \"object\"}";
                        reasons.extend(check_schema(schema).err().map(|reason| (reason, help)));
                        out.push((name.clone(), Some(schema.clone())));
                    }
                }
            }
            _ => reasons.push(("`standard_fields` takes an object".to_owned(), names)),
        }
        for (reason, help) in reasons {
            self.diagnostics.push(Diagnostic::error(Code::WRONG_VALUE, json.span, reason).help(help));
        }
        out
    }

    /// Reports keys that would be ignored beside another one.
    fn contradictions(&mut self) {
        for (skip, other) in [
            ("skip_version", "storage_version"),
            ("skip_version", "unserved_version"),
            ("skip_version", "deprecated_version"),
            ("skip_version", "conversion"),
        ] {
            if let (Some(skip), Some(other)) = (self.parsed.get(skip), self.parsed.get(other)) {
                let message = format!("`{}` has no effect beside `skip_version`", other.key.name);
                self.diagnostics.push(
                    Diagnostic::error(Code::CONTRADICTION, other.span, message)
                        .secondary(skip.span, "the version is left out of the CRD here")
                        .help("keep one of them"),
                );
            }
        }
    }
}

fn metadata_error(what: &str, text: &Spanned<String>, error: &NameError) -> Diagnostic {
    let message = format!("invalid {what} {:?}: {}", text.value, error.reason);
    Diagnostic::error(Code::INVALID_METADATA, text.span, message)
        .help("write it like \"example.com/team\" = \"storage\"")
}
