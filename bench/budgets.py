# SPDX-License-Identifier: Apache-2.0
"""What each row may cost. A limit is checked against a row's key; the text is what is printed."""

import math


class Budget:
    """`limits` maps a key of the row to its bound, a pair (comparison, number)."""

    def __init__(self, text, aim="", **limits):
        self.text = text
        self.aim = aim
        self.limits = limits

    def holds(self, row):
        """True, False, or None where something needed was not measured."""
        verdict = True
        for key, (comparison, bound) in self.limits.items():
            figure = row.get(key)
            if figure is None or not math.isfinite(figure):
                verdict = None if verdict else verdict
            elif (figure > bound) if comparison == "<=" else (figure < bound):
                return False
        return verdict


def at_most(bound):
    return ("<=", bound)


def at_least(bound):
    return (">=", bound)


# A peer's floor is ours.
AHEAD = Budget("≥ 1 × ours", ratio=at_least(1))

# Nothing measurable: the interval of the ratio holds 1.
UNCHANGED = Budget("1 × within the interval", low=at_most(1), high=at_least(1))

# `added` is value - floor. Instructions are counted without those of the plain program.
BUDGETS = {
    "scope.disabled": Budget("identical object code", value=at_most(0)),
    "scope.inactive.empty": Budget("≤ 0.35 ns, ≤ 4 instr", "0.25 ns",
                                   value=at_most(0.35), instructions=at_most(4)),
    "scope.inactive.call": Budget("≤ 0.35 ns added, ≤ 6 instr", "0.25 ns",
                                  added=at_most(0.35), instructions=at_most(6)),
    "observer.none": Budget("≤ 0.35 ns, ≤ 4 instr", value=at_most(0.35), instructions=at_most(4)),
    "observer.noop": Budget(""),
    "observer.sampled": Budget(""),
    "scope.recording.1": Budget("≤ 1.05 ×, ≤ 40 instr", "1.02 ×, 30",
                                ratio=at_most(1.05), instructions=at_most(40)),
    "scope.recording.2": Budget("≤ 1.05 ×", "1.02 ×", ratio=at_most(1.05)),
    "scope.dropped.1": Budget("≤ 2 ×", ratio=at_most(2)),
    "scope.dropped.2": Budget("≤ 2 ×", ratio=at_most(2)),
    "scope.sustained": Budget(""),
    "scope.scaling": Budget("≥ 1.9 ×", ratio=at_least(1.9)),
    "session.idle": Budget("≤ 2 ms/s", value=at_most(2)),
    "session.full": Budget("≤ 2 ms/s", value=at_most(2)),
    "await.recording.1": Budget("≤ 1.05 ×", ratio=at_most(1.05)),
    "await.recording.2": Budget("≤ 1.05 ×", ratio=at_most(1.05)),
    "await.shared.1": Budget("≤ 0.65 ×", "0.55 ×", ratio=at_most(0.65)),
    "await.shared.2": Budget("≤ 0.65 ×", "0.55 ×", ratio=at_most(0.65)),
    "await.inactive": Budget("≤ 1 ns added", "0.5 ns", added=at_most(1)),
    "await.shared.inactive": Budget("≤ 1 ns added", "0.5 ns", added=at_most(1)),
    "task.recording": Budget("≤ 1.2 ×", ratio=at_most(1.2)),
    "task.recording.2": Budget("≤ 1.2 ×", ratio=at_most(1.2)),
    "task.inactive": Budget("≤ 2 ns added", added=at_most(2)),
    "task.lazy.recording": Budget("≤ 1.2 ×", ratio=at_most(1.2)),
    "task.lazy.recording.2": Budget("≤ 1.2 ×", ratio=at_most(1.2)),
    "task.lazy.inactive": Budget("≤ 2 ns added", added=at_most(2)),
    "asio.recording": Budget("≤ 1.25 ×", ratio=at_most(1.25)),
    "asio.example.callbacks": Budget("≤ 1.25 ×", ratio=at_most(1.25)),
    "asio.example.coroutines": Budget("≤ 1.25 ×", ratio=at_most(1.25)),
    "asio.example.http": Budget("≤ 1.25 ×", ratio=at_most(1.25)),
    "peer.steady_clock.1": AHEAD,
    "peer.steady_clock.2": AHEAD,
    "peer.concurrentqueue.1": AHEAD,
    "peer.concurrentqueue.2": AHEAD,
    "peer.lttng.recording.1": AHEAD,
    "peer.lttng.recording.2": AHEAD,
    "peer.lttng.inactive": AHEAD,
    "peer.usdt.inactive": AHEAD,
    "peer.spdlog.1": AHEAD,
    "peer.spdlog.2": AHEAD,
    "peer.asio_tracking": AHEAD,
    "service.inactive.throughput": UNCHANGED,
    "service.inactive.cpu": UNCHANGED,
    "service.inactive.p99": UNCHANGED,
    "service.inactive.instructions": Budget(""),
    "service.recording.throughput": Budget("≥ 0.97 ×", ratio=at_least(0.97)),
    "service.recording.cpu": Budget("≤ 1.03 ×", ratio=at_most(1.03)),
    "service.recording.p99": Budget(""),
    "service.recording.instructions": Budget(""),
    "memory.bytes_per_scope": Budget("≤ 16 B", "16 B", whole=at_most(16)),
    "memory.bytes_per_scope.in_frame": Budget("≤ 32 B", whole=at_most(32)),
    "frame.bytes_per_await": Budget("≤ 16 B", value=at_most(16)),
    "frame.bytes_per_scope": Budget("≤ 24 B", value=at_most(24)),
    "frame.bytes_per_task": Budget("≤ 64 B", "48 B", value=at_most(64)),
    "include": Budget("≤ 80 ms", "50 ms", value=at_most(80)),
    "compile.ms_per_scope": Budget("≤ 2.5 ms", "1 ms", value=at_most(2.5)),
    "compile.instructions_per_scope": Budget(""),
    "code.bytes_per_scope": Budget("≤ 136 B", "96 B", value=at_most(136)),
    "load.native": Budget("≥ 20 M/s", "50 M/s", value=at_least(20)),
    "load.chrome": Budget("≥ 300 MB/s", "1000 MB/s", value=at_least(300)),
    "memory.load_chrome": Budget("≤ 1.5 ×", value=at_most(1.5)),
    "pack.bytes_per_scope": Budget("≤ 6 B", "4 B", value=at_most(6)),
    "pack.demo.bytes_per_scope": Budget("≤ 6 B", "4 B", value=at_most(6)),
    "pack.write": Budget(""),
    "pack.read": Budget(""),
    "export.chrome": Budget("≥ 5 M/s", value=at_least(5)),
    "export.perfetto": Budget("≥ 10 M/s", value=at_least(10)),
    "memory.export_chrome": Budget("≤ 2 MB", value=at_most(2)),
    "memory.export_perfetto": Budget("≤ 2 MB", value=at_most(2)),
}
