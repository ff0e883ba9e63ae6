#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_site.py FOLDER

Checks that each link and picture of the site leads to a file of it, and each anchor to an element with that id. Doxygen's
own pages are not searched for links."""

import html.parser
import os
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append((self.getpos()[0], value))
            if name in ("id", "name") and value:
                self.ids.add(value)


def faults_of(folder):
    paths = [path for path in folder.rglob("*.html") if path.relative_to(folder).parts[0] != "api"]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    for path, page in sorted(pages.items()):
        for line, link in page.links:
            if re.match(r"[a-z][a-z0-9+.-]*:", link):
                continue
            name, _, anchor = urllib.parse.unquote(link).partition("#")
            target = pathlib.Path(os.path.normpath(path.parent / name)) if name else path
            if not target.exists():
                yield f"{path.relative_to(folder)}:{line}: {link} does not exist"
            elif anchor and target in pages and anchor not in pages[target].ids:
                yield f"{path.relative_to(folder)}:{line}: nothing at {link} has this id"


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    faults = list(faults_of(pathlib.Path(sys.argv[1]).resolve()))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
