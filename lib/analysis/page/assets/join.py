#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins the assets of a report's page into one C++ source. docs/contributing/report_data.md describes the assets.

    join.py FOLDER VERSION OUTPUT DEPFILE
"""

import base64
import hashlib
import pathlib
import re
import sys

PLACES = ("title", "summary", "timeline")
IMPORT = re.compile(r"^import\s*\{([^}]*)\}\s*from\s*'\./([\w-]+\.js)';[ \t]*\n", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)
DECLARED = re.compile(r"^(?:export )?(?:async )?(?:function\*?|const|let|class)\s+([\w$]+)", re.MULTILINE)
LITERAL_BYTES = 12000  # compilers limit the length of a literal


def fail(message):
    sys.exit(f"join.py: {message}")


def read_modules(folder):
    """The texts of the modules by name, checked for text that would end the element."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.js"))}
    if "main.js" not in texts:
        fail(f"{folder}: there is no main.js")
    for name, text in texts.items():
        if re.search(r"</script|<!--", text, re.IGNORECASE):
            fail(f'{name}: contains "</script" or "<!--", which would end the element; divide the string')
    return texts


def order_of(texts):
    """The names of the modules, each after those that it imports; main.js is the last."""
    order, open_names = [], []

    def visit(name, importer):
        if name in order:
            return
        if name in open_names:
            fail(f"{importer}: imports {name}, which imports it: a cycle")
        if name not in texts:
            fail(f"{importer}: imports {name}, which does not exist")
        open_names.append(name)
        for match in IMPORT.finditer(texts[name]):
            visit(match[2], name)
        open_names.pop()
        order.append(name)

    for name in [*sorted(set(texts) - {"main.js"}), "main.js"]:
        visit(name, name)
    return order


def check_names(texts, order):
    declared = {}
    for name in order:
        for match in DECLARED.finditer(texts[name]):
            other = declared.setdefault(match[1], name)
            if other != name:
                fail(f"{name}: declares {match[1]}, which {other} declares, too; all modules share one scope")


def join_script(folder):
    texts = read_modules(folder)
    order = order_of(texts)
    check_names(texts, order)
    parts = ["(() => {\n'use strict';\n"]
    for name in order:
        text = EXPORT.sub("", IMPORT.sub("", texts[name]))
        wrong = re.search(r"^(import|export)\b.*", text, re.MULTILINE)
        if wrong:
            fail(f"{name}: cannot join the line: {wrong[0]}")
        parts.append(f"// {name}\n{text}\n")
    return "".join([*parts, "})();\n"])


def source_of(text):
    """The hash by which a content security policy allows an inline element."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def fill(page, place, text):
    if "{{" + place + "}}" not in page:
        fail(f"index.html: the place {{{{{place}}}}} is missing")
    return page.replace("{{" + place + "}}", text)


def join_page(folder):
    page = (folder / "index.html").read_text(encoding="utf-8")
    style = (folder / "style.css").read_text(encoding="utf-8")
    if "</" in style:
        fail('style.css: contains "</", which may end the element')
    script = join_script(folder)
    policy = (f"default-src 'none'; script-src {source_of(script)}; style-src {source_of(style)}; "
              "img-src data:; base-uri 'none'; form-action 'none'")
    page = fill(page, "policy", policy)
    page = fill(page, "style", f"<style>{style}</style>")
    return fill(page, "script", f"<script>{script}</script>")


def literal(text):
    """A text as adjacent raw string literals."""
    parts = []
    while text:
        part = text[:LITERAL_BYTES]
        parts.append(f'R"page({part})page"')
        text = text[len(part):]
    return "\n        ".join(parts) or '""'


def main(folder, version, output, depfile):
    page = join_page(pathlib.Path(folder))
    if ')page"' in page or "\r" in page:
        fail('an asset contains )page" or a carriage return')
    for place in ("summary", "timeline"):
        if page.count("{{" + place + "}}") != 1:
            fail(f"index.html: the place {{{{{place}}}}} must occur once")
    pieces = re.split(r"\{\{(" + "|".join(PLACES) + r")\}\}", page)
    rows = [f"    {{{literal(text)},\n     page_place::{place}}},\n"
            for text, place in zip(pieces[::2], [*pieces[1::2], "end"])]
    pathlib.Path(output).write_text(
        "// SPDX-License-Identifier: Apache-2.0\n// Made by join.py.\n"
        '#include "page/page_frame.hpp"\n\n#include <array>\n\n'
        "namespace coroscope::analysis::inline pages {\nnamespace {\n\n"
        f"constexpr std::array<page_piece, {len(rows)}> pieces_of_frame{{{{\n{''.join(rows)}}}}};\n\n"
        "}  // namespace\n\nstd::span<const page_piece> page_frame() { return pieces_of_frame; }\n\n"
        f'std::string_view page_version() {{ return "{version}"; }}\n\n'
        "}  // namespace coroscope::analysis::inline pages\n", encoding="utf-8")
    # The folder itself changes with each new file.
    used = [folder, *(str(path) for path in sorted(pathlib.Path(folder).iterdir()))]
    pathlib.Path(depfile).write_text(f"{output}: {' '.join(path.replace(' ', chr(92) + ' ') for path in used)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
