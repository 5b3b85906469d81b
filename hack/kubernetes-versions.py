#!/usr/bin/env python3
"""Writes codegen-cli/src/known/versions.txt: the schemas of k8s-openapi's types, of each of its versions and each
version of Kubernetes that it supports.

    cargo fetch    # in a package that depends on the versions of k8s-openapi, each under another name
    hack/kubernetes-versions.py ~/.cargo/registry/src/*/k8s-openapi-0.* > codegen-cli/src/known/versions.txt

The schemas are read from the `JsonSchema` implementations, which a program wrote, in the forms of schemars 0.8 and 1. A
test compares the version of the tool with k8s-openapi. The text:

    1.16/0.14 1.17/0.14 ...             columns: Kubernetes and k8s-openapi, in order
    "A description."                    descriptions, one a line; their numbers begin at 0
                                        an empty line
    io.k8s.api.core.v1.Pod 0-99         a type, and the columns that have it
     .spec 3-7 {"description":5}        a property; without columns: in all that have the type
     required  ["spec"]                 another keyword
"""

import collections
import json
import pathlib
import re
import sys

TOKEN = re.compile(r'\s+|//[^\n]*|"(?:[^"\\]|\\.)*"|\d[\d_.]*|\w+(?:::\w+)*|::<|.', re.S)
IMPLEMENTATION = re.compile(
    r'^impl crate::schemars::JsonSchema for (\w+) \{\n.*?"(io\.[^"]+)".*?fn json_schema\([^{]*\{\n(.*?)^    \}\n\}',
    re.M | re.S,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
BRANCHES = {"one_of": "oneOf", "any_of": "anyOf", "all_of": "allOf"}


def unescape(token):
    def character(found):
        return chr(int(found[2], 16)) if found[2] else ESCAPES.get(found[1], found[1])

    return re.sub(r"\\(u\{([0-9a-fA-F]+)\}|.)", character, token[1:-1])


class Parser:
    """Evaluates the expressions of the implementations."""

    def __init__(self, text):
        self.tokens = [token for token in TOKEN.findall(text) if not token.isspace() and not token.startswith("//")]
        self.tokens.append("}")
        self.at = 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead]

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def eat(self, *tokens):
        if self.tokens[self.at : self.at + len(tokens)] == list(tokens):
            self.at += len(tokens)
            return True
        return False

    def need(self, *tokens):
        assert self.eat(*tokens), (tokens, self.tokens[self.at - 5 : self.at + 8])

    def block(self):
        """Statements; the value is that of the last expression."""
        variable = None
        while True:
            if self.eat("let", "mut", "schema_obj", "="):
                variable = self.expression()
            elif self.eat("schema_obj", ".", "metadata", "="):
                variable |= self.expression()
            elif self.eat("schema_obj", ".", "ensure_object", "(", ")", ".", "insert", "("):
                key, value = self.list(")")
                variable[key] = value
            else:
                value = self.expression()
                return variable if value == ("name", "schema_obj") else value
            self.need(";")

    def list(self, close):
        out = []
        while not self.eat(close):
            out.append(self.expression())
            if not self.eat(","):
                self.need(close)
                break
        return out

    def expression(self):
        value = self.primary()
        while self.peek() == "." and self.peek(1) != ".":
            self.next()
            method = self.next()
            if self.eat("::<"):
                target, depth = "", 1
                while depth:
                    token = self.next()
                    depth += (token == "<") - (token == ">")
                    target += token if depth else ""
                self.need("(")
                self.list(")")
                if method == "subschema_for":
                    value = {"$ref": target}
            else:
                # These change the form only.
                assert method in ("to_owned", "into", "into_object", "collect", "map"), method
                self.need("(")
                self.list(")")
        return value

    def primary(self):
        token = self.next()
        last = token.rpartition("::")[2]
        if token.startswith('"'):
            return unescape(token)
        if token[0].isdigit():
            return json.loads(token.replace("_", ""))
        if token in ("true", "false"):
            return token == "true"
        if token == "{":
            if self.peek().startswith('"') and self.peek(1) == ":":
                return self.json()
            value = self.block() if self.peek() != "}" else {}
            self.need("}")
            return value
        if token == "[" or self.eat("!", "["):
            return self.list("]")
        if token == "(":
            values = self.list(")")
            return values[0] if len(values) == 1 else tuple(values)
        if self.eat("!", "("):
            return self.list(")")[0]
        if self.eat("("):
            values = self.list(")")
            return values[0] if values else {}
        if self.peek() == "{" and last[0].isupper():
            self.next()
            return convert(last, self.fields())
        if "InstanceType" in token:
            return last.lower()
        return ("name", token)

    def json(self):
        out = {}
        while not self.eat("}"):
            key = unescape(self.next())
            self.need(":")
            out[key] = self.expression()
            self.eat(",")
        return out

    def fields(self):
        out = {}
        while not self.eat("}"):
            if self.eat(".", "."):
                self.expression()
                continue
            key = self.next()
            self.need(":")
            out[key] = self.expression()
            self.eat(",")
        return out


def convert(name, fields):
    """The JSON of a struct of schemars 0.8."""
    out = {}
    for key, value in fields.items():
        if key in ("metadata", "object", "array", "subschemas"):
            out |= value
        elif key in ("properties", "extensions"):
            out |= {key: dict(value)} if key == "properties" else dict(value)
        elif key in ("description", "format", "items", "required"):
            out[key] = value
        else:
            out[{"instance_type": "type", "additional_properties": "additionalProperties", **BRANCHES}[key]] = value
    return out


def definitions(root):
    """The schemas of the types of a version, by their names in OpenAPI."""
    names, schemas = {}, {}
    for file in sorted(root.rglob("*.rs")):
        for name, openapi, body in IMPLEMENTATION.findall(file.read_text()):
            names["::".join(["crate", *file.parent.relative_to(root).parts, name])] = openapi
            schemas[openapi] = Parser(body).block()

    def named(value):
        if isinstance(value, dict):
            return {key: names[inner] if key == "$ref" and isinstance(inner, str) else named(inner) for key, inner in value.items()}
        return [named(inner) for inner in value] if isinstance(value, list) else value

    return {name: named(schema) for name, schema in schemas.items()}


def ranges(columns):
    """Columns in order, as `1-3,5`."""
    runs = []
    for column in columns:
        if runs and runs[-1][1] == column - 1:
            runs[-1][1] = column
        else:
            runs.append([column, column])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def table(versions):
    """The lines of the types, and the descriptions in the order of their numbers."""
    texts, lines = {}, []

    def numbered(value):
        if isinstance(value, dict):
            is_text = lambda key, inner: key == "description" and isinstance(inner, str)
            return {
                key: texts.setdefault(inner, len(texts)) if is_text(key, inner) else numbered(inner)
                for key, inner in sorted(value.items())
            }
        return [numbered(inner) for inner in value] if isinstance(value, list) else value

    for name in sorted({name for version in versions for name in version}):
        having = [column for column, version in enumerate(versions) if name in version]
        members = collections.defaultdict(list)
        for column in having:
            schema = versions[column][name]
            for key, value in schema.items():
                inner = {f".{field}": field_schema for field, field_schema in value.items()} if key == "properties" else {key: value}
                for key, value in inner.items():
                    members[key, json.dumps(value, sort_keys=True)].append(column)
        lines.append(f"{name} {ranges(having)}")
        for (key, text), columns in sorted(members.items()):
            value = numbered({key: json.loads(text)})[key]
            where = "" if columns == having else ranges(columns)
            lines.append(f" {key} {where} {json.dumps(value, separators=(',', ':'))}")
    return lines, texts


def main():
    found = {}
    for folder in map(pathlib.Path, sys.argv[1:]):
        own = int(folder.name.split(".")[1])
        for version in (folder / "src").glob("v1_*"):
            found[int(version.name.removeprefix("v1_")), own] = definitions(version)
    lines, texts = table([found[key] for key in sorted(found)])
    head = " ".join(f"1.{kubernetes}/0.{own}" for kubernetes, own in sorted(found))
    all_lines = [head, *(json.dumps(text, ensure_ascii=False) for text in texts), "", *lines]
    sys.stdout.write("\n".join(all_lines) + "\n")


main()
