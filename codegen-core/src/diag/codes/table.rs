//! The codes with their explanations, in ascending order.

use super::{Code, CodeInfo};

macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal, $help:expr;)*) => {
        impl Code {
            $(#[doc = $title] pub const $name: Self = Self($number);)*
        }

        /// Every code in ascending order.
        pub static CODES: &[CodeInfo] = &[
            $(CodeInfo { code: Code::$name, title: $title, help: $help },)*
        ];
    };
}

// 00xx attributes, 01xx root types, 02xx names, 03xx validation and schema keys,
// 04xx loading and resolving, 05xx rules across items, 06xx configuration and output, 07xx conventions,
// 08xx roles, webhooks and policies, 09xx definitions that are imported, 10xx Go packages.
codes! {
    MALFORMED_ATTRIBUTE = 1, "malformed attribute",
        "Attributes are lists of keys separated by commas: a bare `key`, `key = value` or `key(...)`. Values are \
         literals: strings, numbers, `true`, `false`, lists in `[...]` and objects in `{...}`. Paths, constants and \
         expressions are not evaluated, because the source is read without running it.";
    UNKNOWN_KEY = 2, "unknown key",
        "The attribute has no such key. Every key that is accepted has an effect, so a misspelt one is an error. \
         `kubesmith explain ATTRIBUTE` lists the keys of an attribute.";
    DUPLICATE_KEY = 3, "key or entry given twice",
        "The key may be given once per type or field, over all attributes of its family. `kubesmith explain KEY` \
         says so of a key that may be repeated.";
    WRONG_VALUE = 4, "value of the wrong kind",
        "The key takes a value of another kind: a flag takes none, others a string, an integer, a number, a list or \
         nested keys. `kubesmith explain KEY` shows an example.";
    EMPTY_STRING = 5, "empty value",
        "An empty string or list has no meaning for this key. Leave the key out instead.";
    WRONG_PLACE = 6, "attribute or key in the wrong place",
        "Some attributes describe the root type of a resource, some a type, some a field. `kubesmith \
         explain KEY` says where a key may stand.";
    UNKNOWN_VALUE = 7, "unknown value",
        "The key takes one of a few fixed values, which the message lists.";
    NUMBER_RANGE = 8, "number out of range",
        "The number does not fit the range of the key: lengths and counts start at zero, integers have 64 bits, a \
         column's priority has 32.";
    MISSING_KEY = 9, "missing key",
        "The attribute needs this key to make sense.";
    CONTRADICTION = 10, "keys contradict each other",
        "Two keys say opposite things, so that one of them would have to be ignored. Keep the one that is meant.";
    UNKNOWN_MARKER = 11, "unknown marker",
        concat!("A line of a doc comment that begins with `+` and a letter is a marker of controller-gen or client-gen, such as \
         `+kubebuilder:validation:Minimum=1`. This one is not known; it would silently do nothing. ",
         book!("reference/attributes.md"), " lists all markers with the attributes that they stand for.");
    MALFORMED_MARKER = 12, "malformed marker",
        "Markers are written as for controller-gen: `+name`, `+name=value` or `+name:argument=value,argument=value`. Values \
         are bare, quoted or raw (backtick) strings, numbers, `true`, `false`, lists `a;b` or `{a, b}` and maps \
         `{key: value}`. A text that contains commas, semicolons or braces needs quotes. `+default` takes JSON.";
    MEANINGLESS_MARKER = 13, "marker without a meaning for Rust types",
        "The marker belongs to a generator that Rust types do not need, or another marker overrides it. The line has no \
         effect and can be removed.";
    PLAIN_COMMENT_MARKER = 14, "marker in a comment that is not a doc comment",
        "Go's markers are in `//` comments. In Rust, only doc comments are read: write `///` on types and fields, `//!` at \
         the top of a module.";
    SERDE_ATTRIBUTE = 15, "serde attribute that serde refuses",
        "serde's derive macros refuse unknown keys and rules, values of another form, keys given twice and keys that exclude each other, but only \
         when the crate is compiled. Until then, a misspelt `rename_all` has no effect. https://serde.rs/attributes.html lists the keys.";
    UNKNOWN_ATTRIBUTE = 16, "unknown attribute",
        "The attribute does not exist, and its name is similar to one of ours or serde's. rustc refuses it, but only when the crate \
         is compiled. Until then, its keys have no effect.";

    ROOT_NOT_A_STRUCT = 101, "a resource must be a struct with named fields",
        "A Kubernetes object has the fields `metadata`, `spec` and often `status`; the type that derives `Resource` \
         is that object and has to be a struct with named fields.";
    ROOT_GENERICS = 102, "a resource cannot be generic",
        "A kind has one schema, so its root type takes neither type, const nor lifetime parameters. Nested types \
         may be generic.";
    MISSING_METADATA = 103, "missing metadata",
        "Every Kubernetes object has metadata. The root type needs the field `pub metadata: ObjectMeta`, of the \
         type `k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta`.";
    WRONG_METADATA = 104, "metadata has the wrong type",
        "The field `metadata` must have the type `k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta`, not \
         wrapped in `Option` or anything else.";
    MISSING_SPEC = 105, "no spec",
        "By convention, the field `spec` has the desired state of an object. A kind that only holds data may have its \
         fields at the top, as ConfigMap does.";
    MISSING_STATUS = 106, "status subresource without a status",
        "`#[resource(status)]` asks for the `/status` subresource, which reads and writes the field `status`, but the root \
         type has no such field. An API server accepts such a kind, but never stores a status.";
    ROOT_DERIVES_SERDE = 107, "a resource must not derive Serialize or Deserialize",
        "`#[derive(Resource)]` writes both implementations, because an object carries `apiVersion` and `kind` beside \
         its fields. A second implementation would conflict with it.";
    ROOT_SERDE_ATTRIBUTE = 108, "serde attribute without meaning on a resource",
        "The attribute would change the shape of the object: an API server needs a map with `apiVersion`, `kind` and \
         `metadata`.";
    ROOT_FIELD_NAME = 109, "standard field under another name",
        "`metadata`, `spec` and `status` have fixed places in an object. They may be neither renamed, skipped nor \
         flattened.";
    ROOT_RESERVED_FIELD = 110, "reserved field",
        "`apiVersion` and `kind` are written and checked by the derive. The root type must not declare them.";
    MISSING_RESOURCE = 111, "missing resource attribute",
        "`#[derive(Resource)]` needs `#[resource(group = \"...\", version = \"...\")]` on the same type.";
    SCOPE_MISMATCH = 112, "client and resource disagree on the scope",
        "`#[genclient(non_namespaced)]` says that objects have no namespace, `#[resource(scope = ...)]` says what the \
         API server does. They must say the same.";
    VERBS = 113, "contradictory verbs",
        "`no_verbs`, `readonly`, `only_verbs` and `skip_verbs` each choose the client's verbs. Use one of them; \
         status verbs need a `status` field and no `no_status`.";
    INVALID_CONVERSION = 114, "invalid conversion webhook",
        "A conversion webhook is a service (namespace and name, optionally path and port) or an https URL without user, query \
         and fragment. The API server calls it to convert objects between the versions of a kind: \
         https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-conversion.";
    METHOD = 115, "method that a client cannot have",
        "`method(...)` of `#[genclient]` has a name that no other method of the client has, one of the verbs create, \
         update, get, list, patch and apply, and types that are named by paths: types of a crate with kinds, or of \
         k8s_openapi. Create, update and apply have an `input`. The input of apply is a kind, because a server needs its \
         apiVersion and kind.";
    RESOURCE_NAME = 116, "client and resource disagree on the resource's name",
        "Clients ask for the resource of `#[genclient(resource_name = ...)]`. The API server has the one of `plural` in \
         `#[resource]`, or the kind's default plural. Both must be the same.";

    INVALID_GROUP = 201, "invalid API group",
        "A group is a DNS subdomain with at least one dot: lower-case letters, digits, `-` and `.`, at most 253 \
         characters, each part starting and ending with a letter or digit.";
    INVALID_VERSION = 202, "invalid API version",
        "A version is a DNS label that begins with a letter. By convention it is `v` and a number, optionally followed by `alpha` or \
         `beta` and a number: v1, v1beta2, v2alpha1; API servers sort others after these.";
    INVALID_KIND = 203, "invalid kind",
        "A kind is an upper camel case name of ASCII letters and digits, at most 63 characters: EcsBinding.";
    INVALID_RESOURCE_NAME = 204, "invalid plural, singular, short name or category",
        "Resource names are DNS labels: lower-case letters, digits and `-`, starting with a letter, ending with a \
         letter or digit, at most 63 characters.";
    INVALID_CODE_NAME = 205, "invalid name in code",
        "Names in code become Rust types and methods, so they are upper camel case identifiers: Ecs, EcsBind.";
    INVALID_PRINT_COLUMN = 206, "invalid print column",
        "A column has a name of printable characters, a type (integer, number, string, boolean, date), a JSON \
         path, and optionally description, format (int32, int64, float, double, byte, date, date-time, password) and \
         priority. For Go types it is a warning: \
         controller-gen writes any name, and API servers accept it.";
    INVALID_JSON_PATH = 207, "invalid JSON path",
        "Paths start with a dot: `.spec.nodename`, `.status.conditions[?(@.type==\"Ready\")].status`. Paths of scale and \
         of selectable fields name one field and use no brackets or wildcards. API servers accept every column path that \
         starts with a dot. If they cannot read it, they omit this column and the ones after it, so it is a warning.";
    INVALID_METADATA = 208, "invalid label or annotation",
        "Keys of labels and annotations are an optional DNS subdomain prefix, `/`, and a name of at most 63 letters, \
         digits, `-`, `_` and `.`; a label's value follows the rule of the name or is empty.";
    INVALID_API_APPROVED = 209, "invalid API approval",
        "`api_approved` is the URL of the approving pull request, or a text that starts with `unapproved`. It becomes \
         the annotation `api-approved.kubernetes.io`, which groups under k8s.io and kubernetes.io need.";

    WRONG_TYPE_FOR_KEY = 301, "constraint does not fit the type",
        "Bounds are for numbers, lengths, patterns and formats for strings, item counts for lists, property counts for \
         maps and structs. The API server ignores or refuses a constraint on another type.";
    BOUNDS = 302, "bounds exclude every value",
        "The lower bound is above the upper one, so no value is valid.";
    INVALID_PATTERN = 303, "invalid pattern",
        "The pattern is not a regular expression that the API server can compile.";
    INVALID_RULE = 304, "invalid validation rule",
        "A rule is a CEL expression with a one-line `message` or a `message_expression`; `reason` is one of \
         FieldValueRequired, FieldValueInvalid, FieldValueForbidden, FieldValueDuplicate; `field_path` starts with a \
         dot or a bracket.";
    LIST_MAP_KEY = 305, "list map keys need a list of type map",
        "`list_map_key` names the fields that identify an item of a list whose `list_type` is `map`; each needs the \
         other.";
    INVALID_DEFAULT = 306, "default that the schema refuses",
        "The API server refuses a CustomResourceDefinition whose default does not satisfy its own schema.";
    EXCLUSIVE_WITHOUT_BOUND = 307, "exclusive bound without a bound",
        "`exclusive_minimum` and `exclusive_maximum` turn `minimum` and `maximum` into strict bounds and need them.";
    INVALID_MULTIPLE_OF = 308, "multiple_of must be positive",
        "`multiple_of` must be greater than zero.";
    INVALID_URL = 309, "invalid URL",
        "The value must be an absolute URL, such as https://example.com/docs.";
    INVALID_ENUM = 310, "invalid enum values",
        "The allowed values must differ from each other and fit the field's type. For Go types it is a warning: \
         controller-gen writes other values, too, and API servers accept them.";
    PRESENCE = 311, "required and optional at once",
        "A field is either required or optional; the two keys contradict each other.";
    DUPLICATE_FIELD = 312, "two fields or variants of the same name",
        "Two fields of a struct, or two variants of an enum, have the same name in JSON after serde's renaming. One would \
         hide the other.";
    SPLIT_NAME = 313, "field is written and read under different names",
        "An API field has one name. `rename(serialize = ..., deserialize = ...)` with different names would make \
         objects that the same type cannot read back.";

    ONE_OF = 314, "fields of a one-of group",
        "`exactly_one_of`, `at_most_one_of` and `at_least_one_of` name fields of the struct they stand on, by their names \
         in JSON. The fields must be optional: a required field is always set.";
    COLUMN_TYPE = 315, "type of a column is not known",
        "The type of a print column follows from the field that its path names: string, integer, number, boolean, or date \
         for a time. Where the path leads to no such field, `type` must be given.";
    DEFAULT_CONSTANT = 316, "default whose value is not known",
        "`default = ref(PATH)` names a constant whose value the source shows: a literal, or an expression of literals.";

    INPUT_NOT_FOUND = 401, "input folder not found",
        "An input is the folder of a crate, the one that holds its Cargo.toml.";
    INVALID_MANIFEST = 402, "Cargo.toml cannot be used",
        "The input's Cargo.toml must be valid and have a [package]. Library names must differ between inputs, since \
         generated code uses them.";
    UNREADABLE_FILE = 403, "file cannot be read",
        "A source file that the crate consists of could not be read.";
    NOT_UTF8 = 404, "file is not UTF-8",
        "Rust source is UTF-8; rustc refuses the file as well.";
    SYNTAX_ERROR = 405, "syntax error",
        "The file is not valid Rust. Nothing is generated until it is corrected. `cargo check` reports the same error, often \
         with a suggestion.";
    MODULE_FILE = 406, "module file missing or ambiguous",
        "`mod name;` stands for name.rs or name/mod.rs beside the declaring file (or in the folder named after it), or \
         for the file that `#[path]` names. Exactly one of them must exist. In a package with a build script, which may write the \
         file, a missing one is a warning.";
    UNRESOLVED_TYPE = 407, "type not found",
        "No type has this path. Types are looked up as in rustc: in the modules of the input crates and of their \
         dependencies, and among the known types of std, k8s-openapi, serde_json, chrono, jiff, uuid, url and others. \
         Types from procedural macros are not found. For any other type, describe its JSON with `#[schema(schemaless)]` \
         and `#[validation(type = \"...\")]` on the field.";
    PRIVATE_TYPE = 408, "resource is not public",
        "Generated code lives outside of the API crate and names the root type by its path, so it must be reachable: \
         `pub`, in `pub` modules, or re-exported with `pub use`. Types of a program cannot be used by other crates: move \
         them to a library.";
    UNSUPPORTED_TYPE = 409, "type without a schema",
        "Structural schemas describe objects with named fields, maps with string keys, lists, strings, numbers and \
         booleans. Functions, pointers and trait objects have no schema. Floating point numbers must be allowed explicitly.";
    GENERIC_TYPE = 410, "parameters of a generic type are not known",
        "A schema describes one concrete type, so every use of a generic type names its parameters, unless they have \
         defaults. Const parameters are numbers or expressions of numbers.";
    RECURSIVE_TYPE = 411, "type contains itself",
        "A structural schema is finite. A type that contains itself, directly or through others, has none; one field of \
         the cycle must be left open with `#[schema(schemaless, preserve_unknown_fields)]`.";
    UNSUPPORTED_ENUM = 412, "enum without a structural schema",
        "A structural schema has types, fields, list types and rules once for all variants of an enum; a variant can only \
         restrict values further. Enums in all of serde's representations have a schema, unless such a part differs between \
         variants, or serde itself could not write a variant.";
    UNSUPPORTED_SERDE = 413, "JSON form made by functions",
        "With `with`, `serialize_with`, `from` and similar attributes, and with handwritten implementations of `Serialize` \
         and `Deserialize`, code decides the JSON. The source is read, not run, so state the schema: \
         `#[schema(schemaless)]` and `#[validation(type = \"...\")]` on the field.";
    NO_RESOURCE = 414, "no resource found",
        "The input crates have no type with `#[derive(Resource)]`, so nothing is generated.";
    INCLUDED_FILE = 415, "included file is not read",
        "`include!` inserts the items of another file. A file whose path is a plain text is read. Other files are often written \
         by a build script. The generator does not build the source, so it ignores the types and documentation in them. Declare \
         an existing file as a module, and write documentation in place.";
    SCHEMA_TOO_LARGE = 416, "schema too large",
        "A schema repeats a type at each use, so nested repetition grows with each level. API servers take objects of at \
         most 3 MiB. Leave a part open with `#[schema(schemaless, preserve_unknown_fields)]`.";
    UNKNOWN_FEATURE = 417, "unknown feature",
        "`--features`, or `features` in kubesmith.toml, names features of the inputs' Cargo.toml, those of optional \
         dependencies included. Items behind `cfg(feature = \"...\")` belong to the API only if the feature is on.";
    UNREAD_CRATE = 418, "dependency that cannot be read",
        "A type is in a dependency. The generator reads path dependencies in place, and other dependencies from Cargo's sources. It runs \
         `cargo metadata` without the network and without changing Cargo.lock. `cargo fetch` downloads the sources and writes Cargo.lock.";
    SCHEMA_AT_RUN_TIME = 419, "schema that only exists when the program runs",
        "kube-rs makes schemas by running code. The source is read, not run. Literals, constants, `json_schema!({..})` and schemas of types \
         are understood. Code that makes or changes schemas is followed while it moves JSON; the error names the first expression that does \
         more. Describe the JSON with `#[schemars(with = \"...\")]`, or with `schema_with` and a function whose body is `json_schema!({..})`; \
         a default with `#[schemars(extend(\"default\" = ...))]`. A variable of the environment counts as not set, with a warning.";
    UNKNOWN_BUILT_IN = 420, "kind that Kubernetes does not have",
        "`kinds` in the `[client]` table of kubesmith.toml names kinds of Kubernetes by their `apiVersion` and `kind`, \
         `apps/v1/Deployment` and `v1/Pod`, or all kinds of a group-version, `apps/v1`. Valid kinds have a client in \
         client-go and a type in k8s-openapi. Kinds that exist only as the body of a subresource, such as Eviction, have \
         no client.";
    BUILT_IN_TWICE = 421, "built-in kind named twice",
        "Each kind in `kinds` is named once, by itself or with its group-version.";
    UNKNOWN_KIND = 422, "selection without a kind",
        "`--kind`, `--group` and `--exclude`, or the same keys of kubesmith.toml, name kinds and groups of the inputs. Each entry \
         matches at least one: a kind by its name, `Order`, or with its group, `Order.bakery.example.com`; a group by its name, or \
         those below one, `*.example.com`.";
    KIND_LEFT_OUT = 423, "kind left out",
        "Three sorts of kinds in kube-rs's dialect are left out unless `--kind` names them: those with `schema = \"disabled\"`, \
         which have no schema that a server accepts; those of Kubernetes' own groups (`*.k8s.io`) without an approval; and copies \
         of other projects' types, in files that kopium generated or in modules called `vendor`, `vendored` or `third_party`. \
         `--group` brings back the last two.";
    MACRO_EXPANSION = 424, "macro that cannot be expanded",
        "Macros by example (`macro_rules!`) of the inputs and of path dependencies are expanded where they stand for \
         items, as rustc does it, at most 128 expansions deep. No rule of the macro matches the call, \
         its output is not valid Rust, or it is too large. Other macros are not run, so their types are unknown.";
    EVALUATION = 425, "kind that cannot be evaluated",
        "`--evaluate` builds the project with cargo and runs code of it for the kinds that cannot be known from source. \
         The build or the run failed, the type cannot be named outside its crate, or an API server refuses the CRD. \
         `[evaluation]` of kubesmith.toml names a program or function of the project that prints its CRDs.";
    EVALUATED_ALONE = 426, "evaluated kind without generated code",
        "Running code gives the CRD of a kind, not its types. Clients, documentation and deployments need the types from \
         source.";
    MISSING_FUNCTION = 427, "function not found",
        "`default`, `with`, `serialize_with`, `deserialize_with` and `skip_serializing_if` of serde name functions by their \
         paths from the module of the type; `with` names a module of functions. There is none of this name. \
         Paths into other crates, and names that a macro may make, are not checked.";
    MISSING_DERIVE = 428, "type without the derives of serde",
        "kube's `CustomResource` needs types that implement `Serialize` and `Deserialize`, and so do the derives of serde for \
         the types of fields. The CRD can be written without them, but rustc refuses the program.";

    DUPLICATE_KIND = 501, "kind defined twice",
        "A kind has one definition per version of its group.";
    DUPLICATE_RESOURCE_NAME = 502, "resource name taken",
        "Plural, singular and short names address a resource in URLs and kubectl, so no two kinds of a group may share \
         one.";
    GROUP_FACTS = 503, "group described in two ways",
        "Attributes of a group (its names in code) must be the same on all of its resources.";
    VERSION_FACTS = 504, "versions of a kind disagree",
        "The versions of a kind are one CustomResourceDefinition, which has one plural, singular, list kind and scope.";
    STORAGE_VERSION = 505, "no single storage version",
        "Exactly one version of a kind is stored. It is chosen with `storage_version` when there are several.";
    NOT_SERVED = 506, "no version is served",
        "A kind without a served version cannot be used.";
    CODE_COLLISION = 507, "names collide in generated code",
        "Two groups or kinds would get the same module, type or accessor in the client package.";
    LIST_MAP_KEYS = 508, "list map key is not a required field",
        "The keys of a list of type map identify its items, so each must be a scalar field of the item that is required or \
         has a default.";
    PATH_NOT_IN_SCHEMA = 509, "path leads nowhere",
        "The JSON path names a field that the schema does not have. Columns and scale would always be empty; a selectable \
         field is refused by the API server.";
    CRD_TOO_LARGE = 510, "CRD too large for kubectl apply",
        "`kubectl apply` stores the whole object in an annotation of at most 262144 bytes. Use `kubectl apply \
         --server-side`, or shorten descriptions with `max_desc_len`.";
    CRD_NEAR_ETCD_LIMIT = 511, "CRD too large for etcd",
        "By default (`--max-request-bytes`), etcd accepts requests of at most 1.5 MiB, and a CustomResourceDefinition is \
         stored in one request. Shorten descriptions with `max_desc_len`, or leave parts of the schema open.";
    UNUSUAL_VERSION = 512, "version that looks like a misspelt one",
        "API servers accept any DNS label as a version, but rank only versions such as `v1`, `v1beta2` and `v2alpha1`. \
         Other names come after all of them, in alphabetical order. The warning is only for names that resemble a ranked \
         version.";
    HUB_VERSION = 513, "no single hub",
        "All versions of a kind are converted to and from its hub: the version with `hub`, or else the storage version.";
    NOT_STRUCTURAL = 520, "schema that is not structural",
        "An API server takes structural schemas only: every field has a type, every list says what its items are, and \
         nothing contradicts the type: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema.";
    REFUSED_CRD = 521, "CRD that an API server refuses",
        "The CustomResourceDefinition breaks one of the API server's rules; the message repeats the server's words.";
    RULE_COST = 522, "rule too expensive",
        "API servers estimate what a rule may cost at worst, from the largest value that the schema allows, and refuse a \
         rule above 10 million or rules above 100 million together. Lists, maps and texts without a bound count as large \
         as a request of 3 MiB can make them: give them `max_items`, `max_properties` and `max_length`.";

    API_RULE = 541, "API rule broken",
        "Kubernetes' API rules ask that every list says how it is merged (`list_type_missing`) and that names in JSON are \
         the field's name in lower camel case (`names_match`). The file that `report_filename` names lists the violations \
         that are accepted; it must name all of them and no other.";

    FOREIGN_FILE = 601, "file was not generated",
        "A file stands where output is to be written, and it does not bear kubesmith's mark. It is never overwritten.";
    CANNOT_WRITE = 602, "output cannot be written",
        "The output folder or a file in it cannot be read or written. Nothing was changed before the first failure.";
    BREAKS_COMMITTED = 603, "change that breaks what is committed",
        concat!("The CRD that is about to be written breaks the one that is there: objects that are stored, clients, or the \
         conversion between versions. `kubesmith diff` gives details; ", book!("reference/diff.md"),
         " lists the changes. If the change is intended, set the code's level to `allow` for this run, or permanently \
         while nobody uses the API.");
    ORPHANED_EXPANSION = 604, "file written by hand that nothing takes in",
        "`<kind>_expansion.rs` beside the generated client or lister of a kind is taken in by that file, and \
         `clientset/register_custom.rs` by the scheme. Any other file with such a name is not compiled: its kind no longer \
         exists or has another name, or the file is in the wrong folder, or its client or lister is not generated. Rename, \
         move or remove it.";
    UNREADABLE_EXPANSION = 605, "file written by hand that is not Rust",
        "A generated file declares this file as a module, but it is not UTF-8 or not valid Rust. The package will not \
         compile, and collisions cannot be checked.";
    EXPANSION_COLLISION = 606, "file written by hand collides",
        "A type has one item of each name and implements a trait once, in generated and handwritten files together. If \
         both define an item, rustc refuses the package, often with an error in the generated file. A trait method with \
         the name of an inherent method is never called. Items under `cfg` and from macros are not checked.";

    NOT_CAMEL_CASE = 701, "name is not in camel case",
        "Names of fields in JSON are camelCase in every Kubernetes API, without `_` and `-`. serde uses the Rust names \
         unless `#[serde(rename_all = \"camelCase\")]` is on the type. Kinds are UpperCamelCase.";
    UNKEYED_CONDITIONS = 702, "conditions are not merged by type",
        "Conditions are written by several controllers. With server-side apply, each controller owns its own conditions if \
         the list is a map with the key `type`. Otherwise each writer replaces all of them.";
    NARROW_INTEGER = 703, "schema admits more than the Rust type",
        "Schemas have signed integers of 32 and 64 bits. For other integer types a server accepts values that the Rust \
         type cannot hold, and one such object makes every list unreadable. Set `minimum` and `maximum`.";
    STATUS_NOT_SUBRESOURCE = 704, "status is not a subresource",
        "Without the `/status` subresource a writer of the spec can change the status and the other way round, and every \
         change of the status is a new generation. `#[resource(status)]` separates them.";
    STATUS_REQUIRED = 705, "status is required",
        "Where status is a subresource, an API server drops it from objects that are created. If it is required, no object \
         can be created.";
    BOOLEAN = 706, "boolean field",
        "Many ideas start as boolean and trend towards a small set of exclusive options, which an enum of strings can grow \
         into. Silent unless `warn` or `deny` names it.";
    FLOAT = 707, "floating point field",
        "Floating point numbers change when they are read and written by another language. Silent unless `warn` or `deny` \
         names it; without `allow_dangerous_types` they are errors.";
    LARGE_INTEGER = 708, "integer above 2^53",
        "JSON numbers are doubles in JavaScript and other languages, which hold integers up to 2^53 exactly. Silent unless \
         `warn` or `deny` names it.";
    MAP_OF_OBJECTS = 709, "map of objects",
        "Kubernetes' APIs have lists of named objects instead of maps of them: names can be validated and documented like \
         other fields. Silent unless `warn` or `deny` names it.";
    NULLABLE = 710, "nullable field",
        "Many clients treat null and absence alike, so a difference in meaning is lost. Silent unless `warn` or `deny` \
         names it.";
    UNBOUNDED = 711, "text, list or map without a bound",
        "The estimate of a rule's cost assumes that a value without a bound is as large as a request allows. Silent unless \
         `warn` or `deny` names it.";
    FIELD_ALIAS = 712, "alias of a field",
        "serde reads a field under its aliases as well, but an API field has one name: an API server drops fields that the \
         schema does not have, and clients in other languages know one name. Aliases of an enum's variants are values of \
         the schema.";
    MISSING_VERBS = 713, "no informer or lister for want of a verb",
        "An informer lists and watches, a lister lists and gets, as in client-gen's clients. The client of this kind lacks \
         one of these verbs, so no informer or lister of the kind is generated. A client with `no_verbs` gets no warning.";
    NO_CLIENT = 714, "no client of a kind in kube-rs's dialect",
        "The generated package is a crate or module of its own and names the type that kube-rs's `CustomResource` makes by \
         its path. The type has the visibility of the spec's struct. A type in a program, or in a private module without a \
         re-export, gets a CRD, roles and documentation. Use it with `kube::Api`.";
    STD_DURATION = 715, "duration that is an object",
        "serde writes std's Duration as an object with `secs` and `nanos`. Durations in Kubernetes' APIs are text such as \
         `1h30m`: kube's `kube::core::Duration` has this form, as Go's metav1.Duration does. Types in kube-rs's dialect \
         get no warning.";

    KEYWORD_OUT_OF_RANGE = 716, "bound that no integer of the type has",
        "An API server holds the numbers of `minimum`, `maximum` and `multipleOf` as floats and reads their shortest text as \
         a number of the type. If that fails, it refuses every value. The limits of 64-bit integers are such numbers: 2^63 - 1 \
         becomes 2^63, and -2^63 is read as -9223372036854776000. Leave the bound away: the format is the bound.";

    RBAC_RULE = 801, "rule of a role that an API server refuses, or that grants nothing",
        "A rule allows verbs on `resources` of `groups`, or on `urls`. The core group, with pods and services, is the \
         empty string. Names of roles and namespaces follow the API server's rules. A verb may have any name; one that \
         nearly matches a known verb gets a warning.";
    WEBHOOK = 802, "webhook that an API server refuses",
        "A webhook has a name of three parts, a path of a service or an https URL, no side effects in dry runs, and rules \
         without repetition.";
    WEBHOOK_TWICE = 803, "webhook or configuration named twice",
        "The webhooks of a configuration have different names. There is one configuration of mutating and one of \
         validating webhooks.";
    NO_MANIFEST_FOLDER = 804, "no folder for roles, webhooks or policies",
        "The source has rules of roles, webhooks or policies, but no output folder is set: set `output` in the `[rbac]`, \
         `[webhook]` or `[policy]` table of kubesmith.toml, or use `--rbac-output`, `--webhook-output` or \
         `--policy-output`. `only` leaves out every generator that it does not name.";
    POLICY = 805, "admission policy that an API server refuses",
        "An API server refuses the policy or its binding: an expression that does not compile, a variable without a name, \
         actions that exclude each other. Expressions are also checked against the schema of the kind. An API server only \
         warns of those faults, in the policy's status, and the policy then fails at each request.";
    POLICY_TWICE = 806, "policy or binding named twice",
        "Names of policies are unique in a cluster, and so are those of bindings. A policy that validates and one that \
         mutates may have the same name.";

    INVALID_YAML = 901, "document that is not YAML",
        "A document of the imported file, or the owner's section of a chart's file, is not valid YAML. Import takes the other \
         documents.";
    TEMPLATE = 902, "template instead of a definition",
        "The file is a template of Helm or another engine. Render it first: `helm template CHART | kubesmith import - \
         --output DIR`.";
    NO_DEFINITION = 903, "no CustomResourceDefinition in the file",
        "Only CustomResourceDefinitions are imported; other objects are skipped. This file has only other objects.";
    UNKNOWN_DEFINITION = 904, "definition that lacks something",
        "A CustomResourceDefinition has a name, a group, a scope, a kind, a plural and versions with schemas, in \
         apiextensions.k8s.io/v1 or v1beta1. An API server refuses one without them.";
    REFUSED_SCHEMA = 905, "schema that no CRD can have",
        "The schema has a keyword, such as `$ref`, or a value that an API server refuses or drops. No attribute can \
         express it.";
    DEFINED_TWICE = 906, "kind that is defined twice",
        "Two definitions of the inputs have the same kind and group. Only one can be imported.";
    NOT_GENERATED = 907, "definition that cannot be generated again",
        "The import generates CRDs from its own output at once. `kubesmith generate` refuses this definition, usually \
         because an API server refuses it too: a default that its schema does not allow, a rule that does not compile.";
    NOT_THE_SAME = 908, "definition that would change when it is generated",
        "The import generates CRDs from its own output and compares them. This definition would change, so it is left out. \
         Every construct of a CRD should have an attribute: please report it.";
    CONVERTED = 909, "definition of an old API version",
        "No API server since 1.22 serves apiextensions.k8s.io/v1beta1. The definition is converted as API servers did: \
         settings for all versions are written into each, and unknown fields are kept by default.";
    LEFT_OUT = 910, "member that is left out",
        "The object has a member that does not belong to a CustomResourceDefinition, or that API servers write themselves. \
         Or a schema has a keyword that API servers drop, such as a custom `x-` keyword.";
    REFUSED_DEFINITION = 911, "definition that an API server refuses",
        "Definitions that an API server refuses are not imported: a schema that is not structural, a wrong default, a rule that does not \
         compile, an invalid name. A missing served or stored version, or approval of a protected group, is mended with a warning.";
    REPEATED_MEMBER = 912, "member that is given more than once",
        "An object has members of the same name. Most readers use the last one, some the first. Strict readers, such as \
         API servers with fieldValidation=Strict, refuse the object. YAML 1.1 makes `true` and `false` of the names `y`, `n`.";
    GO_SYNTAX = 1001, "file that is not Go",
        "A declaration of an input cannot be read, and later declarations may be lost. Nothing is generated.";
    GO_PACKAGE = 1002, "Go package that cannot be read",
        "A type is in a package that is not in the module, in `vendor` or in Go's module cache. kubesmith downloads \
         nothing: run `go mod download` or `go mod vendor`. Or the files of a folder belong to two packages, or declare a type twice, \
         which Go refuses.";
    GO_TAG = 1003, "field without a `json` tag",
        "Without a tag, Go's encoder uses the name of the field. controller-gen refuses that, and so does the generator.";
    GO_CLIENT = 1004, "client package of Go types",
        "Generated clients use the types of the input. Go types give only CRDs, roles, webhooks and documentation.";
    GO_RENAMED = 1005, "Go type with another name in Rust",
        "Rust already uses the name, or does not allow it for types. No definition shows names of types.";
    GO_OPTIONS = 1006, "options of controller-gen taken from a Go project",
        "The project's Makefile, a script or a `go:generate` line calls controller-gen with these options, so the \
         committed CRDs depend on them.";
}
