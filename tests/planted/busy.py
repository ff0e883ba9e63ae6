# SPDX-License-Identifier: Apache-2.0
"""Programs that a busy machine can slow down more than their fault does."""

import json
import os

from tool import ToolTest, coroscope

RUNS = 6  # at most, until the machine is idle enough
PROCESSES = 2  # for each processor; a busier machine does not become idle enough
SHARE = 0.1  # of the time in which the threads could run


def is_busy(trace):
    """Whether other work takes the processors, or took them from the recorded threads, as the kernel counted."""
    if os.getloadavg()[0] > PROCESSES * os.cpu_count():
        return True
    threads = json.loads(coroscope("info", trace, "--json").stdout)["threads"]
    without = sum(each["preempted_ns"] for each in threads)
    return without > SHARE * (without + sum(each["on_cpu_ns"] for each in threads))


class BusyTest(ToolTest):
    def try_on_busy_machine(self, run, problem="no answer"):
        """`run` records the program once, and returns the trace and whether it has the answer."""
        busy = False
        for _ in range(RUNS):
            trace, answered = run()
            if answered:
                return
            busy |= is_busy(trace)
        if busy:
            self.skipTest("SKIP: the machine is too busy: requests are slow without a fault")
        self.fail(f"{problem} in {RUNS} runs")
