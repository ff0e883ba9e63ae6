#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the layers: who may include whom, and what a runtime header may pull in.

Two towers on one ground: the runtime and the analysis never include each other, both may include
the trace format, and that includes neither. Integrations stand on the runtime, tools on the
analysis. What a service includes must stay light, through whatever project headers it comes.
"""

import collections
import re
import sys

import tree

MAY_INCLUDE = {
    "ground": {"ground"},
    "trace": {"trace", "ground"},
    "runtime": {"runtime", "trace", "ground"},
    "integration": {"integration", "runtime", "trace", "ground"},
    "analysis": {"analysis", "trace", "ground"},
    "tools": {"tools", "analysis", "trace", "ground"},
}

# First match wins.
LAYER_OF = [
    ("include/coroscope/detail/export.hpp", "ground"),  # macros of the compiler, no declaration
    ("include/coroscope/trace/", "trace"),
    ("include/coroscope/analysis/", "analysis"),
    ("include/coroscope/integration/", "integration"),
    ("include/coroscope/", "runtime"),
    ("lib/trace/", "trace"),
    ("lib/analysis/", "analysis"),
    ("lib/runtime/", "runtime"),
    ("lib/", "integration"),
    ("tools/", "tools"),
]

HEAVY = set("""atomic chrono format functional future iostream map memory memory_resource mutex regex sstream string
string_view thread tuple unordered_map utility vector""".split())
NEVER = {"functional"}  # not in an opt-in header either: std::apply, of <tuple>, calls what std::invoke does
# Headers that one includes by name, for what cannot be had without a heavy one.
OPT_IN = {"include/coroscope/" + name for name in
          ("async.hpp", "detail/joiner.hpp", "future.hpp", "memory_resource.hpp", "packaged_task.hpp")}
FOREIGN = re.compile(r"(boost|asio|tbb|oneapi|fmt|doctest|cuda|cupti|nvtx3?|nv)([/_.\d].*|\w*\.h)?$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)

Include = collections.namedtuple("Include", "line name target")


def layer_of(path):
    return next((layer for prefix, layer in LAYER_OF if path.startswith(prefix)), None)


def resolve(path, name, quoted):
    """The project file that an include names, relative to the root, or None."""
    places = ["include/", "lib/", "tools/", ""]
    if quoted:
        places.insert(0, path.rpartition("/")[0] + "/")
    for place in places:
        found = (tree.ROOT / place / name).resolve()
        if found.is_file() and tree.ROOT in found.parents:
            return found.relative_to(tree.ROOT).as_posix()
    return None


def read_includes(path):
    text = (tree.ROOT / path).read_text(errors="replace")
    return [Include(text.count("\n", 0, match.start()) + 1, match[2],
                    resolve(path, match[2], match[1] == '"'))
            for match in INCLUDE.finditer(text)]


def forbidden_layers(path, includes):
    layer = layer_of(path)
    for include in includes:
        target = include.target and layer_of(include.target)
        if target and target not in MAY_INCLUDE[layer]:
            yield (f"{path}:{include.line}: {layer} includes {target} ({include.name}); "
                   f"it may include {', '.join(sorted(MAY_INCLUDE[layer]))}")


def heavy_chains(start, graph):
    """Each heavy or foreign header that a runtime header reaches, by the shortest way."""
    seen, queue = {start}, collections.deque([(start, [start])])
    while queue:
        path, chain = queue.popleft()
        for include in graph.get(path, []):
            if include.target is None:
                if path in OPT_IN and start in OPT_IN and include.name not in NEVER:
                    continue
                if include.name in HEAVY or FOREIGN.match(include.name):
                    yield (f"{path}:{include.line}: a runtime header pulls in <{include.name}>"
                           + (f" ({' > '.join(chain)})" if len(chain) > 1 else "")
                           + "; keep it out of line or use a compiler builtin")
            elif include.target not in seen:
                seen.add(include.target)
                queue.append((include.target, chain + [include.target]))


def problems():
    paths = [path.relative_to(tree.ROOT).as_posix() for path in tree.files()]
    paths = [path for path in paths if layer_of(path) and path.endswith((".hpp", ".cpp", ".h", ".cu"))]
    graph = {path: read_includes(path) for path in paths}
    reported = set()
    for path, includes in graph.items():
        yield from forbidden_layers(path, includes)
        if path.startswith("include/") and layer_of(path) in ("runtime", "ground"):
            for problem in heavy_chains(path, graph):
                place = problem.split(" a runtime", 1)[0]
                if place not in reported:
                    reported.add(place)
                    yield problem


def main():
    found = list(problems())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
