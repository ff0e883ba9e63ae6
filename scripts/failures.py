# SPDX-License-Identifier: Apache-2.0
"""The short form of a failure: a block with a heading and lines, which name the failure, its place and its kind.

No line has more than 300 characters. The whole output stays in the log."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE_LENGTH = 300
CASES = 6  # of one test; the others are counted
CASE_LINES = 8
OTHER_LINES = 12  # of an output that is not of a known kind

RULE = re.compile(r"^={70,}$", re.MULTILINE)
DOCTEST_CASE = re.compile(r"^TEST CASE:  (.*)$", re.MULTILINE)
DOCTEST_ERROR = re.compile(r"(?:^|: )(?:FATAL )?ERROR: ")
UNIT_CASE = re.compile(r"^(?:FAIL|ERROR): .*$", re.MULTILINE)
SANITIZER = re.compile(r"\b\w+Sanitizer: |: runtime error: ")
CRASH = re.compile(r"\bCRASHED: SIG|\bkilled by signal\b")
SEED = re.compile(r"\bseed[ =:]+(0x[0-9a-fA-F]+|\d+)", re.IGNORECASE)
COMPILER_ERROR = re.compile(r"^(.+?):(\d+):(?:\d+:)? (?:fatal )?error: ")
LINKER_ERROR = re.compile(r"undefined reference to|multiple definition of|cannot find -l|\bld: (?:error|cannot)|"
                          r"collect2: error")
BUILD_STEP = re.compile(r"^FAILED: (.*)$")
SETUP_ERROR = re.compile(r"(?:^|: )ERROR: |^dev: .*(?:failed|can't|not found|needs)|^Traceback")
FINDING = re.compile(r"^[\w./-]+:\d+: (?!note|warning)|^[\w./-]+: .*|^dev: lint: failed")
SOURCE_PREFIX = re.compile(rf"{re.escape(str(ROOT))}/(?:build/[\w.+-]+/\.\./\.\./)?|\.\./\.\./(?=[a-z])")


def short(line):
    """The line without the folders above the project's, cut to the permitted length."""
    line = SOURCE_PREFIX.sub("", line.rstrip())
    return line if len(line) <= LINE_LENGTH else line[: LINE_LENGTH - 1] + "…"


def block(heading, lines, unstable=False):
    return {"heading": heading, "lines": [short("    " + line) for line in lines], "unstable": unstable}


def lines_of(suite, block):
    """The lines of the block of a suite."""
    kind = "UNSTABLE" if block["unstable"] else "FAILED"
    return [short(f"---- {kind}: {suite}: {block['heading']}"), *block["lines"]]


def is_fatal(test, output):
    """Whether the failure counts whatever a second try says: a sanitizer's report, or a signal that ended the
    program."""
    killed = test["returncode"] < 0 and test["result"] != "TIMEOUT"
    return killed or bool(SANITIZER.search(output) or CRASH.search(output))


def how_it_ended(test):
    code = test["returncode"]
    if test["result"] == "TIMEOUT":
        return f"ran out of time after {test['duration']:.0f} s"
    if test["result"] == "UNEXPECTEDPASS":
        return "passed, and should have failed"
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def without_blanks(lines):
    return [line for line in lines if line.strip()]


def doctest_cases(output):
    for part in RULE.split(output):
        lines = part.splitlines()
        case = DOCTEST_CASE.search(part)
        first = next((i for i, line in enumerate(lines) if DOCTEST_ERROR.search(line)), None)
        if case and first is not None:
            yield [f"case: {case[1]}"] + without_blanks(lines[first:])[: CASE_LINES - 1]


def unit_cases(output):
    """The failed cases of Python's unittest: the name, the last place of the traceback, and what was raised."""
    for part in RULE.split(output):
        case = UNIT_CASE.search(part)
        if not case or "Traceback" not in part:
            continue
        lines = without_blanks(part[case.start():].splitlines())
        last = max((i for i, line in enumerate(lines) if line.startswith("  File ")), default=0)
        end = next((i for i, line in enumerate(lines) if re.match(r"Ran \d+ tests? in", line)), len(lines))
        yield ["case: " + case[0]] + lines[last:end][: CASE_LINES - 1]


def report_of_sanitizer(output):
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if SANITIZER.search(line)), None)
    if first is not None:
        yield without_blanks(lines[first: first + OTHER_LINES])


def short_output(output):
    cases = [*report_of_sanitizer(output), *doctest_cases(output), *unit_cases(output)]
    lines = [line for case in cases[:CASES] for line in case]
    if len(cases) > CASES:
        lines.append(f"… {len(cases) - CASES} more cases")
    return lines or without_blanks(output.splitlines())[-OTHER_LINES:] or ["(it printed nothing)"]


def of_test(test, unstable=False):
    """The block of a test: an entry of Meson's log."""
    output = test["stdout"] + "\n" + test.get("stderr", "")
    lines = short_output(output)
    seed = SEED.search(output)
    if seed and not any(seed[0] in line for line in lines):
        lines.append(f"seed: {seed[1]}")
    return block(f"{test['name']} ({how_it_ended(test)})", lines, unstable)


def of_build(output):
    """The block of a build: the first error of each file. If there is none, the steps that failed, and the end."""
    first, steps = {}, []
    for line in output.splitlines():
        error, step = COMPILER_ERROR.match(line), BUILD_STEP.match(line)
        if error:
            first.setdefault(error[1], line)
        elif step:
            steps.append(step[1])
        elif LINKER_ERROR.search(line) and steps:
            first.setdefault(steps[-1], f"{steps[-1]}: {line}")
    lines = list(first.values())
    if not lines:
        lines = [f"step: {step}" for step in steps] + without_blanks(output.splitlines())[-OTHER_LINES:]
    return block("the build", lines)


def of_command(output, status):
    """The block of a command that failed before it ran tests, as a configuration or a check."""
    every = without_blanks(output.splitlines())
    marked = [i for i, line in enumerate(every) if SETUP_ERROR.search(line)]
    lines = [every[i] for i in marked][-OTHER_LINES:] if marked else every[-OTHER_LINES:]
    return block(f"ended without a count (exit status {status})", lines or ["(it printed nothing)"])


def of_lint(output, status):
    findings = [line for line in output.splitlines() if FINDING.match(line) and not line.startswith("dev: lint: clean")]
    return block(f"exit status {status}", findings or without_blanks(output.splitlines())[-OTHER_LINES:])
