# SPDX-License-Identifier: Apache-2.0
"""Bursts in pairs, subject beside floor, and which of them count: those around which the processor added numbers as
fast as ever. Elsewhere its core did somebody else's work, too, which hits the subject's instructions and hardly a floor
that waits for the clock. The choice looks at neither of the two."""

import collections
import statistics

FEWEST_RUNS = 5      # processes, because what a process's memory happens to lie like differs
MOST_RUNS = 40
ENOUGH = 100         # undisturbed pairs, after which no more runs are made
FEWEST = 25          # with fewer of them the row says that the core was shared
UNDISTURBED = 0.96   # of the best rate

Pair = collections.namedtuple("Pair", "value floor rate")


class Chooser:
    """Knows the best rate of additions that any pair had yet."""

    def __init__(self):
        self.best_rate = 0.0

    def undisturbed(self, pairs):
        self.best_rate = max(self.best_rate, *(pair.rate for pair in pairs))
        return [pair for pair in pairs if pair.rate >= UNDISTURBED * self.best_rate]

    def collect(self, run):
        """The pairs of as many runs as it takes, and how many records they lost. `run` gives both of one run."""
        pairs, lost = [], 0
        for number in range(1, MOST_RUNS + 1):
            taken, dropped = run()
            pairs += taken
            lost += dropped
            if number >= FEWEST_RUNS and len(self.undisturbed(pairs)) >= ENOUGH:
                break
        return pairs, lost

    def row(self, name, pairs):
        """The medians of the undisturbed pairs; of all pairs, and it says so, where they are too few."""
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


# All rows of one run of the benchmarks are of one machine.
chooser = Chooser()
