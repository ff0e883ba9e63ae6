#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bounds the words of headless clauses ("what began it", "who hands it in") in comments, tests' names and documents.

A sentence that names its subject reads faster than one that begins with such a word. The check counts the words below
per 1,000 words, prints the rate of each folder, and fails if an entry of FOLDERS is over its limit. An entry can also
ask for a rate of "must" and "should" (a header that has none states no contract), and bound the length of comment lines
in C++, which clang-format leaves alone.

Code does not count: code spans, code blocks, strings, and text in double quotes.
"""

import argparse
import collections
import re
import sys

import comments
import tree

COUNTED = frozenset("what where who told tells stands nobody somebody".split())
DUTIES = frozenset(("must", "should"))

Limits = collections.namedtuple("Limits", "at_most duties columns", defaults=(0, None))

# Per 1,000 words. A path counts for the longest entry that contains it. The limit of an entry that has not been
# rewritten is the rate that it had, so that the rate cannot grow.
FOLDERS = {
    "include": Limits(at_most=5, duties=2, columns=100),
    "lib": Limits(at_most=5, columns=100),
    "tools": Limits(at_most=5, columns=100),
    "bench": Limits(at_most=5, columns=100),
    "examples": Limits(at_most=5, columns=100),
    "tests": Limits(at_most=5),
    "scripts": Limits(at_most=5),
    "dev": Limits(at_most=5),
    ".ci": Limits(at_most=5),
    "docs": Limits(at_most=5),
    "README.md": Limits(at_most=5),
    "CONTRIBUTING.md": Limits(at_most=5),
}

CODE_INDENT = " " * 3
FENCE = "```"
CODE_SPAN = re.compile(r"(`+).+?\1", re.DOTALL)
QUOTED = re.compile(r'"[^"]*"')
LINK_TARGET = re.compile(r"\]\([^)]*\)|https?://\S+")
MARKDOWN_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


def long_comment_lines(name, source, columns):
    """Yields the number of each line whose comment goes beyond that column."""
    lines = source.splitlines()
    for number, _ in comments.comment_lines(name, source):
        if len(lines[number - 1].removesuffix("\\").rstrip()) > columns:
            yield number


def is_document(name):
    return name.endswith(".md")


def blank(match):
    """The same number of lines, without words."""
    return "\n" * match[0].count("\n")


def without_blocks(text, code_indent):
    """The text with its fenced blocks, and those indented by at least code_indent, as empty lines."""
    kept, fenced, may_begin = [], False, True
    for line in text.split("\n"):
        is_fence = line.strip().startswith(FENCE)
        is_code = fenced or is_fence or (may_begin and line.startswith(code_indent))
        fenced ^= is_fence
        # Lines of text that continue a list's item are indented, too, but follow a line of text.
        may_begin = is_code or not line.strip()
        kept.append("" if is_code else line)
    return "\n".join(kept)


def prose(text, code_indent):
    """The text with everything that is not prose left out. Each word keeps its line."""
    text = MARKDOWN_COMMENT.sub(blank, without_blocks(text, code_indent))
    paragraphs = re.split(r"(\n[ \t]*\n)", text)  # an odd quotation mark ends with its paragraph
    return "".join(LINK_TARGET.sub("", QUOTED.sub(blank, CODE_SPAN.sub(blank, paragraph)))
                   for paragraph in paragraphs)


def words(name, text):
    """Yields (line number, word in lower case) for the prose of a document, or of a source's comments and names."""
    if is_document(name):
        parts, code_indent = [(1, text)], " " * 4
    else:
        parts = [*comments.blocks(comments.comment_lines(name, text)), *comments.test_names(name, text)]
        code_indent = CODE_INDENT
    for first, part in parts:
        for number, line in enumerate(prose(part, code_indent).split("\n"), first):
            for word in WORD.findall(line):
                yield number, word.lower()


class Tally:
    """The words of a folder."""

    def __init__(self):
        self.total = 0
        self.duties = 0
        self.places = []  # (file, line, word) of each counted word
        self.long_lines = []  # (file, line)

    def add(self, name, text, columns=None):
        if columns and comments.CPP.search(name):
            self.long_lines += [(name, number) for number in long_comment_lines(name, text, columns)]
        for number, word in words(name, text):
            self.total += 1
            self.duties += word in DUTIES
            if word in COUNTED:
                self.places.append((name, number, word))

    def rate(self):
        return 1000 * len(self.places) / max(self.total, 1)

    def duty_rate(self):
        return 1000 * self.duties / max(self.total, 1)

    def failures(self, entry, limits):
        if self.rate() > limits.at_most:
            worst = collections.Counter(name for name, _, _ in self.places).most_common(3)
            yield (f"{entry}: {self.rate():.1f} of {', '.join(sorted(COUNTED))} per 1,000 words; at most "
                   f"{limits.at_most:g}. Name the subject, or write if or when (--list shows each place; most are in "
                   f"{', '.join(name for name, _ in worst)})")
        if self.total and self.duty_rate() < limits.duties:
            yield (f"{entry}: {self.duty_rate():.1f} of must, should per 1,000 words; at least {limits.duties:g}. "
                   "State the duties of callers")
        for name, number in self.long_lines:
            yield f"{name}:{number}: a comment line of more than {limits.columns} columns"


def entry_of(name, folders):
    """The longest entry that contains the file, or None."""
    found = [entry for entry in folders if name == entry or name.startswith(entry + "/")]
    return max(found, key=len, default=None)


def is_prose(name):
    return is_document(name) or any(kind.search(name) for kind in (comments.CPP, comments.PYTHON, comments.SHELL))


def tally(texts, folders):
    """Tallies by entry, and by (entry, folder), of the texts by name."""
    entries, parts = collections.defaultdict(Tally), collections.defaultdict(Tally)
    for name, text in texts:
        entry = entry_of(name, folders)
        if entry and is_prose(name):
            entries[entry].add(name, text, folders[entry].columns)
            parts[entry, name.rpartition("/")[0] or name].add(name, text)
    return entries, parts


def report(entries, parts, folders, listing):
    """Prints the rates, and returns whether each entry keeps its limits."""
    for (entry, folder), part in sorted(parts.items()):
        print(f"{folder}: {part.rate():.1f} of at most {folders[entry].at_most:g}, "
              f"{part.duty_rate():.1f} duties, {part.total} words")
    failures = [failure for entry, found in sorted(entries.items()) for failure in found.failures(entry, folders[entry])]
    if listing:
        for found in entries.values():
            print(*(f"{name}:{number}: {word}" for name, number, word in found.places), sep="\n")
    print(*failures, sep="\n", end="\n" if failures else "")
    return not failures


def project_texts():
    for path in tree.files():
        name = path.relative_to(tree.ROOT).as_posix()
        if is_prose(name) and entry_of(name, FOLDERS):
            yield name, path.read_text(encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Bounds the words of headless clauses in comments and documents.")
    parser.add_argument("--list", action="store_true", help="print each place of a counted word")
    options = parser.parse_args()
    return 0 if report(*tally(project_texts(), FOLDERS), FOLDERS, options.list) else 1


if __name__ == "__main__":
    sys.exit(main())
