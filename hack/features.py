"""Writes the Cargo.toml of a package without code that depends on everything that the workspace's packages depend on.

As a member of another workspace, it gives that the features of this one: cargo unites those of all members.

    cargo metadata --no-deps --format-version 1 | python3 hack/features.py > features/Cargo.toml
"""

import json
import re
import sys

# Macros use these as well. Their dependencies have features of their own, which here are those of the tests of macros.
FOR_MACROS = {"serde", "serde_json"}


def series(requirement):
    """The part of a version within which cargo chooses one: 1 of ^1.4, 0.29 of ^0.29.1."""
    return re.search(r"0\.\d+|\d+", requirement)[0]


dependencies = {}
for package in json.load(sys.stdin)["packages"]:
    for dependency in package["dependencies"]:
        if dependency["source"] is None or dependency["kind"] == "build":
            continue  # A member of the workspace, or for build scripts, which no public package has.
        key = (dependency["target"] or "", dependency["name"], series(dependency["req"]))
        has_default, features = dependencies.get(key, (False, set()))
        features.update(dependency["features"])
        dependencies[key] = (has_default or dependency["uses_default_features"], features)


def print_table(title, rows):
    print(f"\n[{title}]")
    for (_, name, version), (has_default, features) in rows:
        key = f"{name}_{version.replace('.', '_')}"
        print(
            f'{key} = {{ package = "{name}", version = "{version}", '
            f"default-features = {str(has_default).lower()}, features = {json.dumps(sorted(features))} }}"
        )


print('[package]\nname = "features"\nversion = "0.0.0"\nedition = "2024"')
rows = sorted(dependencies.items())
for target in sorted({target for target, _, _ in dependencies}):
    table = f"target.'{target}'.dependencies" if target else "dependencies"
    print_table(table, [row for row in rows if row[0][0] == target])
print_table(
    "build-dependencies",
    [(key, (default, features | {"alloc"})) for key, (default, features) in rows if key[1] in FOR_MACROS],
)
