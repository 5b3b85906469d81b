#!/usr/bin/env python3
"""Writes codegen-cli/src/known/kubernetes.txt: what Kubernetes' Go source says of its types and the OpenAPI document,
from which k8s-openapi is made, does not: where the lines of descriptions end, list and map types, defaults, limits.

    git clone --branch v0.36.2 https://github.com/kubernetes/api
    git clone --branch v0.36.2 https://github.com/kubernetes/apimachinery
    hack/kubernetes-facts.py api apimachinery v0.36.2 > codegen-cli/src/known/kubernetes.txt

Only facts are written, no text: of a description the gaps between its words that are no single spaces. A test holds that
each fits the text that k8s-openapi has.
"""

import json
import pathlib
import re
import sys

from gosource import parse

CORE = "io.k8s.api.core.v1"
META = "io.k8s.apimachinery.pkg.apis.meta.v1"

# Names of imported packages in the sources.
IMPORTS = {"metav1": META, "v1": CORE, "corev1": CORE, "api": CORE}

# Markers that set one property of the schema.
SCHEMA = {
    "listType": ("x-kubernetes-list-type", str),
    "mapType": ("x-kubernetes-map-type", str),
    "structType": ("x-kubernetes-map-type", str),
    "default": ("default", json.loads),
    "kubebuilder:default": ("default", json.loads),
    "kubebuilder:validation:MaxLength": ("maxLength", int),
    "kubebuilder:validation:MinLength": ("minLength", int),
    "kubebuilder:validation:Minimum": ("minimum", int),
    "kubebuilder:validation:Pattern": ("pattern", lambda text: text.strip("`")),
    "kubebuilder:validation:Enum": ("enum", lambda text: text.split(";")),
}


def gaps(text):
    """Runs of single spaces as their number, other gaps as a letter or between slashes; "-" if there are none."""
    names = {"\n": "n", "\n\n": "p", "  ": "d"}
    out, run, plain = "", 0, True
    for gap in re.findall(r"(?<=\S)\s+(?=\S)", text):
        if gap == " ":
            run += 1
            continue
        code = names.get(gap) or "/" + gap.replace("\n", "n").replace(" ", "s").replace("\t", "t") + "/"
        out += (str(run) if run else "") + code
        run, plain = 0, False
    return "-" if plain else out + (str(run) if run else "")


def facts(field):
    out = {}
    keys = []
    for name, value in field["markers"]:
        if name == "listMapKey":
            keys.append(value)
        elif name in SCHEMA and not value.startswith("ref("):
            key, convert = SCHEMA[name]
            out[key] = convert(value)
    if keys:
        out["x-kubernetes-list-map-keys"] = keys
    return out


def qualify(package, name):
    name = re.sub(r"^(\*|\[\])+|^map\[\w+\](\*|\[\])*", "", name)
    prefix, _, last = name.rpartition(".")
    return f"{IMPORTS.get(prefix, '?') if prefix else package}.{last}"


def fields(types, name):
    """The fields of a type, those of inlined types included."""
    package = name.rpartition(".")[0]
    out = {}
    for field, said in types[name]["fields"].items():
        if field.startswith("~"):
            out |= fields(types, qualify(package, said["type"]))
        else:
            out[field] = said | {"target": qualify(package, said["type"])}
    return out


def inherited(types, name):
    """The markers of a type after those of the types that it inlines."""
    package = name.rpartition(".")[0]
    out = []
    for field, said in types[name]["fields"].items():
        if field.startswith("~"):
            out += inherited(types, qualify(package, said["type"]))
    return out + types[name]["markers"]


def reachable(types, roots):
    found, todo = set(), list(roots)
    while todo:
        name = todo.pop()
        # k8s-openapi has what Go's named strings are.
        if name in types and name not in found and types[name]["struct"]:
            found.add(name)
            todo += [said["target"] for said in fields(types, name).values()]
    return found


def roots():
    """The types that the table in known/k8s_types.rs names."""
    table = pathlib.Path(__file__).parent.parent / "codegen-cli/src/known/k8s_types.rs"
    for path, names in re.findall(r'^    "k8s_openapi::([\w:]+)" = [\w:]+:\n([^;]+);', table.read_text(), re.M):
        for name in names.split():
            yield "io.k8s." + f"{path}::{name}".replace("::", ".")


def packages():
    """Repository and folder of the packages. Those outside of these two are left as the OpenAPI document has them."""
    for name in {root.rpartition(".")[0] for root in roots()}:
        if name.startswith("io.k8s.api."):
            yield name, ("api", name.removeprefix("io.k8s.api.").replace(".", "/"))
    yield META, ("apimachinery", "pkg/apis/meta/v1")


def write(name, said, indent):
    extra = facts(said)
    if said.get("optional"):
        extra["optional"] = True
    shape = gaps(said["doc"])
    if extra or shape != "-":
        rest = " " + json.dumps(extra, separators=(",", ":"), ensure_ascii=False) if extra else ""
        return [f"{indent}{name} {shape}{rest}"]
    return []


def main():
    repositories = {"api": pathlib.Path(sys.argv[1]), "apimachinery": pathlib.Path(sys.argv[2])}
    types = {}
    for package, (repository, path) in packages():
        types |= {f"{package}.{name}": said for name, said in parse(repositories[repository] / path).items()}
    print("# Written by hack/kubernetes-facts.py from the Go source of k8s.io/api and k8s.io/apimachinery", sys.argv[3])
    for name in sorted(reachable(types, roots())):
        lines = []
        for field, said in sorted(fields(types, name).items()):
            # k8s-openapi has these without `Option`, and so requires them.
            is_default = any(marker == "kubebuilder:default" for marker, _ in said["markers"])
            is_meta = field == "metadata" and said["target"] == f"{META}.ObjectMeta"
            lines += write(field, said | {"optional": is_default or (is_meta and said["omitempty"])}, " ")
        head = write(name, types[name] | {"markers": inherited(types, name)}, "") or ([f"{name} -"] if lines else [])
        print(*head, *lines, sep="\n") if head else None


main()
