# SPDX-License-Identifier: Apache-2.0
"""Bursts in pairs, subject beside floor, and the choice of pairs that count: those around which the processor added
numbers at its full rate. In other pairs the core did other work, too, which affects the subject's instructions, but
hardly a floor that waits for the clock. The choice depends on neither of the two figures."""

import collections
import statistics

FEWEST_RUNS = 5      # several processes, because each has another memory layout
MOST_RUNS = 40
ENOUGH = 100         # number of undisturbed pairs after which no more runs are made
FEWEST = 25          # with fewer undisturbed pairs the row notes that the core was shared
UNDISTURBED = 0.96   # of the best rate

Pair = collections.namedtuple("Pair", "value floor rate")


class Chooser:
    """Keeps the best rate of additions that any pair has had."""

    def __init__(self):
        self.best_rate = 0.0

    def undisturbed(self, pairs):
        self.best_rate = max(self.best_rate, *(pair.rate for pair in pairs))
        return [pair for pair in pairs if pair.rate >= UNDISTURBED * self.best_rate]

    def collect(self, run):
        """The pairs of as many runs as are needed, and the number of records that these lost. `run` returns both for
        one run."""
        pairs, lost = [], 0
        for number in range(1, MOST_RUNS + 1):
            taken, dropped = run()
            pairs += taken
            lost += dropped
            if number >= FEWEST_RUNS and len(self.undisturbed(pairs)) >= ENOUGH:
                break
        return pairs, lost

    def row(self, name, pairs):
        """The row of the undisturbed pairs' medians. If there are too few of these, the row has the medians of all
        pairs, and a note."""
        counted = self.undisturbed(pairs)
        shared = len(counted) < FEWEST
        if shared:
            counted = pairs
        value = statistics.median(pair.value for pair in counted)
        floor = statistics.median(pair.floor for pair in counted)
        row = {"name": name, "value": round(value, 3), "unit": "ns", "floor": round(floor, 3),
               "ratio": round(value / floor, 3), "added": round(value - floor, 3), "instructions": None}
        if shared:
            share = statistics.median(pair.rate for pair in pairs) / self.best_rate
            row["note"] = f"a shared core: additions at {share:.2f} of their best rate"
        return row


# One object for all rows, because one run of the benchmarks is on one machine.
chooser = Chooser()
