#!/usr/bin/env python3
"""Writes codegen-cli/src/known/kinds.txt: the kinds of Kubernetes that have clients, with their verbs and methods.

    git clone --branch v0.36.2 https://github.com/kubernetes/api
    hack/kubernetes-kinds.py api <folder of k8s-openapi's sources>/src/v1_36 v0.36.2 > codegen-cli/src/known/kinds.txt

Which kinds have clients, their verbs and methods are what `+genclient` says in the Go source, as client-gen reads it;
plurals, scopes and paths are k8s-openapi's. A kind that either of them lacks is left out and named on standard error.
"""

import pathlib
import re
import sys

from gosource import parse

VERBS = ["create", "update", "updateStatus", "delete", "deleteCollection", "get", "list", "watch", "patch", "apply",
         "applyStatus"]

# Kinds of k8s.io/apiextensions-apiserver and k8s.io/kube-aggregator: `+genclient` and a status, nothing else.
ELSEWHERE = {
    "apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition": [("genclient", "")],
    "kube_aggregator::pkg::apis::apiregistration::v1::APIService": [("genclient", "")],
}

# Methods that client-go's clients have by files written by hand, in the same form: name, verb, subresource, input, result.
BY_HAND = {
    "api::core::v1::Namespace": [
        "Finalize update finalize api::core::v1::Namespace api::core::v1::Namespace",
    ],
    "api::core::v1::Pod": [
        "Bind create binding api::core::v1::Binding apimachinery::pkg::apis::meta::v1::Status",
        "Evict create eviction api::policy::v1::Eviction apimachinery::pkg::apis::meta::v1::Status",
    ],
}


def kinds(folder):
    """The kinds of k8s-openapi by their paths: constants and scope."""
    out = {}
    for file in sorted(folder.rglob("*.rs")):
        for name, body in re.findall(r"^impl crate::Resource for (\w+) \{\n(.*?)^\}", file.read_text(), re.M | re.S):
            facts = dict(re.findall(r"const (\w+): &'static str = \"([^\"]*)\";", body))
            facts["scope"] = re.search(r"type Scope = crate::(\w+)ResourceScope;", body)
            path = "::".join([*file.relative_to(folder).parts[:-1], name])
            out[path] = facts
    return out


def verbs(markers, has_status):
    said = {name.removeprefix("genclient:"): value for name, value in markers if name.startswith("genclient")}
    if "noVerbs" in said:
        return []
    chosen = said["onlyVerbs"].split(",") if "onlyVerbs" in said else VERBS
    skipped = said.get("skipVerbs", "").split(",")
    if "noStatus" in said or not has_status:
        skipped += ["updateStatus", "applyStatus"]
    return [verb for verb in VERBS if verb in chosen and verb not in skipped]


def openapi(go):
    """`k8s.io/api/autoscaling/v1.Scale` as the path of k8s-openapi."""
    return go.removeprefix("k8s.io/").replace("/", "::").replace(".", "::")


def methods(markers, own):
    for name, value in markers:
        if name == "genclient:method":
            method, *rest = value.split(",")
            said = dict(part.split("=") for part in rest)
            types = [openapi(said[key]) if key in said else own for key in ("input", "result")]
            yield " " + " ".join([method, said["verb"], said["subresource"], *types])
    yield from (" " + method for method in BY_HAND.get(own, []))


def lines(folder, known):
    packages = {}
    for path, facts in known.items():
        if path.startswith("api::") and path.count("::") == 3:
            _, group, version, kind = path.split("::")
            package = packages.setdefault((group, version), parse(folder / group / version))
            said = package.get(kind, {"markers": [], "fields": {}})
            markers, has_status = said["markers"], "status" in said["fields"]
        else:
            markers, has_status = ELSEWHERE.get(path, []), True
        if not any(name == "genclient" for name, _ in markers):
            print(f"no client: {path}", file=sys.stderr)
            continue
        if kind_verbs := verbs(markers, has_status):
            scope = facts["scope"][1].lower()
            names = facts["API_VERSION"], facts["KIND"], facts["URL_PATH_SEGMENT"]
            yield [" ".join([*names, scope, path, ",".join(kind_verbs)]), *methods(markers, path)]


def main():
    folder, known = pathlib.Path(sys.argv[1]), kinds(pathlib.Path(sys.argv[2]))
    print(f"# Written by hack/kubernetes-kinds.py from the Go source of k8s.io/api {sys.argv[3]} and from k8s-openapi, v1_36.")
    print("# apiVersion kind resource scope path verbs, and indented the methods: name verb subresource input result.")
    for kind in sorted(lines(folder, known)):
        print(*kind, sep="\n")


main()
