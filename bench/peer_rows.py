# SPDX-License-Identifier: Apache-2.0
"""Peers on the loop of our scope rows, with our scope as the floor: the ratio is the peer's cost per cost of ours. A
peer that was not built is listed with its needs."""

import contextlib
import subprocess

import lttng_session
import missing
import timed_rows
from missing import not_measured
from once_rows import measure_pair


class Peer:
    def __init__(self, program, needs, *rows):
        self.program = "peers/bench_peer_" + program
        self.needs = needs
        self.rows = rows


PEERS = [
    Peer("steady_clock", "", "peer.steady_clock.1", "peer.steady_clock.2"),
    Peer("concurrentqueue", "", "peer.concurrentqueue.1", "peer.concurrentqueue.2"),
    Peer("usdt", "sys/sdt.h (systemtap-sdt-dev)", "peer.usdt.inactive"),
    Peer("lttng", "LTTng-UST (liblttng-ust-dev)", "peer.lttng.inactive",
         "peer.lttng.recording.1", "peer.lttng.recording.2"),
    Peer("spdlog", "spdlog (libspdlog-dev)", "peer.spdlog.1", "peer.spdlog.2"),
]
ASIO = Peer("asio_tracking", missing.ASIO, "peer.asio_tracking")


def measure_lttng(program, name):
    """Measures under a session of LTTng. Programs of other rows must not run under it."""
    if not lttng_session.available():
        return not_measured(name, "lttng and lttng-sessiond (lttng-tools)")
    with contextlib.ExitStack() as block:
        session = block.enter_context(lttng_session.recording())
        row = timed_rows.measure(program, name)
        lost = session.discarded()
    return timed_rows.void_if_lost(row, lost)


def measure(folder, peer, name):
    program = folder / peer.program
    if not program.exists():
        return not_measured(name, peer.needs)
    if name.startswith("peer.lttng.recording"):
        return measure_lttng(str(program), name)
    return timed_rows.measure(str(program), name)


def measure_asio(folder):
    """Asio's own tracking writes lines to stderr, which is /dev/null here."""
    stock, ours = folder / ASIO.program, folder / "bench_asio_tracked"
    if not stock.exists():
        return not_measured(ASIO.rows[0], ASIO.needs)
    return measure_pair(ASIO.rows[0], str(stock), str(ours), stderr=subprocess.DEVNULL)


def rows(folder):
    """(name, how to measure it) of every peer, built or not."""
    for peer in PEERS:
        for name in peer.rows:
            yield name, lambda peer=peer, name=name: measure(folder, peer, name)
    yield ASIO.rows[0], lambda: measure_asio(folder)
