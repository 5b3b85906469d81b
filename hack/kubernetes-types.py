#!/usr/bin/env python3
"""Writes codegen-cli/src/known/k8s_types.rs: the types of k8s-openapi, by the paths that they are exported at.

    hack/kubernetes-types.py <folder of k8s-openapi's sources>/src/v1_36 > codegen-cli/src/known/k8s_types.rs

Types with parameters (lists, patches, watch events) are what servers answer, not parts of objects; they are left out.
"""

import pathlib
import re
import sys
import textwrap


def types(folder):
    """Names and paths of the types of a module and those in it."""
    text = (folder / "mod.rs").read_text()
    for file, name in re.findall(r"^pub use self::(\w+)::(\w+);", text, re.M):
        source = (folder / f"{file}.rs").read_text()
        if re.search(rf"^impl crate::schemars::JsonSchema for {name} ", source, re.M):
            yield name


def modules(folder, path):
    if names := sorted(types(folder)):
        yield path, names
    for name in re.findall(r"^pub mod (\w+);", (folder / "mod.rs").read_text(), re.M):
        yield from modules(folder / name, [*path, name])


HEAD = """//! k8s-openapi's types by their paths, which tests compare with the table of versions.
//!
//! Written by hack/kubernetes-types.py from k8s-openapi 0.29, `v1_36`: its `JsonSchema` implementations.

use k8s_openapi::schemars::SchemaGenerator;

/// Makes the schema of a field with a type.
type Make = fn(&mut SchemaGenerator) -> k8s_openapi::schemars::Schema;

/// Types of modules, with their paths.
macro_rules! table {
    ($($module:literal = $($segment:ident)::+: $($name:ident)*;)*) => {
        &[$({
            use $($segment)::+ as module;
            &[$((concat!($module, "::", stringify!($name)), SchemaGenerator::subschema_for::<module::$name>)),*]
        }),*]
    };
}

/// Types by their path, in the order of modules; sorted within each.
#[rustfmt::skip]
pub(super) const TABLE: &[&[(&str, Make)]] = table! {
"""


def main():
    print(HEAD, end="")
    found = {"::".join(["k8s_openapi", *path]): names for path, names in modules(pathlib.Path(sys.argv[1]), [])}
    for path, names in sorted(found.items()):
        print(f'    "{path}" = {path}:')
        print(textwrap.fill(" ".join(names) + ";", width=110, initial_indent=8 * " ", subsequent_indent=8 * " "))
    print("};")


main()
