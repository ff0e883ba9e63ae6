#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the links of the documents: each leads to a file of the project and, with an anchor, to a heading of it.

Links to other hosts are not followed. Each page below docs/ can be reached from README.md by links, so that no page
is forgotten by the index. A path "docs/….md" in a source or a message must be a document, too."""

import pathlib
import re
import sys

import api_index
import decisions
import documents
import tree

NAMED = re.compile(r"(?<![\w/.*-])docs/[a-z0-9_/-]+\.(?:md|png)")
INVENTED = frozenset(["tests/dev/test_prose_lint.py", "tests/dev/test_document_check.py"])  # their documents do not exist


def broken_links(document, text, texts):
    for line, target in documents.links(text):
        if documents.is_external(target):
            continue
        path, anchor = documents.resolved(document, target)
        if path not in texts and not (tree.ROOT / path).exists():
            yield f"{document}:{line}: {target} does not exist"
        elif anchor and path in texts and anchor not in documents.anchors(texts[path]):
            yield f"{document}:{line}: {path} has no heading #{anchor}"


def unreachable(texts):
    """The pages below docs/ that no chain of links reaches from README.md."""
    reached, new = set(), [pathlib.Path("README.md")]
    while new:
        page = new.pop()
        if page in reached or page not in texts:
            continue
        reached.add(page)
        new += [documents.resolved(page, target)[0] for _, target in documents.links(texts[page])
                if not documents.is_external(target)]
    for page in texts:
        if page.parts[0] == "docs" and page not in reached:
            yield f"{page}: no link leads to it; add it to docs/README.md"


def broken_names():
    """Paths of documents in sources that do not exist."""
    for path in tree.files():
        name = path.relative_to(tree.ROOT).as_posix()
        if name in INVENTED:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for match in NAMED.finditer(text):
            if not (tree.ROOT / match[0]).exists():
                yield f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]} does not exist"


def main():
    texts = {document: (tree.ROOT / document).read_text(encoding="utf-8") for document in documents.documents()}
    faults = [fault for document, text in texts.items() for fault in broken_links(document, text, texts)]
    faults += [*unreachable(texts), *broken_names()]
    for fault in faults:
        print(fault)
    broken_indices = decisions.main() + api_index.main()
    return 1 if faults or broken_indices else 0


if __name__ == "__main__":
    sys.exit(main())
