# SPDX-License-Identifier: Apache-2.0
"""The budget of each row. Its limits are checked against the row's figures; its text is printed."""

import math


class Budget:
    """`limits` maps a key of the row to its bound, a pair (comparison, number)."""

    def __init__(self, text, aim="", **limits):
        self.text = text
        self.aim = aim
        self.limits = limits

    def holds(self, row):
        """True, False, or None if a needed figure was not measured."""
        verdict = True
        for key, (comparison, bound) in self.limits.items():
            figure = row.get(key)
            if figure is None or not math.isfinite(figure):
                verdict = None if verdict else verdict
            elif (figure > bound) if comparison == "<=" else (figure < bound):
                return False
        return verdict

    def holds_without_spread(self, row):
        """As holds(), as if the interval of the row were its ratio alone."""
        return self.holds({**row, "low": row["ratio"], "high": row["ratio"]}) if "low" in row else None


def at_most(bound):
    return ("<=", bound)


def at_least(bound):
    return (">=", bound)


# The floor of a peer's row is our scope.
AHEAD = Budget("≥ 1 × ours", ratio=at_least(1))


def least(bound):
    """For a figure that should be high: the whole interval of the ratio is above the bound. A noisier run has a wider
    interval, which keeps fewer budgets."""
    return Budget(f"95 % ≥ {bound} ×", low=at_least(bound))


def most(bound):
    """For a figure that should be low: the whole interval of the ratio is below the bound."""
    return Budget(f"95 % ≤ {bound} ×", high=at_most(bound))


# `added` is value - floor. Instructions are counted without those of the plain program.
BUDGETS = {
    "scope.disabled": Budget("identical object code", value=at_most(0)),
    "scope.inactive.empty": Budget("≤ 0.35 ns, ≤ 4 instr", "0.25 ns",
                                   value=at_most(0.35), instructions=at_most(4)),
    "scope.inactive.call": Budget("≤ 0.35 ns added, ≤ 6 instr", "0.25 ns",
                                  added=at_most(0.35), instructions=at_most(6)),
    "observer.none": Budget("≤ 0.35 ns, ≤ 4 instr", value=at_most(0.35), instructions=at_most(4)),
    "observer.noop": Budget("≤ 780 instr", instructions=at_most(780)),
    "observer.sampled": Budget("≤ 340 instr", instructions=at_most(340)),
    "scope.recording.1": Budget("≤ 1.05 ×, ≤ 40 instr", "1.02 ×, 30",
                                ratio=at_most(1.05), instructions=at_most(40)),
    "scope.recording.2": Budget("≤ 1.05 ×", "1.02 ×", ratio=at_most(1.05)),
    "scope.open.recording": Budget("≤ 230 instr", instructions=at_most(230)),
    "scope.dropped.1": Budget("≤ 2 ×, ≤ 520 instr", ratio=at_most(2), instructions=at_most(520)),
    "scope.dropped.2": Budget("≤ 2 ×", ratio=at_most(2)),
    "scope.process": Budget("≤ 1.3 ×", ratio=at_most(1.3)),
    "scope.sites.warm": Budget("≤ 2 ×", ratio=at_most(2)),
    "scope.sites.cold": Budget("≤ 2 ×", ratio=at_most(2)),
    "scope.sustained": Budget(""),
    "scope.scaling": Budget("≥ 1.9 ×", ratio=at_least(1.9)),
    "session.idle": Budget("≤ 2 ms/s", value=at_most(2)),
    "session.full": Budget("≤ 2 ms/s", value=at_most(2)),
    "states.switch": Budget("≤ 800 ns", value=at_most(800)),
    "lock.free.instructions": Budget("≤ 12 instr added", added=at_most(12)),
    "lock.waited.instructions": Budget("≤ 44 instr added", added=at_most(44)),
    "await.recording.1": Budget("≤ 1.05 ×, ≤ 138 instr", ratio=at_most(1.05), instructions=at_most(138)),
    "await.recording.2": Budget("≤ 1.05 ×", ratio=at_most(1.05)),
    "await.shared.1": Budget("≤ 0.65 ×, ≤ 113 instr", "0.55 ×", ratio=at_most(0.65), instructions=at_most(113)),
    "await.shared.2": Budget("≤ 0.65 ×", "0.55 ×", ratio=at_most(0.65)),
    "await.inactive": Budget("≤ 32 instr", instructions=at_most(32)),
    "await.shared.inactive": Budget("≤ 1 ns added, ≤ 22 instr", "0.5 ns",
                                    added=at_most(1), instructions=at_most(22)),
    "task.recording": Budget("≤ 1.2 ×, ≤ 168 instr", ratio=at_most(1.2), instructions=at_most(168)),
    "task.recording.2": Budget("≤ 1.2 ×", ratio=at_most(1.2)),
    "task.inactive": Budget("≤ 2 ns added, ≤ 52 instr", added=at_most(2), instructions=at_most(52)),
    "task.lazy.recording": Budget("≤ 1.2 ×, ≤ 226 instr", ratio=at_most(1.2), instructions=at_most(226)),
    "task.lazy.recording.2": Budget("≤ 1.2 ×", ratio=at_most(1.2)),
    "task.lazy.inactive": Budget("≤ 2 ns added, ≤ 44 instr", added=at_most(2), instructions=at_most(44)),
    "task.foreign.recording": Budget("≤ 1.25 ×, ≤ 400 instr", "1.2 ×",
                                     ratio=at_most(1.25), instructions=at_most(400)),
    "task.foreign.inactive": Budget("≤ 4 ns added, ≤ 80 instr",
                                    added=at_most(4), instructions=at_most(80)),
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
    "service.inactive.throughput": least(0.98),
    "service.inactive.cpu": most(1.02),
    "service.inactive.p99": most(1.04),
    "service.inactive.instructions": Budget("≤ 2,700 instr added", added=at_most(2700)),
    "service.inactive.icache": Budget("≤ 1.0425 ×", ratio=at_most(1.0425)),
    "service.recording.throughput": least(0.97),
    "service.recording.cpu": most(1.03),
    "service.recording.p99": most(1.05),
    "service.recording.instructions": Budget("≤ 7,000 instr added", added=at_most(7000)),
    "service.recording.icache": Budget("≤ 1.1375 ×", ratio=at_most(1.1375)),
    # Below 20,000 context switches per second.
    "service.states.throughput": least(0.99),
    "service.states.cpu": Budget(""),
    "service.states.p99": Budget(""),
    "memory.session_resident": Budget("≤ 64 MB", value=at_most(64)),
    "memory.bytes_per_scope": Budget("≤ 16 B", "16 B", whole=at_most(16)),
    "memory.bytes_per_scope.in_frame": Budget("≤ 32 B", whole=at_most(32)),
    "memory.bytes_per_scope": Budget("≤ 16.2 B", value=at_most(16.2)),
    "memory.bytes_per_scope.in_frame": Budget("≤ 32.4 B", value=at_most(32.4)),
    "frame.bytes_per_await": Budget("≤ 16 B", value=at_most(16)),
    "frame.bytes_per_scope": Budget("≤ 24 B", value=at_most(24)),
    "frame.bytes_per_task": Budget("≤ 64 B", "48 B", value=at_most(64)),
    "include": Budget("≤ 80 ms", "50 ms", value=at_most(80)),
    "compile.ms_per_scope": Budget("≤ 2.5 ms", "1 ms", value=at_most(2.5)),
    "compile.instructions_per_scope": Budget("≤ 19 M instr", value=at_most(19_000_000)),
    "code.bytes_per_scope": Budget("≤ 136 B", "96 B", value=at_most(136)),
    "load.native": Budget("≥ 20 M/s", "50 M/s", value=at_least(20)),
    "load.awaits": Budget("≥ 0.022 ×", "4 M/s", ratio=at_least(0.022)),
    "load.tasks": Budget("≥ 0.016 ×", "1.5 M/s", ratio=at_least(0.016)),
    "memory.load_awaits": Budget("≤ 47 B", value=at_most(47)),
    "memory.load_tasks": Budget("≤ 160 B", "150 B", value=at_most(160)),
    "load.table": Budget("≥ 0.14 × floor", ratio=at_least(0.14)),
    "load.table.jobs": Budget("≥ 1.7 ×", value=at_least(1.7)),
    "memory.load_table": Budget("≤ 4 MB", value=at_most(4)),
    "load.chrome": Budget("≥ 0.6 ×, ≥ 300 MB/s", "1000 MB/s", ratio=at_least(0.6), value=at_least(300)),
    "memory.load_chrome": Budget("≤ 1.5 ×", value=at_most(1.5)),
    "pack.bytes_per_scope": Budget("≤ 6 B", "4 B", value=at_most(6)),
    "pack.demo.bytes_per_scope": Budget("≤ 6 B", "4 B", value=at_most(6)),
    "pack.demo.bytes_per_scope.tenth": Budget("≤ 6 B", "4 B", value=at_most(6)),
    "pack.write": Budget(""),
    "pack.read": Budget(""),
    "export.chrome": Budget("≥ 5 M/s", value=at_least(5)),
    "export.perfetto": Budget("≥ 10 M/s", value=at_least(10)),
    **{f"{what}answers.{command}": budget
       for command in ("path", "path_type", "why", "awaits_blame", "check", "requests", "executors", "folded",
                       "speedscope", "firefox", "pprof", "csv", "ndjson", "otlp", "otlp_protobuf", "sqlite")
       for what, budget in (("", Budget("≤ 10 s", value=at_most(10))),
                            ("memory.", Budget("≤ 4000 MB", value=at_most(4000))))},
    "memory.export_chrome": Budget("≤ 2 MB", value=at_most(2)),
    "memory.export_perfetto": Budget("≤ 2 MB", value=at_most(2)),
}
