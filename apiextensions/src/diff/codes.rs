//! The table of all kinds of changes with their verdicts, the only source of texts, documentation and verdicts.

use std::fmt;

/// The effect of a change on users of the API, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Objects that are stored, or were valid, are lost, cut or refused.
    Stored,
    /// Requests that worked fail, or do something else.
    Clients,
    /// Objects have to be converted or rewritten.
    Conversion,
    /// Every valid object stays valid and keeps its meaning.
    Compatible,
}

/// Every class, the gravest first.
pub const CLASSES: [Class; 4] = [Class::Stored, Class::Clients, Class::Conversion, Class::Compatible];

impl Class {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Class::Stored => "breaks-stored-objects",
            Class::Clients => "breaks-clients",
            Class::Conversion => "needs-conversion",
            Class::Compatible => "compatible",
        }
    }

    /// Returns the name in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Class::Stored => "breaks stored objects",
            Class::Clients => "breaks clients",
            Class::Conversion => "needs conversion",
            Class::Compatible => "compatible",
        }
    }
}

/// A remark beside the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// There are objects or requests that break.
    Certain,
    /// The definitions do not tell whether there are any.
    Unclear,
    /// The API server refuses the new definition while the old one exists.
    Refused,
}

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The code.
    pub code: ChangeCode,
    /// The name in output: `field-removed`.
    pub name: &'static str,
    /// Its effect.
    pub class: Class,
    /// A remark.
    pub certainty: Certainty,
    /// Whether API servers since 1.33 accept invalid values that an update does not change; see
    /// [`Ratchets`](super::Ratchets) for which.
    pub ratchets: bool,
    /// The change, in a few words.
    pub title: &'static str,
    /// The behaviour of an API server.
    pub reason: &'static str,
    /// Advice; empty if none is needed. Some compatible changes have one.
    pub help: &'static str,
}

impl ChangeCode {
    /// Returns its row.
    pub fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }

    /// Returns the code of this name.
    pub fn parse(name: &str) -> Option<Self> {
        RULES.iter().find(|rule| rule.name == name).map(|rule| rule.code)
    }
}

impl fmt::Display for ChangeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule().name)
    }
}

macro_rules! codes {
    ($($code:ident $name:literal $class:ident $certainty:ident $ratchets:literal $title:literal: $reason:literal $help:literal;)*) => {
        /// The change. The codes are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "the table has a title of each")]
        pub enum ChangeCode { $($code,)* }

        /// The rows, in the order of the codes.
        pub const RULES: &[Rule] = &[$(Rule {
            code: ChangeCode::$code,
            name: $name,
            class: Class::$class,
            certainty: Certainty::$certainty,
            ratchets: $ratchets,
            title: $title,
            reason: $reason,
            help: $help,
        },)*];
    };
}

codes! {
    DefinitionAdded "definition-added" Compatible Certain false "a definition is new": "nothing is stored of it yet" "";
    DefinitionRemoved "definition-removed" Stored Certain false "a definition is gone":
        "deleting a CustomResourceDefinition deletes all its objects"
        "keep it until no objects are left, or leave the definition in the cluster";
    GroupChanged "group-changed" Stored Certain false "the API group has changed":
        "this is another resource: objects stay in the old one, and clients ask for the old one"
        "serve both and copy the objects before the old definition goes";
    PluralChanged "plural-changed" Stored Certain false "the resource's name in URLs has changed":
        "this is another resource: objects stay in the old one, and clients ask for the old one"
        "keep the plural, or serve both and copy the objects";
    KindChanged "kind-changed" Stored Refused false "the kind has changed":
        "the kind of an established definition is immutable: an API server refuses the update"
        "keep the kind, or make another resource";
    ScopeChanged "scope-changed" Stored Refused false "the scope has changed":
        "the scope of an established definition is immutable: an API server refuses the update, and deleting the definition deletes \
         its objects"
        "keep the scope, or make another resource";
    ListKindChanged "list-kind-changed" Clients Certain false "the kind of lists has changed":
        "clients that check the kind of a list refuse it" "keep the name";
    SingularChanged "singular-changed" Clients Certain false "the singular name has changed":
        "commands such as `kubectl get NAME` that use it fail" "keep it, if only as a short name";
    ShortNameRemoved "short-name-removed" Clients Certain false "a short name is gone":
        "commands that use it fail" "keep it";
    ShortNameAdded "short-name-added" Compatible Certain false "a short name is new": "nothing used it before" "";
    CategoryRemoved "category-removed" Clients Certain false "a category is gone":
        "`kubectl get CATEGORY` does not show the objects any more" "keep it";
    CategoryAdded "category-added" Compatible Certain false "a category is new": "`kubectl get CATEGORY` shows more" "";
    ConversionWebhookAdded "conversion-webhook-added" Compatible Certain false "a webhook converts between versions":
        "objects that are stored in another version than a request asks for can neither be read nor written while the webhook \
         does not answer"
        "run the webhook before you install the definition, and while it is installed";
    ConversionWebhookRemoved "conversion-webhook-removed" Conversion Certain false "no webhook converts between versions any more":
        "with the strategy `None` an API server changes the apiVersion alone and drops fields that the other version does not know"
        "keep the webhook as long as versions differ";
    ConversionWebhookChanged "conversion-webhook-changed" Compatible Certain false "the conversion webhook is reached in another way":
        "objects stay as they are; the webhook has to be there" "";
    VersionAdded "version-added" Compatible Certain false "a version is new": "the other versions are served as before" "";
    StoredVersionRemoved "stored-version-removed" Stored Refused false "a version is gone in which objects may be stored":
        "the version is in status.storedVersions: an API server refuses a definition without it"
        "leave the version in, unserved if need be; store another one, rewrite all objects, take it out of \
         status.storedVersions, then remove it";
    VersionRemoved "version-removed" Clients Certain false "a served version is gone":
        "requests for the version are answered with 404"
        "deprecate it, then stop serving it, then remove it, each in a release of its own";
    UnservedVersionRemoved "unserved-version-removed" Compatible Certain false "a version that was not served is gone":
        "nobody could use it" "";
    VersionUnserved "version-unserved" Clients Certain false "a version is not served any more":
        "requests for the version are answered with 404"
        "deprecate it for some releases before, until no client asks for it; `kubesmith crd apply` takes the change with \
         `--allow version-unserved`";
    VersionServed "version-served" Compatible Certain false "a version is served now": "nobody could use it before" "";
    StorageVersionChanged "storage-version-changed" Conversion Certain false "objects are stored in another version":
        "objects that are there stay in the old version until they are written again, and are converted at each read"
        "keep the old version; rewrite all objects before it is removed";
    VersionsDiverge "versions-diverge" Conversion Certain false "a field is lost between versions":
        "with the strategy `None` an API server drops what the version of a request does not know: a client that reads and writes in that \
         version deletes the field"
        "add the field to the other versions too, or convert by a webhook that keeps it; if one is added to the definition later: \
         `kubesmith diff --conversion-webhook`";
    VersionsConflict "versions-conflict" Stored Certain false "a version refuses objects of another":
        "with the strategy `None` an API server changes the apiVersion alone: objects that exist are read in this version with \
         values that it refuses when they are written"
        "give the field one type in all versions, or convert with a webhook; if one is added to the definition later: \
         `kubesmith diff --conversion-webhook`";
    VersionsTightened "versions-tightened" Stored Certain true "a version checks more than another":
        "with the strategy `None` an API server changes the apiVersion alone: objects that exist are read in this version as \
         they are, and refused when they are written in it"
        "check no more than the other versions do, or correct the objects first, or convert with a webhook";
    VersionsDiffer "versions-differ" Conversion Certain false "objects written in one version do not fit another":
        "with the strategy `None` an API server changes the apiVersion alone: clients of this version meet objects that they \
         cannot decode, or not write back"
        "give the field one type in all versions, with the same fields required, or convert by a webhook";
    VersionDeprecated "version-deprecated" Compatible Certain false "a version is deprecated": "answers carry a warning" "";
    VersionUndeprecated "version-undeprecated" Compatible Certain false "a version is not deprecated any more":
        "answers carry no warning any more" "";
    DeprecationWarningChanged "deprecation-warning-changed" Compatible Certain false "the warning of a deprecated version has changed":
        "answers carry another warning" "";
    StatusSubresourceAdded "status-subresource-added" Clients Certain false "status is a subresource now":
        "writes to the object leave out its status; it takes a request to /status"
        "let controllers write the status by its subresource before";
    StatusSubresourceRemoved "status-subresource-removed" Clients Certain false "status is not a subresource any more":
        "requests to /status are answered with 404, and writes to the object change its status" "keep the subresource";
    ScaleSubresourceAdded "scale-subresource-added" Compatible Certain false "the scale subresource is new": "nobody used it before" "";
    ScaleSubresourceRemoved "scale-subresource-removed" Clients Certain false "the scale subresource is gone":
        "`kubectl scale` and autoscalers fail" "keep the subresource";
    ScaleSubresourceChanged "scale-subresource-changed" Clients Certain false "the scale subresource has other paths":
        "`kubectl scale` and autoscalers read and write other fields" "keep the paths";
    ScaleSelectorAdded "scale-selector-added" Compatible Certain false "the scale subresource has a selector":
        "autoscalers can find the pods" "";
    SelectableFieldAdded "selectable-field-added" Compatible Certain false "a field can be selected by": "nobody used it before" "";
    SelectableFieldRemoved "selectable-field-removed" Clients Certain false "a field cannot be selected by any more":
        "lists and watches with a field selector for it are refused" "keep it";
    ColumnsChanged "columns-changed" Compatible Certain false "the printer columns have changed":
        "tables change; objects do not" "";
    DocumentationChanged "documentation-changed" Compatible Certain false "descriptions have changed": "nothing is checked by them" "";
    UpdateRefused "update-refused" Stored Refused false "an API server refuses the new definition":
        "the old definition stays in force" "correct it; `kubesmith generate` refuses such definitions and points at the source";

    FieldAdded "field-added" Compatible Certain false "a field is new": "no object has it" "";
    FieldRemoved "field-removed" Stored Certain false "a field is gone":
        "an API server drops the field when an object is read, and the next write deletes it for good"
        "keep the field, deprecated in its description, or remove it in a new version with a conversion that keeps it";
    FieldDeclared "field-declared" Stored Certain false "a field that was free has a schema":
        "objects may hold any value there, since unknown fields were kept; other values are now cut or refused"
        "check the stored objects, or keep the field free";
    FieldUndeclared "field-undeclared" Compatible Certain false "a field has no schema any more":
        "its values are kept, as all unknown fields are, and not checked" "";
    TypeChanged "type-changed" Stored Certain false "the type has changed":
        "values of the old type are refused when they are written, and neither clients nor server-side apply can decode them"
        "add a field with the new type beside it, or change it in a new version with a conversion";
    TypeWidened "type-widened" Compatible Certain false "the type admits more": "all values stay valid; clients may meet others" "";
    RequiredAdded "required-added" Stored Certain false "a field is required":
        "objects without the field are refused at the next write" "give it a default, or leave it optional";
    RequiredAddedWithDefault "required-added-with-default" Compatible Certain false "a field with a default is required":
        "objects without the field are read with the default" "";
    RequiredRemoved "required-removed" Compatible Certain false "a field is not required any more":
        "all objects stay valid; clients may meet objects without it" "";
    NullableRemoved "nullable-removed" Stored Certain false "null is not admitted any more":
        "a stored null is dropped, replaced by the default, or refused" "keep the field nullable";
    NullableAdded "nullable-added" Compatible Certain false "null is admitted": "all values stay valid; clients may meet null" "";
    EnumAdded "enum-added" Stored Certain true "only listed values are admitted":
        "objects with other values are refused at the next write" "list all values that are in use";
    EnumNarrowed "enum-narrowed" Stored Certain true "values are gone from the enum":
        "objects with these values are refused at the next write" "keep the values as long as objects have them";
    EnumWidened "enum-widened" Compatible Certain false "the enum has more values":
        "all values stay valid; clients may meet one that they do not know" "";
    EnumRemoved "enum-removed" Compatible Certain false "all values are admitted":
        "all values stay valid; clients may meet one that they do not know" "";
    BoundTightened "bound-tightened" Stored Certain true "a bound is tighter":
        "objects beyond the bound are refused at the next write" "keep the bound, or correct the objects first";
    BoundLoosened "bound-loosened" Compatible Certain false "a bound is looser": "all values stay valid" "";
    FormatAdded "format-added" Stored Certain true "a format is checked":
        "objects with other texts or numbers are refused at the next write" "omit the format, or correct the objects first";
    FormatChanged "format-changed" Stored Unclear true "another format is checked":
        "whether values of the one are values of the other depends on what is stored" "check the stored objects";
    FormatRemoved "format-removed" Compatible Certain false "a format is not checked any more, or a wider one":
        "all values stay valid" "";
    PatternAdded "pattern-added" Stored Certain true "a pattern is checked":
        "objects with other texts are refused at the next write" "omit the pattern, or correct the objects first";
    PatternChanged "pattern-changed" Stored Unclear true "another pattern is checked":
        "whether texts that match the one match the other depends on what is stored" "check the stored objects";
    PatternRemoved "pattern-removed" Compatible Certain false "a pattern is not checked any more": "all values stay valid" "";
    ConstraintChanged "constraint-changed" Compatible Certain false "constraints are said in another way":
        "the values that are admitted are the same" "";
    ListTypeTightened "list-type-tightened" Stored Certain false "items or their keys have to be unique":
        "objects with repeated items are refused when they are made again, and by server-side apply"
        "check the stored objects, or leave the list atomic";
    ListTypeLoosened "list-type-loosened" Clients Certain false "the list is replaced as a whole":
        "an apply takes ownership of the whole list, including items of other managers" "keep the list type";
    ListKeysNarrowed "list-keys-narrowed" Stored Certain false "the keys of items have changed":
        "items that differed in the old keys may now be the same: objects with them are refused when they are made again, and by \
         server-side apply"
        "keep the keys";
    ListKeysWidened "list-keys-widened" Clients Certain false "items have more keys":
        "server-side apply and strategic patches that named items by the old keys make new items" "keep the keys";
    MapTypeChanged "map-type-changed" Clients Certain false "server-side apply merges the object in another way":
        "an apply of a part owns the whole object, or only the part where it owned the whole object" "keep the map type";
    DefaultAdded "default-added" Compatible Certain false "a field has a default":
        "objects without the field are read with the default, which is valid; controllers no longer see it absent" "";
    DefaultAddedUnderRule "default-added-under-rule" Stored Unclear false "a default meets a rule":
        "the default is put into stored objects at each read; a rule, a bound or a junctor around it may refuse the result"
        "see whether the rules accept objects with the default";
    DefaultChanged "default-changed" Clients Certain false "the default has changed":
        "clients that omit the field get the new default; objects that are stored keep theirs" "keep the default, or tell users";
    DefaultRemoved "default-removed" Clients Certain false "a field has no default any more":
        "objects without the field stay without it" "keep the default, or let clients cope with an absent field";
    DefaultRemovedFromRequired "default-removed-from-required" Stored Unclear false "a required field has no default any more":
        "objects that were stored before there was a default, and requests without the field, are refused" "keep the default";
    PruningAdded "pruning-added" Stored Certain false "unknown fields are dropped":
        "an API server drops them when an object is read, and the next write deletes them for good"
        "declare the fields that are in use before";
    PruningRemoved "pruning-removed" Compatible Certain false "unknown fields are kept": "nothing is lost" "";
    EmbeddedResourceAdded "embedded-resource-added" Stored Certain false "the value is an embedded resource":
        "values without apiVersion and kind, or with invalid metadata, are refused at the next write" "check the stored objects";
    EmbeddedResourceRemoved "embedded-resource-removed" Stored Certain false "the value is not an embedded resource any more":
        "apiVersion, kind and metadata are dropped like any other unknown field" "declare them, or keep unknown fields";
    EmbeddedResourceOpened "embedded-resource-opened" Compatible Certain false "the value is not an embedded resource any more, and unknown fields stay":
        "nothing is lost; apiVersion, kind and metadata are not checked" "";
    JunctorTightened "junctor-tightened" Stored Unclear true "alternatives or conditions have changed":
        "whether stored values satisfy `allOf`, `anyOf`, `oneOf` or `not` as they are now depends on what is stored"
        "check the stored objects";
    JunctorLoosened "junctor-loosened" Compatible Certain false "alternatives are more or conditions fewer": "all values stay valid" "";
    RuleAdded "rule-added" Stored Unclear true "a CEL rule is new":
        "objects that break it are refused at the next write" "check the stored objects, or make the rule accept them";
    RuleTightened "rule-tightened" Stored Unclear true "a CEL rule accepts less":
        "objects that break it are refused at the next write" "check the stored objects, or make the rule accept them";
    RuleChanged "rule-changed" Stored Unclear true "a CEL rule has changed":
        "its text does not show whether it accepts the same objects as the old one" "check the stored objects";
    RuleOldSelfChanged "rule-old-self-changed" Stored Unclear false "a CEL rule sees the old value in another way":
        "with `optionalOldSelf` a rule runs when an object is made as well, and its `oldSelf` is an optional"
        "look at what the rule says of objects without an old value";
    TransitionRuleAdded "transition-rule-added" Clients Certain false "a CEL rule about updates is new":
        "stored objects stay valid; updates that the rule forbids are refused" "tell users which updates are refused";
    TransitionRuleChanged "transition-rule-changed" Clients Certain false "a CEL rule about updates has changed":
        "stored objects stay valid; updates that the rule forbids are refused" "tell users which updates are refused";
    RuleLoosened "rule-loosened" Compatible Certain false "a CEL rule accepts more": "all values stay valid" "";
    RuleRemoved "rule-removed" Compatible Certain false "a CEL rule is gone": "all values stay valid" "";
    RuleAboutNewFields "rule-about-new-fields" Compatible Certain false "a CEL rule is about new fields":
        "stored objects do not have the fields, or have their defaults, and the rule accepts that" "";
    RuleMessageChanged "rule-message-changed" Compatible Certain false "the message of a CEL rule has changed":
        "the same values are admitted" "";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_described() {
        for (at, rule) in RULES.iter().enumerate() {
            assert_eq!(rule.code as usize, at);
            assert_eq!(ChangeCode::parse(rule.name), Some(rule.code));
            assert!(!rule.title.is_empty() && !rule.reason.is_empty(), "{}", rule.name);
            // A webhook that is added has to run, though the definition is compatible.
            let has_help = rule.class != Class::Compatible || rule.code == ChangeCode::ConversionWebhookAdded;
            assert_eq!(!rule.help.is_empty(), has_help, "{}", rule.name);
            for text in [rule.title, rule.reason, rule.help] {
                assert!(!text.ends_with('.') && !text.contains(['|', '\n']), "{text}");
            }
        }
    }
}
