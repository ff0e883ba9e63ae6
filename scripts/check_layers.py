#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layers: the allowed includes between parts, and the headers that a runtime header may include.

The runtime and the analysis must never include each other. Both may include the trace format, which must include
neither. Integrations include the runtime, tools include the analysis. A tower (runtime or analysis) consists of rooms,
one upon the other: a room may include itself and the rooms beneath it. No file may include itself through others, and
no source and its header together may do so. Headers for a service must stay light, including all project headers that
they include.

    check_layers.py             prints the violations, with the chain of includes if there is one
    check_layers.py --arrows    prints the number of includes from each room to each other one
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

# The first match counts.
LAYER_OF = [
    ("include/coroscope/detail/export.hpp", "ground"),  # macros of the compiler, without declarations
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

# From the ground up. Rooms in one line do not include each other.
ROOMS = {
    "lib/runtime/": [
        ["base"],
        ["calls"],
        ["store"],
        ["writer"],
        ["carried", "kernel"],
        ["observers", "devices"],
        ["tasks"],
        ["scopes"],
        ["sessions"],
        ["process"],
    ],
    "lib/analysis/": [
        ["text"],
        ["model"],
        ["words"],
        ["symbols", "read", "part"],
        ["load/records"],
        ["load/tasks"],
        ["load/scopes"],
        ["load/devices"],
        ["load"],
        ["answer", "cut", "read/chrome", "read/databases"],
        ["executors", "streamed"],
        ["events", "path", "compare"],
        ["check"],
        ["expect"],
        ["view/listing"],
        ["view/table"],
        ["view/report", "view/timeline"],
        ["export"],
        ["export/profiles", "export/tables", "export/spans"],
        ["page"],
    ],
}
UNSORTED = set()  # towers whose files are not in these rooms yet
MOST_FILES = 40  # of a room

HEAVY = set("""atomic chrono format functional future iostream map memory memory_resource mutex regex sstream string
string_view thread tuple unordered_map utility vector""".split())
NEVER = {"functional"}  # not even in an opt-in header: std::apply, of <tuple>, replaces std::invoke
# Headers that users include by name, for features that need a heavy header.
OPT_IN = {"include/coroscope/" + name for name in
          ("async.hpp", "detail/joiner.hpp", "future.hpp", "memory_resource.hpp", "packaged_task.hpp",
           "traced_mutex.hpp", "traced_semaphore.hpp")}
FOREIGN = re.compile(r"(boost|asio|tbb|oneapi|fmt|doctest|cuda|cupti|nvtx3?|nv)([/_.\d].*|\w*\.h)?$")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)

Include = collections.namedtuple("Include", "line name target")
Room = collections.namedtuple("Room", "tower name storey")


def layer_of(path):
    return next((layer for prefix, layer in LAYER_OF if path.startswith(prefix)), None)


def tower_of(path):
    return next((tower for tower in ROOMS if path.startswith(tower) and tower not in UNSORTED), None)


def room_of(path):
    """The room of a file in a tower, or None. Files of an inner room do not belong to the outer one."""
    tower = tower_of(path)
    if tower is None:
        return None
    folder = path[len(tower):].rpartition("/")[0]
    return next((Room(tower, name, storey) for storey, names in enumerate(ROOMS[tower])
                 for name in names if folder == name), None)


def resolve(path, name, quoted):
    """The path of the project file that an include names, relative to the root, or None."""
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


def arrows(graph):
    """Yields (file, its room, included file, its room) for each include between two rooms of a tower."""
    for path, includes in graph.items():
        room = room_of(path)
        for include in includes if room else []:
            other = include.target and room_of(include.target)
            if other and other.tower == room.tower and other != room:
                yield path, room, include, other


def arrows_up(graph):
    for path, room, include, other in arrows(graph):
        if other.storey > room.storey:
            yield (f"{path}:{include.line}: {room.name} includes {other.name}, which is above it "
                   f"({path} > {include.target})")
        elif other.storey == room.storey:
            yield (f"{path}:{include.line}: {room.name} includes {other.name}, which is beside it "
                   f"({path} > {include.target})")


def without_room(paths):
    files = collections.Counter()
    for path in paths:
        tower, room = tower_of(path), room_of(path)
        if tower and not room:
            yield f"{path}: in no room of {tower}; move it, or name its folder in scripts/check_layers.py"
        if room:
            files[room] += 1
    for room, count in files.items():
        if count > MOST_FILES:
            yield f"{room.tower}{room.name}: {count} files, at most {MOST_FILES}; make two rooms of it"


def shortest_cycle(graph, start):
    """The shortest cycle through a node, or None."""
    queue, seen = collections.deque([[start]]), set()
    while queue:
        chain = queue.popleft()
        for target in graph.get(chain[-1], ()):
            if target == start:
                return chain + [start]
            if target not in seen:
                seen.add(target)
                queue.append(chain + [target])
    return None


def cycles(graph):
    """One cycle for each group of nodes that reach each other. A node of a reported cycle is skipped."""
    told = set()
    for start in sorted(graph):
        chain = None if start in told else shortest_cycle(graph, start)
        if chain:
            told.update(chain)
            yield chain


def stem_of(path):
    return path.rpartition(".")[0]


def units_of(graph):
    """Each file's unit: a header with its source. A header x_y.hpp that only the unit x includes is a part of x."""
    unit = {path: stem_of(path) for path in graph}
    users = collections.defaultdict(set)
    for path, includes in graph.items():
        for include in includes:
            if include.target in unit and unit[path] != unit[include.target]:
                users[unit[include.target]].add(unit[path])
    stems = set(unit.values())

    def owner(stem):
        while "_" in stem.rpartition("/")[2]:
            stem = stem.rpartition("_")[0]
            if stem in stems:
                return stem
        return None

    for stem in sorted(stems, key=len):
        outer = owner(stem)
        if outer and users[stem] and all(user == outer or user.startswith(outer + "_") for user in users[stem]):
            unit.update({path: outer for path in unit if stem_of(path) == stem})
    sources = {stem for stem in stems if stem + ".hpp" not in graph}
    for stem in sources:  # x_y.cpp without a header is a part of x, too
        outer = owner(stem)
        if outer and outer + ".hpp" in graph:
            unit.update({path: outer for path in unit if stem_of(path) == stem})
    return unit


def include_cycles(graph):
    files = {path: [include.target for include in includes if include.target in graph]
             for path, includes in graph.items()}
    found = list(cycles(files))
    yield from (f"{chain[0]}: includes itself ({' > '.join(chain)})" for chain in found)
    if found:
        return
    unit = units_of(graph)
    units = collections.defaultdict(set)
    for path, targets in files.items():
        if tower_of(path):
            units[unit[path]].update(unit[target] for target in targets
                                     if tower_of(target) and unit[target] != unit[path])
    for chain in cycles(units):
        yield f"{chain[0]}: the unit includes itself by way of others ({' > '.join(chain)})"


def heavy_chains(start, graph):
    """Each heavy or foreign header that a runtime header reaches, with the shortest chain of includes."""
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


def read_graph():
    paths = [path.relative_to(tree.ROOT).as_posix() for path in tree.files()]
    paths = [path for path in paths if layer_of(path) and path.endswith((".hpp", ".cpp", ".h", ".cu"))]
    return {path: read_includes(path) for path in paths}


def problems(graph):
    yield from without_room(graph)
    yield from arrows_up(graph)
    yield from include_cycles(graph)
    reported = set()
    for path, includes in graph.items():
        yield from forbidden_layers(path, includes)
        if path.startswith("include/") and layer_of(path) in ("runtime", "ground"):
            for problem in heavy_chains(path, graph):
                place = problem.split(" a runtime", 1)[0]
                if place not in reported:
                    reported.add(place)
                    yield problem


def print_arrows(graph):
    counts = collections.Counter((room.tower, room.storey, room.name, other.storey, other.name)
                                 for _, room, _, other in arrows(graph))
    for (tower, _, room, _, other), count in sorted(counts.items()):
        print(f"{tower}{room} > {other}: {count}")


def main(arguments):
    if arguments not in ([], ["--arrows"]):
        print("check_layers: the only argument is --arrows", file=sys.stderr)
        return 2
    graph = read_graph()
    if arguments:
        print_arrows(graph)
        return 0
    found = list(problems(graph))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
