# SPDX-License-Identifier: BSD-3-Clause
"""Where functions of C++ begin and end, found by their braces."""
import dataclasses
import re

# What can hold braces, quotes or slashes that are none.
OPAQUE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=]*$")


@dataclasses.dataclass
class Function:
    name: str
    first: int
    last: int

    @property
    def lines(self):
        return self.last - self.first + 1


def blank(text):
    """The same text with spaces for comments, literals and preprocessor lines."""
    return OPAQUE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "_", text))


def functions(text):
    """Those of namespaces and classes; lambdas are part of the function around them."""
    code = blank(text)
    scopes = []  # of every open brace: None for one of a namespace or class, else (name, line of the head) or ""
    start, line = 0, 1
    found = []
    for match in re.finditer(r"[{};\n]", code):
        sign, at = match.group(), match.start()
        if sign == "\n":
            line += 1
            continue
        head = code[start:at].strip()
        if sign == "{":
            outside = all(scope is None for scope in scopes)
            if outside and SCOPE.search(head):
                scopes.append(None)
            elif outside and "(" in head:
                name = re.search(r"([\w:~]+|operator\S+)\s*\(", head)
                scopes.append((name.group(1) if name else head, line - head.count("\n")))
            else:
                scopes.append("")
        elif sign == "}" and scopes:
            scope = scopes.pop()
            if scope:
                found.append(Function(scope[0], scope[1], line))
        if sign != ";" or all(scope is None for scope in scopes):
            start = at + 1
    return found
