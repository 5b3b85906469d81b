"""Reads Kubernetes' Go source: the types of a package, their fields, comments and markers."""

import re


def description(comments):
    """What controller-gen makes of a doc comment."""
    lines = []
    for comment in comments:
        body = comment[2:]
        if body.strip().startswith("+") or re.match(r"[a-z0-9]+:[a-z0-9]", body):
            continue
        line = body.removeprefix(" ").rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    out, fenced = [], False
    for line in lines:
        fenced ^= line.startswith(("```", "~~~"))
        if not fenced and line.startswith("---"):
            break
        if fenced or not line.startswith("TODO"):
            out.append(line)
    return "\n".join(out).strip("\n")


def markers(comments):
    for comment in comments:
        text = comment[2:].strip()
        if text.startswith("+"):
            name, _, value = text[1:].partition("=")
            yield name.rstrip(":"), value


def parse(folder):
    """The types of a package: comments and fields by name."""
    types = {}
    for path in sorted(folder.glob("*.go")):
        if path.name.endswith("_test.go") or path.name.startswith("zz_") or path.name == "generated.pb.go":
            continue
        comments, before, current, block = [], [], None, False
        for line in path.read_text().split("\n"):
            text = line.strip()
            if block or text.startswith("/*"):
                block = "*/" not in text
                comments = []
            elif text.startswith("//"):
                comments.append(text)
            elif not text:
                # Markers may stand in the block above the documentation.
                before, comments = comments or before, []
            else:
                tag = re.match(r'\s*(?:\w+\s+)?(\S+)\s+`.*json:"([^"]*)"', line)
                kind = re.match(r"type (\w+) (.*)$", line)
                said = {"doc": description(comments), "markers": list(markers(before + comments))}
                if current is None and kind:
                    is_struct = kind[2].startswith("struct")
                    types[kind[1]] = said | {"fields": {}, "struct": is_struct}
                    if is_struct and not kind[2].endswith("}"):
                        current = types[kind[1]]
                elif current is not None and line.startswith("}"):
                    current = None
                elif current is not None and tag:
                    name, *flags = tag[2].split(",")
                    inline = "inline" in flags or not name
                    said |= {"type": tag[1], "omitempty": "omitempty" in flags or "omitzero" in flags}
                    current["fields"][f"~{tag[1]}" if inline else name] = said
                comments, before = [], []
    return types
