# SPDX-License-Identifier: Apache-2.0
"""The documents of the project, their headings and their links, for the checks and for the site."""

import os
import pathlib
import re
import unicodedata

import tree

FENCE = re.compile(r"^( *)(```|~~~).*?^ *\2[^\n]*$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(`+)[^`].*?\1", re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^(#{1,6}) +(.+?)#*$", re.MULTILINE)
HTML_ANCHOR = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")


def documents():
    """The Markdown files, as paths relative to the root of the project."""
    return [path.relative_to(tree.ROOT) for path in tree.files() if path.suffix == ".md"]


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def without_code(text):
    """The text with code blocks and code spans blank. Each character keeps its place."""
    return SPAN.sub(blank, FENCE.sub(blank, text))


def links(text):
    """Yields (line, target) of each link and picture."""
    plain = without_code(text)
    for match in LINK.finditer(plain):
        yield plain.count("\n", 0, match.start()) + 1, match[3]
        yield from links_within(match, plain)


def links_within(match, plain):
    """The pictures in the text of a link."""
    for inner in LINK.finditer(match[2]):
        yield plain.count("\n", 0, match.start()) + 1, inner[3]


def words_of(heading):
    """A heading as a reader sees it: without the marks of code, emphasis and links."""
    return re.sub(r"[`*]", "", LINK.sub(lambda link: link[2], heading)).strip()


def anchor_of(heading):
    """The anchor that GitHub gives to a heading."""
    kept = [each for each in words_of(heading).lower()
            if each in "-_ " or unicodedata.category(each)[0] in "LN" or unicodedata.category(each) == "Mn"]
    return "".join(kept).replace(" ", "-")


def headings(text):
    """Yields (level, heading, anchor). Of equal headings the second has the anchor NAME-1."""
    seen = {}
    for match in HEADING.finditer(FENCE.sub(blank, text)):
        anchor = anchor_of(match[2])
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        yield len(match[1]), words_of(match[2]), f"{anchor}-{count}" if count else anchor


def anchors(text):
    return {anchor for _, _, anchor in headings(text)} | set(HTML_ANCHOR.findall(text))


def is_external(target):
    return re.match(r"[a-z][a-z0-9+.-]*:", target) is not None


def resolved(document, target):
    """The file of an internal link, relative to the root, and its anchor."""
    path, _, anchor = target.partition("#")
    if not path:
        return document, anchor
    return pathlib.Path(os.path.normpath(document.parent / path)), anchor
