#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: check_commands.py ROOT COROSCOPE

Checks each `coroscope …` command that the documents show, in text or in a block: the subcommand exists, its help lists
each option, and lists the value of an option of which it lists all values."""

import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`(coroscope [^`]*)`")
LINE = re.compile(r"(?:^|[;&|(] *|\bdo )((?:\S*/)?coroscope [^;&|#)\n]*)", re.MULTILINE)
LISTED = re.compile(r"(--[a-z-]+)[^\n]*?:\{([^}]*)\}")
PLACEHOLDER = re.compile(r"COMMAND|NAME|[FO]\b|…|.*\.(?:cst|json|sqlite|db)\b|FILE|--(?:help|version)\b|\$")


def commands(text):
    """Yields (line, command) for the commands in blocks of the shell, in blocks without a language, and in spans."""
    for match in FENCE.finditer(text):
        if match[1] in ("", "sh"):
            first = text.count("\n", 0, match.start(2)) + 1
            for found in LINE.finditer(match[2]):
                is_prompt = match[1] == "sh" or match[2].lstrip().startswith("coroscope ")
                if is_prompt:
                    yield first + match[2].count("\n", 0, found.start(1)), found[1]
    plain = FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in SPAN.finditer(plain):
        yield plain.count("\n", 0, match.start()) + 1, " ".join(match[1].split())


class Help:
    def __init__(self, tool):
        self.tool, self.texts = tool, {}

    def of(self, subcommand):
        """The help of a subcommand; None if there is no such subcommand."""
        if subcommand not in self.texts:
            done = subprocess.run([self.tool, subcommand, "--help"], capture_output=True, text=True, check=False)
            self.texts[subcommand] = done.stdout if done.returncode == 0 and "Usage: coroscope " + subcommand in done.stdout else None
        return self.texts[subcommand]


def faults_of(command, helps):
    words = command.partition(" -- ")[0].split()[1:]  # what follows is the recorded program
    if not words or PLACEHOLDER.match(words[0]):
        return
    text = helps.of(words[0])
    if text is None:
        yield f"there is no subcommand {words[0]}"
        return
    values = {name: listed.split(",") for name, listed in LISTED.findall(text)}
    for word, following in zip(words[1:], [*words[2:], ""]):
        name, has_value, value = word.partition("=")
        if not re.fullmatch(r"--[a-z][a-z-]*", name):
            continue
        if not re.search(re.escape(name) + r"(?![a-z-])", text):
            yield f"coroscope {words[0]} has no option {name}"
        elif name in values and (has_value or following.islower()):
            for each in (value or following).split(","):  # some options take a list
                if each not in values[name]:
                    yield f"coroscope {words[0]} {name} does not take {each}"


def main():
    root, helps = pathlib.Path(sys.argv[1]), Help(sys.argv[2])
    pages = [root / "README.md", root / "SECURITY.md", *sorted((root / "docs").glob("**/*.md")),
             *sorted((root / "examples").glob("**/*.md"))]
    count, faults = 0, 0
    for page in pages:
        for line, command in commands(page.read_text(encoding="utf-8")):
            count += 1
            for fault in faults_of(command, helps):
                faults += 1
                print(f"{page.relative_to(root)}:{line}: {fault}: {command}")
    print(f"{count} commands, {faults} faults")
    return 1 if faults or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
