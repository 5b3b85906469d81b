//! Markers in doc comments mean what the attributes mean.

use kubesmith_core::diag::Diagnostics;
use kubesmith_core::grammar::{
    Entry, Family, ItemAttributes, Json, Number, Place, Places, Target, Value, definitions, marker_text,
    parse_attributes,
};
use kubesmith_core::model::{ModuleAttrs, TypeModel};
use syn::parse_quote;

use super::{check_root, check_struct};

fn place(places: Places) -> Place {
    [Place::Root, Place::Struct, Place::Field].into_iter().find(|place| places.contains(*place)).unwrap()
}

/// A key with its value.
fn show(entry: &Entry) -> String {
    match &entry.value {
        Value::Nested(inner) => format!("{}({})", entry.key.name, inner.iter().map(show).collect::<String>()),
        value => format!("{} {value:?}; ", entry.key.name),
    }
}

/// The entries of a family as text without places.
fn entries(family: Family, place: Place, source: &str) -> String {
    let item: syn::ItemStruct = syn::parse_str(&format!("{source}\nstruct S;")).unwrap();
    let mut diagnostics = Diagnostics::new();
    let parsed = parse_attributes(family, &ItemAttributes::new(&item.attrs), place, &mut diagnostics);
    let wrong: Vec<_> = diagnostics.take().iter().map(|d| d.to_text()).collect();
    assert!(wrong.is_empty(), "{source}: {wrong:?}");
    let values: String = parsed.entries.iter().map(show).collect();
    super::table::without_places(&format!("{} {values}", parsed.span.is_some()))
}

#[test]
fn every_marker_parses_to_the_entry_of_its_attribute() {
    let mut count = 0;
    for definition in definitions().values() {
        let marker = marker_text(definition);
        let (attribute, family) = match definition.target {
            Target::Module(_) => continue,
            Target::Attribute(family) | Target::Key(family, _) | Target::Arguments(family) => {
                (definition.attribute(), family)
            }
            Target::Item(..) => (definition.attribute(), Family::Validation),
        };
        let place = place(definition.places);
        assert_eq!(
            entries(family, place, &format!("/// {marker}")),
            entries(family, place, &attribute),
            "{marker} {attribute}"
        );
        count += 1;
    }
    assert!(count >= 80, "{count} markers");
}

#[test]
fn every_marker_of_controller_gen_is_known() {
    // The names that controller-gen -w prints; `items:` before each of the first group as well.
    let validation = [
        "Maximum",
        "Minimum",
        "MultipleOf",
        "ExclusiveMaximum",
        "ExclusiveMinimum",
        "UniqueItems",
        "MaxLength",
        "MinLength",
        "MaxItems",
        "MinItems",
        "MaxProperties",
        "MinProperties",
        "Pattern",
        "Format",
        "Type",
        "Enum",
        "XPreserveUnknownFields",
        "XEmbeddedResource",
        "XIntOrString",
        "XValidation",
    ];
    let others = [
        "kubebuilder:validation:Required",
        "kubebuilder:validation:Optional",
        "required",
        "optional",
        "k8s:required",
        "k8s:optional",
        "nullable",
        "kubebuilder:default",
        "default",
        "kubebuilder:example",
        "kubebuilder:validation:EmbeddedResource",
        "kubebuilder:validation:Schemaless",
        "k8s:immutable",
        "kubebuilder:validation:ExactlyOneOf",
        "kubebuilder:validation:AtMostOneOf",
        "kubebuilder:validation:AtLeastOneOf",
        "kubebuilder:pruning:PreserveUnknownFields",
        "kubebuilder:title",
        "kubebuilder:externalDocs",
        "listType",
        "listMapKey",
        "mapType",
        "structType",
        "k8s:listType",
        "k8s:listMapKey",
        "kubebuilder:subresource:status",
        "kubebuilder:subresource:scale",
        "kubebuilder:printcolumn",
        "kubebuilder:resource",
        "kubebuilder:storageversion",
        "kubebuilder:skipversion",
        "kubebuilder:unservedversion",
        "kubebuilder:deprecatedversion",
        "kubebuilder:metadata",
        "kubebuilder:selectablefield",
        "groupName",
        "versionName",
        "kubebuilder:skip",
        "kubebuilder:object:root",
        "genclient",
        "genclient:nonNamespaced",
        "genclient:noVerbs",
        "genclient:noStatus",
        "genclient:readonly",
        "genclient:onlyVerbs",
        "genclient:skipVerbs",
        "genclient:method",
        "resourceName",
        "groupGoName",
    ];
    let prefixed = |prefix: &str| validation.map(|name| format!("kubebuilder:validation:{prefix}{name}"));
    let names = prefixed("").into_iter().chain(prefixed("items:")).chain(others.map(str::to_owned));
    for name in names {
        assert!(definitions().contains_key(&name), "{name}");
    }
}

#[test]
fn marker_arguments_parse_as_in_controller_gen() {
    for (marker, attribute) in [
        ("+kubebuilder:validation:Enum=a;\"b c\";3", "#[validation(enum(\"a\", \"b c\", 3))]"),
        ("+kubebuilder:validation:Enum={a,b}", "#[validation(enum(\"a\", \"b\"))]"),
        ("+kubebuilder:validation:Pattern=`^[a-z]{1,3}$`", "#[validation(pattern = \"^[a-z]{1,3}$\")]"),
        ("+kubebuilder:validation:Pattern=^[a-z]+$", "#[validation(pattern = \"^[a-z]+$\")]"),
        ("+kubebuilder:validation:Minimum=-1.5", "#[validation(minimum = -1.5)]"),
        ("+kubebuilder:validation:UniqueItems=true", "#[validation(unique_items)]"),
        (
            "+kubebuilder:validation:XValidation:rule=\"self.a <= self.b\",message=b is less,optionalOldSelf=true",
            "#[validation(rule(rule = \"self.a <= self.b\", message = \"b is less\", optional_old_self))]",
        ),
        ("+kubebuilder:validation:ExactlyOneOf=a;b", "#[validation(exactly_one_of(\"a\", \"b\"))]"),
    ] {
        let (left, right) = (format!("/// {marker}"), attribute);
        assert_eq!(
            entries(Family::Validation, Place::Struct, &left),
            entries(Family::Validation, Place::Struct, right)
        );
    }
    for (marker, attribute) in [
        ("+kubebuilder:default=12", "#[schema(default = 12)]"),
        ("+kubebuilder:default:=12", "#[schema(default = 12)]"),
        ("+kubebuilder:default={a: 1, b: {x,y}}", "#[schema(default = {a: 1, b: [\"x\", \"y\"]})]"),
        ("+kubebuilder:default=a;b", "#[schema(default = [\"a\", \"b\"])]"),
        ("+default={\"a\": [1, null]}", "#[schema(default = {\"a\": [1, null]})]"),
        ("+kubebuilder:title=A rank", "#[schema(title = \"A rank\")]"),
        ("+listMapKey=a", "#[schema(list_map_key = \"a\")]"),
    ] {
        let left = format!("/// {marker}");
        assert_eq!(
            entries(Family::Schema, Place::Field, &left),
            entries(Family::Schema, Place::Field, attribute)
        );
    }
    for (marker, attribute) in [
        (
            "+kubebuilder:resource:path=axes,shortName=ax;axe,categories={all,tools},scope=Cluster",
            "#[resource(plural = \"axes\", short_name(\"ax\", \"axe\"), category(\"all\", \"tools\"), scope = \"Cluster\")]",
        ),
        (
            "+kubebuilder:metadata:annotations=\"a=b\";\"c=d=e\",labels={\"x=y\"}",
            "#[resource(metadata(annotations(\"a\" = \"b\", \"c\" = \"d=e\"), labels(\"x\" = \"y\")))]",
        ),
        ("+kubebuilder:deprecatedversion", "#[resource(deprecated_version)]"),
        (
            "+kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`,priority=1",
            "#[resource(print_column(name = \"Age\", type = \"date\", json_path = \".metadata.creationTimestamp\", priority = 1))]",
        ),
    ] {
        let left = format!("/// {marker}");
        assert_eq!(
            entries(Family::Resource, Place::Root, &left),
            entries(Family::Resource, Place::Root, attribute)
        );
    }
    for (marker, attribute) in [
        ("+genclient", "#[genclient]"),
        ("+genclient:onlyVerbs=get,list", "#[genclient(only_verbs(\"get\", \"list\"))]"),
        (
            "+genclient:method=Bind, verb=create , subresource=binding",
            "#[genclient(method(name = \"Bind\", verb = \"create\", subresource = \"binding\"))]",
        ),
    ] {
        let left = format!("/// {marker}");
        assert_eq!(
            entries(Family::Genclient, Place::Root, &left),
            entries(Family::Genclient, Place::Root, attribute)
        );
    }
}

#[test]
fn errors_in_markers_are_reported() {
    for (marker, expected) in [
        ("+kubebuilder:validation:Minimun=1", "KS0011: unknown marker `+kubebuilder:validation:Minimun`"),
        ("+optional some text", "KS0011: unknown marker `+optional some text`"),
        (
            "+kubebuilder:validation:Minimum=x",
            "KS0004: expected a number, found `x` in `+kubebuilder:validation:Minimum`",
        ),
        ("+kubebuilder:validation:Minimum", "KS0004: `+kubebuilder:validation:Minimum` needs a value"),
        (
            "+kubebuilder:validation:Pattern=a{1,2}",
            "KS0012: unexpected `,2}` after the value of `+kubebuilder:validation:Pattern`",
        ),
        (
            "+kubebuilder:validation:Type=text",
            "KS0007: unknown value \"text\" of `+kubebuilder:validation:Type`",
        ),
        ("+kubebuilder:default=\"open", "KS0012: the string is not closed in `+kubebuilder:default`"),
        ("+default=bare", "KS0012: the value of `+default` is not JSON"),
        ("+default=ref(k8s.io/api.Foo)", "KS0012: the value of `+default` is not JSON"),
        ("+kubebuilder:title=5", "KS0004: `+kubebuilder:title` takes a string, found an integer"),
        ("+kubebuilder:externalDocs:url=\"no\"", "KS0309: \"no\" is not an absolute URL"),
        (
            "+kubebuilder:externalDocs:description=x",
            "KS0009: `+kubebuilder:externalDocs` needs the argument `url`",
        ),
        ("+kubebuilder:externalDocs:ulr=x", "KS0002: unknown argument `ulr` of `+kubebuilder:externalDocs`"),
        ("+kubebuilder:externalDocs=x", "KS0012: `+kubebuilder:externalDocs` takes arguments"),
        ("+kubebuilder:printcolumn:name=x", "KS0006: `+kubebuilder:printcolumn` cannot stand on a field"),
        ("+groupName=a.b", "KS0006: `+groupName` cannot stand on a field"),
        ("+kubebuilder:skip", "KS0006: `+kubebuilder:skip` cannot stand on an item"),
        (
            "+kubebuilder:validation:ExactlyOneOf=a;b",
            "KS0006: `+kubebuilder:validation:ExactlyOneOf` cannot stand on a field",
        ),
        (
            "+kubebuilder:validation:UniqueItems=false",
            "KS0004: `+kubebuilder:validation:UniqueItems=false` has no effect",
        ),
        ("+k8s:deepcopy-gen=true", "KS0013: `+k8s:deepcopy-gen` has no meaning for Rust types"),
        ("+kubebuilder:rbac:groups=a", "KS0006: `+kubebuilder:rbac` cannot stand on a field"),
    ] {
        let found = check_struct(&format!("struct Foo {{\n/// {marker}\na: T\n}}"));
        assert_eq!(found, [expected], "{marker}");
    }
    for (marker, expected) in [
        (
            "+kubebuilder:metadata:annotations=\"none\"",
            "KS0004: \"none\" in `annotations` is not of the form \"name=value\"",
        ),
        ("+genclient=x", "KS0004: `+genclient=x` says something else than `+genclient`"),
        (
            "+kubebuilder:object:root=false",
            "KS0004: `+kubebuilder:object:root=false` says something else than `+kubebuilder:object:root=true`",
        ),
        ("+genclient:method", "KS0004: `+genclient:method` needs a value"),
        ("+genclient:method=", "KS0005: `method` is empty"),
        ("+genclient:method=A", "KS0009: `+genclient:method` needs the argument `verb`"),
        ("+genclient:method=A,get", "KS0012: expected `name=value` in `+genclient:method`, found `get`"),
        ("+genclient:method=A,vreb=get", "KS0002: unknown argument `vreb` of `+genclient:method`"),
        ("+genclient:method=A,verb=watch", "KS0007: unknown value \"watch\" of `verb`"),
        ("+genclient:method=A,verb=get,verb=list", "KS0003: `verb` is already set"),
        ("+genclient:onlyVerbs=fetch", "KS0007: unknown value \"fetch\" of `+genclient:onlyVerbs`"),
        ("+optional", "KS0006: `+optional` cannot stand on the type that derives `Resource`"),
        ("+kubebuilder:resource:scope=cluster", "KS0007: unknown value \"cluster\" of `scope`"),
        ("+kubebuilder:resource:paht=x", "KS0002: unknown argument `paht` of `+kubebuilder:resource`"),
    ] {
        let found = check_root(&format!(
            "/// {marker}\n#[resource(group = \"a.b\", version = \"v1\")] struct Foo {{ metadata: ObjectMeta, spec: S }}"
        ));
        assert_eq!(found, [expected], "{marker}");
    }
}

#[test]
fn duplicate_setting_is_an_error_in_either_notation() {
    for fields in [
        "/// +kubebuilder:validation:Minimum=1\n#[validation(minimum = 1)] a: i32",
        "#[validation(minimum = 1)]\n/// +kubebuilder:validation:Minimum=2\na: i32",
        "/// +kubebuilder:validation:Minimum=1\n/// +kubebuilder:validation:Minimum=1\na: i32",
        "/// +kubebuilder:validation:items:MinLength=1\n#[validation(items(min_length = 1))] a: Vec<String>",
        "/// +kubebuilder:default=1\n#[schema(default = 1)] a: i32",
        "/// +k8s:required\n/// +k8s:required\na: i32",
        "/// +k8s:listType=set\n/// +listType=atomic\na: Vec<i32>",
        "/// +kubebuilder:validation:Required\n#[schema(required)] a: i32",
    ] {
        let found = check_struct(&format!("struct Foo {{\n{fields}\n}}"));
        assert!(found.len() == 1 && found[0].starts_with("KS0003"), "{fields}: {found:?}");
    }
    let both =
        "/// +kubebuilder:validation:items:MinLength=1\n#[validation(items(max_length = 2))] a: Vec<String>";
    assert_eq!(check_struct(&format!("struct Foo {{\n{both}\n}}")), [""; 0]);
    let found = check_struct("struct Foo {\n/// +required\n#[validation(optional)] a: i32\n}");
    assert_eq!(found, ["KS0311: the field is `+required` and `+kubebuilder:validation:Optional`"]);
}

#[test]
fn default_of_empty_braces_fits_lists_maps_and_structs() {
    for ty in ["Vec<String>", "BTreeMap<String, String>", "Thing"] {
        let found = check_struct(&format!("struct Foo {{\n/// +kubebuilder:default={{}}\na: {ty}\n}}"));
        assert_eq!(found, [""; 0], "{ty}");
    }
}

#[test]
fn module_markers_are_read() {
    let read = |text: &str| {
        let file: syn::File = syn::parse_str(text).unwrap();
        let mut diagnostics = Diagnostics::new();
        let attrs = ModuleAttrs::read(&file.attrs, &mut diagnostics);
        (attrs, super::texts(diagnostics))
    };
    let (attrs, wrong) = read(
        "//! Text.\n//! +groupName=a.b\n//! +versionName=v1\n//! +kubebuilder:skip\n//! +kubebuilder:validation:Optional",
    );
    assert_eq!(wrong, [""; 0]);
    assert_eq!(attrs.group.unwrap().value.as_str(), "a.b");
    assert!(attrs.skip.is_some() && attrs.presence.is_some());
    for (text, expected) in [
        ("//! +optional", "KS0006: `+optional` cannot stand in the documentation of a module"),
        ("//! +grupName=a.b", "KS0011: unknown marker `+grupName`"),
        ("//! +groupName=a", "KS0201: invalid API group \"a\": it needs at least one dot"),
        ("//! +groupName=a.b\n//! +groupName=a.b", "KS0003: `+groupName` is already set"),
        (
            "//! +kubebuilder:validation:Optional\n//! +kubebuilder:validation:Required",
            "KS0311: the fields of the module are required and optional by default",
        ),
    ] {
        assert_eq!(read(text).1, [expected], "{text}");
    }
}

#[test]
fn markers_in_doc_attributes_are_read() {
    let item: syn::ItemStruct = parse_quote!(
        #[doc = " +kubebuilder:validation:MinProperties=1"]
        struct S {}
    );
    let mut diagnostics = Diagnostics::new();
    let parsed = parse_attributes(
        Family::Validation,
        &ItemAttributes::new(&item.attrs),
        Place::Struct,
        &mut diagnostics,
    );
    assert_eq!(parsed.entries.len(), 1);
    assert!(diagnostics.is_empty());
}

#[test]
fn equivalent_markers_are_merged() {
    let same = [
        ("+optional", "+k8s:optional", "optional"),
        ("+optional", "+kubebuilder:validation:Optional", "optional"),
        ("+kubebuilder:validation:Required", "+required", "required"),
        ("+k8s:required", "+required", "required"),
    ];
    for (a, b, presence) in same {
        let source = format!("struct S {{\n/// {a}\n/// {b}\na: Option<String> }}");
        assert!(check_struct(&source).is_empty(), "{a} {b}");
        let item: syn::ItemStruct = syn::parse_str(&source).unwrap();
        let model = TypeModel::from_struct(&item, Place::Struct, &mut Diagnostics::new());
        let found = format!("{:?}", model.named_fields()[0].presence.as_ref().unwrap().value);
        assert_eq!(found.to_lowercase(), presence);
    }
    let schema = |text: &str| entries(Family::Schema, Place::Field, text);
    assert_eq!(schema("/// +listType=set\n/// +k8s:listType=set"), schema("/// +listType=set"));
    let keys = [
        "/// +listMapKey=a\n/// +k8s:listMapKey=a\n/// +listMapKey=b",
        "/// +listMapKey=a\n/// +listMapKey=b",
    ];
    assert_eq!(schema(keys[0]), schema(keys[1]));
    for pair in
        ["/// +default={}\n/// +kubebuilder:default={}", "/// +kubebuilder:default={}\n/// +default={}"]
    {
        assert_eq!(schema(pair), schema("/// +kubebuilder:default={}"));
    }
}

#[test]
fn kubebuilder_default_overrides_default_marker() {
    let markers = ["/// +kubebuilder:default=1\n", "/// +default=2\n"];
    for source in [markers.concat(), markers.into_iter().rev().collect()] {
        let item: syn::ItemStruct = syn::parse_str(&format!("struct S {{ {source} a: i32 }}")).unwrap();
        let mut diagnostics = Diagnostics::new();
        let model = TypeModel::from_struct(&item, Place::Struct, &mut diagnostics);
        assert_eq!(
            model.named_fields()[0].schema.default.as_ref().unwrap().value,
            Json::Number(Number::Int(1))
        );
        let found: Vec<String> = diagnostics.take().iter().map(|d| d.to_text()).collect();
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("`+default` has no effect beside `+kubebuilder:default`"), "{found:?}");
    }
}
