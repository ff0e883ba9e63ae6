# SPDX-License-Identifier: Apache-2.0
"""Two traces, one of a service and one of a step by another profiler, and a base class for tests of commands that read
them."""

import csv
import io
import json

import trace_builder
from tool import ToolTest, coroscope

PRINTING = [("table",), ("awaits",), ("awaits", "--chains"), ("tasks",), ("tasks", "--tree"),
            ("tasks", "--task", "3"), ("path", "--task", "3"), ("streams",), ("resources",), ("executors",), ("requests",), ("values",), ("ranges",),
            ("info",), ("check",)]


def kineto():
    """A step of two operations on one thread, a kernel, an async call, memory, and events that averages leave out."""
    def span(name, cat, ts, dur, tid=1, pid=1, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
    return {"schemaVersion": 1, "traceEvents": [
        span("ProfilerStep#4", "user_annotation", 0, 100),
        span("aten::linear", "cpu_op", 10, 50, **{"External id": 3, "Input Dims": [[2, 3], []]}),
        span("aten::mm", "cpu_op", 20, 30, **{"External id": 4, "Input Dims": [[2, 3], [3, 4]],
                                              "Call stack": "inner.cpp:1;outer.cpp:2"}),
        span("cudaLaunchKernel", "cuda_runtime", 25, 5.5, correlation=9, **{"External id": 4}),
        span("gemm", "kernel", 40, 20.25, pid=0, tid=7, correlation=9, device=0, stream=7, **{"External id": 4}),
        span("frame.py(1): f", "python_function", 0, 90),
        span("worker", "cpu_op", 0, 5, tid="pool 1"),
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 30, "s": "t",
         "args": {"Device Type": 0, "Device Id": -1, "Addr": 64, "Bytes": 2048}},
    ]}


class DataTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.service().write(self.folder / "service.cst")

    def data(self, *arguments):
        done = coroscope(*arguments, self.trace, "--json")
        self.assert_success(done)
        return json.loads(done.stdout)

    def rows(self, *arguments):
        done = coroscope(*arguments, self.trace, "--format", "csv")
        self.assert_success(done)
        return list(csv.DictReader(io.StringIO(done.stdout)))
