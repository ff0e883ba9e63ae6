#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a function which x.hpp declares is defined in x.cpp, or in x_*.cpp, so that a reader finds the definition.
It applies to the headers under lib/ and tools/; a function of a public header is defined in its room.

Declarations are found in the text, as .clang-format leaves it.
"""

import collections
import pathlib
import re
import sys

import tree

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\b(?:alignas|noexcept|requires|decltype|__attribute__|explicit)\s*\((?:[^()]|\([^()]*\))*\)",
                       re.DOTALL)
OPENED = re.compile(r"\b(namespace|class|struct|union|enum(?: class)?)\b\s*([\w:\s]*?)\s*(?:final\s*)?(?::[^{;()]*)?$")
NAMESPACE = re.compile(r"\bnamespace\s+([\w:\s]+)\{")
FUNCTION = re.compile(r"((?:[\w~]+(?:<[^<>]*>)?::)*(?:operator\s*[^\s(]+|~?\w+))\s*\(")
NOT_A_FUNCTION = re.compile(r"\s*(using|typedef|static_assert|friend|return|template|namespace|asm|extern template)\b|.*=\s*(default|delete|0)\s*$"
                            r"|[^(]*=", re.DOTALL)

Function = collections.namedtuple("Function", "name parameters line")


def parameters_of(text):
    """The number of parameters in the text after the opening parenthesis."""
    depth, count, empty = 1, 1, True
    for letter in text:
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
            if depth == 0:
                break
        elif letter == "," and depth == 1:
            count += 1
        empty = empty and letter.isspace()
    return 0 if empty else count


def plain(text):
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])  # noqa: E731
    for pattern in (COMMENT, LITERAL, DIRECTIVE):
        text = pattern.sub(blank if pattern is not LITERAL else lambda match: '""', text)
    return text


def function_in(statement, scopes, line):
    """The function that a statement at namespace or class scope declares, or begins to define."""
    statement = ATTRIBUTE.sub(" ", statement)
    if NOT_A_FUNCTION.match(statement):
        return None
    found = FUNCTION.search(statement)
    if not found or not statement[:found.start()].strip() and "::" not in found[1] and not scopes:
        return None
    classes = [name for kind, name in scopes if kind != "namespace"]
    name = "::".join(classes + re.sub(r"<.*?>", "", found[1]).replace(" ", "").split("::"))
    return Function(name, parameters_of(statement[found.end():]), line)


def functions_of(text):
    """Yields (function, whether it is defined here) for each function that other files can name."""
    text = plain(text)
    scopes, begin, hidden = [], 0, 0
    for match in re.finditer(r"[{};]|\b(?:public|private|protected):", text):
        at, sign = match.start(), match[0]
        statement = text[begin:at]
        inside = all(kind in ("namespace", "class", "struct") for kind, _ in scopes)
        line = text.count("\n", 0, begin + len(statement) - len(statement.lstrip())) + 1
        if sign == "{":
            opened = OPENED.search(ATTRIBUTE.sub(" ", statement)) if inside else None
            if opened and "(" not in ATTRIBUTE.sub(" ", statement).split(opened[1])[-1]:
                kind, name = opened[1], opened[2].replace("inline", "").strip()
                hidden += kind == "namespace" and not name
                scopes.append((kind, name))
            else:
                function = function_in(statement, scopes, line) if inside and not hidden else None
                if function:
                    yield function, True
                scopes.append(("block", ""))
            begin = at + 1
        elif sign == "}":
            if scopes:
                kind, name = scopes.pop()
                hidden -= kind == "namespace" and not name
            begin = at + 1
        else:
            if sign == ";" and inside and not hidden:
                function = function_in(statement, scopes, line)
                if function:
                    yield function, False
            begin = match.end()


def namespaces_of(texts):
    return {name for text in texts for names in NAMESPACE.findall(plain(text)) for name in re.findall(r"\w+", names)} - {"inline"}


def without_namespaces(function, namespaces):
    names = function.name.split("::")
    while len(names) > 1 and names[0] in namespaces:
        names = names[1:]
    return function._replace(name="::".join(names))


def is_of(header, source):
    stem, other = pathlib.PurePath(header).stem, pathlib.PurePath(source).stem
    return other == stem or other.startswith(stem + "_")


def scattered(texts):
    """(header, function, source) for each function that a header declares and other units define."""
    namespaces = namespaces_of(texts.values())
    functions = {path: [(without_namespaces(function, namespaces), here) for function, here in functions_of(text)]
                 for path, text in texts.items()}
    defined = collections.defaultdict(set)
    for path in texts:
        if path.endswith(".cpp"):
            for function, here in functions[path]:
                if here:
                    defined[function.name, function.parameters].add(path)
    for path in sorted(texts):
        if not path.endswith(".hpp"):
            continue
        for function, here in functions[path]:
            sources = defined[function.name, function.parameters]
            if not here and sources and not any(is_of(path, source) for source in sources):
                yield path, function, min(sources)


def problems(texts):
    for path, function, source in scattered(texts):
        yield (f"{path}:{function.line}: {function.name}() is defined in {source}; define it in "
               f"{pathlib.PurePath(path).stem}.cpp, or declare it in {pathlib.PurePath(source).stem}.hpp")


def main():
    paths = [path.relative_to(tree.ROOT).as_posix() for path in tree.files()]
    texts = {path: (tree.ROOT / path).read_text(errors="replace") for path in paths
             if path.startswith(("lib/", "tools/")) and path.endswith((".hpp", ".cpp"))}
    found = list(problems(texts))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
