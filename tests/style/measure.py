# SPDX-License-Identifier: BSD-3-Clause
"""Where functions begin and end: of C++, found by their braces, and of Python."""
import ast
import dataclasses
import re

# What can hold braces, quotes or slashes that are none.
OPAQUE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()=]*$")
# The head of a constructor up to a brace that is an initialiser's, not the body's.
INITIALISER = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:).*[\w>]$", re.S)


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


def name_in(head):
    """A macro that defines a function is named by its arguments: TEST(Rows, AreSplit) is Rows.AreSplit."""
    macro = re.search(r"\b[A-Z][A-Z0-9_]+\s*\(([\w,\s]+)\)$", head)
    if macro:
        return ".".join(re.findall(r"\w+", macro.group(1)))
    name = re.search(r"([\w:~]+|operator\S+)\s*\(", head)
    return name.group(1) if name else head


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
            elif outside and INITIALISER.search(head):
                scopes.append(INITIALISER)
            elif outside and "(" in head:
                scopes.append((name_in(head), line - head.count("\n")))
            else:
                scopes.append("")
        elif sign == "}" and scopes:
            scope = scopes.pop()
            if scope is INITIALISER:
                continue  # the head goes on
            if scope:
                found.append(Function(scope[0], scope[1], line))
        if INITIALISER not in scopes and (sign != ";" or all(scope is None for scope in scopes)):
            start = at + 1
    return found


def python_functions(text):
    """Those of modules and classes, with the class in front of the name; inner ones are part of the function around them."""
    def of(body, outer):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield Function(outer + node.name, node.lineno, node.end_lineno)
            elif isinstance(node, ast.ClassDef):
                yield from of(node.body, f"{outer}{node.name}.")
            else:
                yield from of(ast.iter_child_nodes(node), outer)

    return list(of(ast.parse(text).body, ""))


def longest(found):
    """By name, the lines of the longest: overloads have one name."""
    out = {}
    for function in found:
        out[function.name] = max(function.lines, out.get(function.name, 0))
    return out
