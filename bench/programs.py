# SPDX-License-Identifier: Apache-2.0
"""The programs that each row of the benchmarks needs, as ninja's targets in the build folder."""

import example_rows
import peer_rows

ASIO = ["bench/bench_asio_tracked", "bench/bench_asio_plain"]
COMMAND = ["tools/coroscope"]
SERVICE = ["bench/bench_service_absent", "bench/bench_service_load", "examples/http_service/http_service", *COMMAND]
LOCK = ["bench_locks"]
ONCE = ["bench/bench_once"]
ANSWERS = ["bench/bench_busy_service", *COMMAND]
HOT = ["bench/bench_hot"]

# The programs of a row are those of the first entry whose text is a prefix of the row's name.
NEEDED = [
    *((f"{name}.", [f"bench/bench_{name.replace('.', '_')}_{which}" for which in ("tracked", "plain")]
       + ["bench/bench_load", *COMMAND]) for name in example_rows.EXAMPLES),
    *((f"{row}.", [f"bench/{peer.program}"]) for peer in peer_rows.PEERS for row in peer.rows),
    ("peer.asio_tracking.", [f"bench/{peer_rows.ASIO.program}", ASIO[0]]),
    ("asio.recording.", ASIO),
    ("answers.", ANSWERS),
    ("memory.answers.", ANSWERS),
    ("lock.", LOCK),
    ("service.", SERVICE),
    ("pack.demo.", SERVICE),
    *((f"{name}.", []) for name in ("scope.disabled", "include", "compile", "code")),
    *((f"{name}.", ONCE) for name in ("frame", "scope.process", "scope.sustained", "scope.scaling", "memory", "session",
                                      "load", "export", "pack", "states")),
    ("", HOT),
]


def needed(name):
    """The programs of this row."""
    return next(programs for beginning, programs in NEEDED if f"{name}.".startswith(beginning))
