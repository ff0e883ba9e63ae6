#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: build_site.py FOLDER

Makes a static site of the documents in FOLDER, by pandoc: a page for each document, with the index of docs/README.md at
the side and a search over headings. Sources that a document links become pages, too, so that every link works from a
local disk, without a server. The pages of the classes and functions (api/) are made by Doxygen, if it is there."""

import concurrent.futures
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import documents  # noqa: E402
import tree  # noqa: E402

INDEX = pathlib.Path("docs/README.md")
LINK = re.compile(r'(?P<before><(?:a|img)\b[^>]*?\b(?:href|src)=")(?P<target>[^"]+)(?P<after>")')
PICTURES = frozenset((".png", ".svg"))


def page_of(document):
    """The page of a document: README.md is the index of its folder."""
    name = "index" if document.stem == "README" else document.stem
    return document.with_name(name + ".html")


def page_of_source(path):
    return pathlib.Path("source") / path.parent / (path.name + ".html")


def relative(target, page):
    return pathlib.PurePosixPath(os.path.relpath(target, page.parent)).as_posix()


class Site:
    def __init__(self, folder):
        self.folder = folder
        self.texts = {each: (tree.ROOT / each).read_text(encoding="utf-8") for each in documents.documents()
                      if each.parts[0] not in ("subprojects", ".github")}
        self.sources = set()
        self.parts = index_of(self.texts[INDEX])
        self.template = (HERE / "template.html").read_text(encoding="utf-8")

    def target_of(self, document, target):
        """The page for a link of a document, relative to the document's page."""
        if documents.is_external(target) or target.startswith("#"):
            return target
        path, anchor = documents.resolved(document, html.unescape(target))
        page = page_of(document)
        if (tree.ROOT / path).is_dir():
            readme = path / "README.md"
            found = page_of(readme) if readme in self.texts else self.source(path)
        elif path in self.texts:
            found = page_of(path)
        elif path.suffix in PICTURES:
            found = path
            self.copy(path)
        else:
            found = self.source(path)
        return relative(found, page) + (f"#{anchor}" if anchor else "")

    def source(self, path):
        self.sources.add(path)
        return page_of_source(path)

    def copy(self, path):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree.ROOT / path, self.folder / path)

    def write(self, page, title, body, document=None):
        navigation = []
        for part, entries in self.parts:
            open_here = any(target == document for _, target in entries)
            links = "".join(f'<li><a href="{relative(page_of(target), page)}"'
                            f'{" aria-current=page" if target == document else ""}>{html.escape(words)}</a></li>'
                            for words, target in entries)
            navigation.append(f'<details{" open" if open_here or part == "Start" else ""}><summary>{html.escape(part)}'
                              f"</summary><ul>{links}</ul></details>")
        root = relative(pathlib.Path("."), page)
        text = self.template
        for name, value in (("title", html.escape(title)), ("root", root), ("navigation", "\n".join(navigation)),
                            ("body", body)):
            text = text.replace("{{" + name + "}}", value)
        (self.folder / page).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / page).write_text(text, encoding="utf-8")

    def write_document(self, document):
        text = self.texts[document]
        done = subprocess.run(["pandoc", "--from", "gfm", "--to", "html5", "--wrap=preserve"], input=text,
                              capture_output=True, text=True, check=True)
        body = LINK.sub(lambda link: link["before"] + html.escape(self.target_of(document, link["target"])) + link["after"],
                        done.stdout)
        body = re.sub(r"<td([^>]*)>(\d{4}-\d\d-\d\d)</td>", r'<td\1 class="date">\2</td>', body)
        body = re.sub(r"<table>(.*?)</table>", r'<div class="wide"><table>\1</table></div>', body, flags=re.DOTALL)
        heading = next(documents.headings(text), (1, document.stem, ""))[1]
        self.write(page_of(document), heading, body, document)

    def write_sources(self):
        """The pages of files and folders that documents link. The page of a folder links its files."""
        while self.sources - self.written:
            for path in sorted(self.sources - self.written):
                self.written.add(path)
                whole = tree.ROOT / path
                if whole.is_dir():
                    names = sorted(each.relative_to(tree.ROOT) for each in whole.iterdir()
                                   if each.is_file() and each in self.files)
                    body = "<ul>" + "".join(f'<li><a href="{relative(self.source(each), page_of_source(path))}">'
                                            f"{html.escape(each.name)}</a></li>" for each in names) + "</ul>"
                else:
                    body = f"<pre><code>{html.escape(whole.read_text(encoding='utf-8'))}</code></pre>"
                self.write(page_of_source(path), path.as_posix(), f"<h1>{html.escape(path.as_posix())}</h1>{body}")

    def write_search(self):
        """Titles and headings with their pages, for search.js."""
        entries = []
        for document, text in sorted(self.texts.items()):
            found = list(documents.headings(text))
            title = found[0][1] if found else document.stem
            entries += [[heading, "" if level == 1 else title, page_of(document).as_posix() + ("" if level == 1 else f"#{anchor}")]
                        for level, heading, anchor in found if level <= 3]
        (self.folder / "search_index.js").write_text(f"const headings = {json.dumps(entries)};\n", encoding="utf-8")

    def make(self):
        self.files, self.written = set(tree.files()), set()
        with concurrent.futures.ThreadPoolExecutor() as workers:  # pandoc runs in processes of its own
            list(workers.map(self.write_document, sorted(self.texts)))
        self.write_sources()
        self.write_search()
        for name in ("style.css", "search.js"):
            shutil.copyfile(HERE / name, self.folder / name)


def index_of(text):
    """The parts of the index with their links: [(heading, [(words, document)])]."""
    parts, plain = [], documents.without_code(text)
    for section in re.split(r"^## ", plain, flags=re.MULTILINE)[1:]:
        title, _, rest = section.partition("\n")
        entries = []
        for match in documents.LINK.finditer(rest):
            path, _ = documents.resolved(INDEX, match[3])
            if path.suffix == ".md" and path not in (target for _, target in entries):
                entries.append((match[2][:1].upper() + match[2][1:], path))
        parts.append((title.partition(":")[0].strip(), entries))
    return parts


def make_api(folder):
    """Doxygen's pages of the public headers. Prints one line and returns False if Doxygen is not there."""
    if not shutil.which("doxygen"):
        print("without api/: doxygen is not installed")
        return False
    settings = (HERE / "Doxyfile").read_text(encoding="utf-8")
    settings += (f'OUTPUT_DIRECTORY = "{folder}"\nINPUT = "{tree.ROOT / "include" / "coroscope"}" "{HERE / "mainpage.dox"}"\n'
                 f'STRIP_FROM_PATH = "{tree.ROOT / "include"}"\nSTRIP_FROM_INC_PATH = "{tree.ROOT / "include"}"\n'
                 f'INPUT_FILTER = "{sys.executable} {HERE / "doxygen_filter.py"}"\n')
    done = subprocess.run(["doxygen", "-"], input=settings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"doxygen failed:\n{done.stderr[-2000:]}")
    return True


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    Site(folder).make()
    make_api(folder)


if __name__ == "__main__":
    main()
