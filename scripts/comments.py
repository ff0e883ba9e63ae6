# SPDX-License-Identifier: Apache-2.0
"""The comments of C++, Python and shell files, and the names of their tests.

A comment is a sequence of lines (number, text without the marker). The lines with licence and interpreter are left out.
"""

import io
import re
import textwrap
import tokenize

CPP = re.compile(r"\.(hpp|cpp|h|cu)$")
PYTHON = re.compile(r"\.py$")
SHELL = re.compile(r"\.sh$|^dev$|^\.ci/run$")

# Each pattern matches a comment, a test's name, or text that is not a comment although it may contain the beginning of
# one.
CPP_TOKEN = re.compile(r"""(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|R"(?P<raw>[^()\s]*)\(.*?\)(?P=raw)"
                           |\b(?:TEST_CASE|SUBCASE|TEST_SUITE)\(\s*(?P<name>(?:"(?:\\.|[^"\\\n])*"\s*)+)\)
                           |"(?:\\.|[^"\\\n])*"|\b\d(?:[\w.]|'(?=\w))*|'(?:\\.|[^'\\\n])+'""", re.VERBOSE | re.DOTALL)
SHELL_TOKEN = re.compile(r"""(?:^|(?<=[\s;]))\#(?P<line>[^\n]*)|\\.|'[^']*'|"(?:\\.|[^"\\])*"
                             |<<-?\s*(?P<quote>['"]?)(?P<end>\w+)(?P=quote)\n.*?\n\s*(?P=end)$""",
                         re.VERBOSE | re.DOTALL | re.MULTILINE)
TEXT = re.compile(r'"((?:\\.|[^"\\])*)"')
MARKER = re.compile(r"//[/!]?<?")
LITERAL = re.compile(r'[rRbBuUfF]*("""|\'\'\'|"|\')(?P<text>.*)\1', re.DOTALL)
NOT_PROSE = re.compile(r"SPDX-License-Identifier|^!\s*/")


def line_at(source, offset):
    return source.count("\n", 0, offset) + 1


def cpp_comments(source):
    for match in CPP_TOKEN.finditer(source):
        first = line_at(source, match.start())
        if match["line"]:
            yield first, match["line"][MARKER.match(match["line"]).end():]
        elif match["block"]:
            for number, line in enumerate(match["block"][2:-2].split("\n"), first):
                yield number, line.removesuffix("\\").strip(" *")


def cpp_names(source):
    for match in CPP_TOKEN.finditer(source):
        if match["name"]:
            yield line_at(source, match.start()), "".join(TEXT.findall(match["name"]))


def shell_comments(source):
    for match in SHELL_TOKEN.finditer(source):
        if match["line"]:
            yield line_at(source, match.start()), match["line"]


def python_lines(source):
    """Yields (whether it is a test's name, line number, text) for comments, docstrings, and functions test_…."""
    begins_statement, before = True, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield False, token.start[0], token.string[1:]
        elif token.type == tokenize.STRING and begins_statement:
            first, *others = LITERAL.fullmatch(token.string)["text"].split("\n")
            for number, line in enumerate([first, *textwrap.dedent("\n".join(others)).split("\n")], token.start[0]):
                yield False, number, line
        elif before == "def" and token.string.startswith("test_"):
            yield True, token.start[0], token.string.replace("_", " ")
        before = token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins_statement = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def comment_lines(name, source):
    if CPP.search(name):
        lines = cpp_comments(source)
    elif PYTHON.search(name):
        lines = ((number, text) for is_name, number, text in python_lines(source) if not is_name)
    else:
        lines = shell_comments(source)
    return ((number, text) for number, text in lines if not NOT_PROSE.search(text))


def test_names(name, source):
    if CPP.search(name):
        yield from cpp_names(source)
    elif PYTHON.search(name):
        yield from ((number, text) for is_name, number, text in python_lines(source) if is_name)


def blocks(lines):
    """Yields (line number, text) for each comment. Comments on consecutive lines are one."""
    first, texts, last = 0, [], 0
    for number, text in lines:
        if number != last + 1 and texts:
            yield first, "\n".join(texts)
            texts = []
        if not texts:
            first = number
        texts.append(text)
        last = number
    if texts:
        yield first, "\n".join(texts)
