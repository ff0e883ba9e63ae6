# SPDX-License-Identifier: Apache-2.0
"""Writes small traces for the tests of the command, from include/coroscope/trace/format.hpp.

Ticks are nanoseconds since the session's start. Chunks stay "open", as a killed process leaves them,
so that they need no checksum.
"""

import struct

MAGIC = 0x0145434152545343
CHUNK_MAGIC = 0x4B4E4843
HEADER_BYTES = 4096
CHUNK_BYTES = 65536
CHUNK_HEADER_BYTES = 64
START_TICKS = 1_000_000
START_REALTIME_NS = 1_700_000_000_000_000_000

SCOPE, LONG_SCOPE, SUSPEND, RESUME, SPAWN, WAKE, FINISH, ATTRIBUTE, CARRIES = 1, 2, 3, 4, 8, 9, 10, 15, 17
LABEL, ITEM = 13, 16
STRING, SITE, THREAD = 20, 21, 22
DEVICE, DEVICE_WAIT, DEVICE_NAME = 25, 26, 27
RANGE_WAIT = 2  # device_wait_kind::range
KERNEL, COPY, SET, RUNTIME_CALL = 1, 2, 3, 4
RECORDED, NOT_RECORDED = 1, 2
FLOPS = 1 << 3  # session_features
UNKNOWN = 0xFFFFFFFF
KIND_SCOPE, KIND_AWAIT, KIND_COROUTINE = 0, 2, 3
IN_FRAME, EXACT = 1, 2
COMPLETED = 4 | 8 | 64  # scope_dynamic, scope_explicit, scope_range


def tag(kind, identity=0, value=0):
    return kind | identity << 5 | value << 37


def words(*values):
    return struct.pack("<%dQ" % len(values), *values)


def padded(text):
    return text + bytes(-len(text) % 16)


class Trace:
    def __init__(self, process=b"service", duration_ns=10_000_000, finished=True):
        self.process, self.duration_ns, self.finished = process, duration_ns, finished
        self.metadata, self.chunks, self.strings, self.sites = b"", [], {}, 0
        self.devices, self.device_message, self.lost_device_records = 0, b"", 0
        self.asked_for = 0

    def string(self, text):
        if not text:
            return 0
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.metadata += words(0, tag(STRING, self.strings[text], len(text))) + padded(text)
        return self.strings[text]

    def site(self, label, file=b"", line=0, kind=KIND_SCOPE, category=b""):
        body = struct.pack("<6IBBHI", self.string(label), 0, self.string(file), line, self.string(category), 0,
                           kind, 0, 0, 0)
        self.sites += 1
        self.metadata += words(0, tag(SITE, self.sites, 0)) + body
        return self.sites

    def thread(self, identity, name, records, dropped=0):
        body = struct.pack("<7Q24s", 1000 + identity, dropped, 0, 0, 0, 0, 0, name)
        self.metadata += words(START_TICKS, tag(THREAD, identity, len(body))) + body
        self.chunks.append((identity, b"".join(records)))

    def device(self, identity, name):
        self.metadata += words(0, tag(DEVICE_NAME, identity, len(name))) + padded(name)

    def chunk(self, kind, number, thread, records):
        header = struct.pack("<IHHQIIIIQQQQ", CHUNK_MAGIC, kind, 1, number, thread, 0, 0, 0, 0, START_TICKS, 0, 0)
        content = header + records
        assert len(content) <= CHUNK_BYTES
        return content + bytes(CHUNK_BYTES - len(content))

    def data(self):
        end = START_TICKS + self.duration_ns
        header = struct.pack(
            "<QIIIIIIQQ6Q5QIIQQ64s", MAGIC, 1, HEADER_BYTES, CHUNK_BYTES, 0, 3, 4242, 99, 1 + len(self.chunks),
            START_TICKS, START_TICKS, START_REALTIME_NS, end, end, START_REALTIME_NS + self.duration_ns,
            1 if self.finished else 0, 0, 0, 0, 0, 20 * 256, 40 * 256, 1, 1 << 26, self.process)
        header += struct.pack("<Q64s4Q160s", 0, b"", 0, self.asked_for, self.devices, self.lost_device_records, self.device_message)
        parts = [header + bytes(HEADER_BYTES - len(header)), self.chunk(2, 1, 0, self.metadata)]
        parts += [self.chunk(1, at, thread, records) for at, (thread, records) in enumerate(self.chunks, 2)]
        return b"".join(parts)

    def write(self, path):
        path.write_bytes(self.data())
        return path


def scope(site, start_ns, end_ns):
    return words(START_TICKS + start_ns, tag(SCOPE, site, end_ns - start_ns))


def task_record(kind, time_ns, task, other=0, identity=0, flags=0):
    return words(START_TICKS + time_ns, tag(kind, identity, flags), task, other)


def device(what, site, start_ns, end_ns, task=0, correlation=0, os_thread=0, stream=7, byte_count=0, queued_ns=None):
    """A device record; one with a thread of the system is a call, which names no device."""
    place = (UNKNOWN, UNKNOWN, UNKNOWN) if os_thread else (0, 1, stream)
    body = struct.pack("<6Q4IB15x", START_TICKS + end_ns, task, os_thread, byte_count,
                       0 if queued_ns is None else START_TICKS + queued_ns, 0, correlation, *place, what)
    return words(START_TICKS + start_ns, tag(DEVICE, site, len(body))) + body


def attribute(serial, key, value, parent=0):
    body = struct.pack("<IBBH", parent, len(key), len(value), 0) + key + value
    return words(0, tag(ATTRIBUTE, serial, len(body))) + padded(body)


def stream(serial, label, start_ns, items_ns, end_ns=None):
    """The records of a range on thread 1 that yielded items at those moments."""
    records = [words(START_TICKS + start_ns, tag(LABEL, serial, len(label))) + padded(label)]
    records += [words(START_TICKS + at, tag(ITEM, serial), 1, number)
                for number, at in enumerate([start_ns, *items_ns])]
    if end_ns is not None:
        records.append(words(START_TICKS + start_ns, tag(LONG_SCOPE, serial, COMPLETED), end_ns - start_ns, 1))
    return records


def streams():
    trace = Trace()
    trace.thread(1, b"main", stream(1, b"rows", 1_000, [4_000, 5_000, 7_000], 8_000)
                 + stream(2, b"rows", 10_000, [11_000, 16_000]) + stream(3, b"pages", 20_000, [], 21_000))
    return trace


def pipeline(requests=5):
    """Tasks that launch a copy, two kernels and a set from their scope, hop to the second thread, and wait there for
    their stream: request N for the kernels of N times 10 us. Half of the await is covered by them."""
    trace = Trace()
    trace.devices = RECORDED
    trace.device(0, b"NVIDIA H100 80GB")
    handle = trace.site(b"handle", b"../src/server.cpp", 12, category=b"http")
    gpu = trace.site(b"gpu", b"../src/server.cpp", 20, KIND_AWAIT)
    spawned = trace.site(b"session", b"../src/server.cpp", 30, KIND_COROUTINE)
    launch, gemm, relu = trace.site(b"cudaLaunchKernel"), trace.site(b"gemm"), trace.site(b"relu")
    copy, fill = trace.site(b"Memcpy HtoD"), trace.site(b"Memset")
    main, worker, cupti, now = [], [], [], 1000
    for task in range(1, requests + 1):
        start, length, stream, number = now, task * 10_000, 7 + task % 2, task * 10
        ran = start + 3_000
        main += [task_record(SPAWN, start, task, 0, spawned), task_record(RESUME, start + 100, task),
                 words(START_TICKS + start + 1_900, tag(DEVICE_WAIT, stream), task, 1),
                 task_record(SUSPEND, start + 2_000, task, 0, gpu)]
        woken = ran + 2 * length + 2_000
        worker += [task_record(WAKE, woken, task, flags=2), task_record(RESUME, woken + 500, task),
                   words(START_TICKS + start + 200, tag(LONG_SCOPE, handle, IN_FRAME | EXACT), woken + 800 - start - 200,
                         task << 20 | 1),
                   task_record(FINISH, woken + 1_000, task)]
        # As the device's recorder learns of them: the last first.
        cupti += [device(SET, fill, ran + 2 * length - 500, ran + 2 * length, task, number + 3, stream=stream),
                  device(KERNEL, relu, ran + length, ran + length + 500, task, number + 2, stream=stream),
                  device(KERNEL, gemm, ran, ran + length, task, number + 1, stream=stream, queued_ns=ran - 600),
                  device(COPY, copy, ran - 1_000, ran - 500, task, number, stream=stream, byte_count=4096)]
        cupti += [device(RUNTIME_CALL, launch, start + 500 + at * 100, start + 550 + at * 100, task, number + at, 1001)
                  for at in range(4)]
        now = woken + 2_000
    trace.thread(1, b"main", main)
    trace.thread(2, b"worker", worker)
    trace.thread(3, b"cupti", cupti)
    return trace


def uploads():
    """Two ranges of thread 1: one asks stream 7 for two kernels and ends with it, one with a stream that nobody knows."""
    trace = Trace()
    trace.devices = RECORDED
    trace.device(0, b"NVIDIA H100 80GB")
    launch, gemm = trace.site(b"cudaLaunchKernel"), trace.site(b"gemm")
    main = []
    for serial, label, start, attached, number, context in ((1, b"upload", 1_000, 2_000, 7, 1),
                                                            (2, b"unknown", 10_000, 11_000, UNKNOWN, UNKNOWN)):
        main += [words(START_TICKS + start, tag(LABEL, serial, len(label))) + padded(label),
                 words(START_TICKS + attached, tag(DEVICE_WAIT, number, RANGE_WAIT), 1, serial << 32 | context)]
    ends = [words(START_TICKS + 1_000, tag(LONG_SCOPE, 1, COMPLETED), 8_000, 1)]
    cupti = [device(KERNEL, gemm, 3_000, 5_000, 0, 1), device(KERNEL, gemm, 6_000, 7_000, 0, 2, queued_ns=5_500),
             device(RUNTIME_CALL, launch, 1_100, 1_150, 0, 1, 1001), device(RUNTIME_CALL, launch, 1_200, 1_250, 0, 2, 1001)]
    trace.thread(1, b"main", main)
    trace.thread(2, b"callback", ends)
    trace.thread(3, b"cupti", cupti)
    return trace


def service(requests=20):
    """A thread that serves `requests` tasks, one after the other; each runs, waits for its query, is woken
    by the second thread and runs on. Request N takes N times 10 us in its query. Those of odd number carry
    the tenant acme, the others initech."""
    trace = Trace()
    handle = trace.site(b"handle", b"../src/server.cpp", 12, category=b"http")
    query = trace.site(b"db.query", b"../src/store.cpp", 42, KIND_AWAIT)
    spawned = trace.site(b"session", b"../src/server.cpp", 30, KIND_COROUTINE)
    poll = trace.site(b"poll", b"../src/store.cpp", 7)
    main, worker, now = [attribute(1, b"tenant", b"acme"), attribute(2, b"tenant", b"initech")], [], 1000
    for task in range(1, requests + 1):
        start, wait = now, task * 10_000
        suspended, woken = start + 2_000, start + 2_000 + wait
        main += [task_record(SPAWN, start, task, 0, spawned),
                 task_record(CARRIES, start, task, identity=1 if task % 2 else 2),
                 task_record(RESUME, start + 500, task),
                 task_record(SUSPEND, suspended, task, 0, query)]
        worker += [task_record(WAKE, woken, task, flags=2), scope(poll, woken - 200, woken + 100)]
        end = woken + 1_000 + 3_000
        main += [task_record(RESUME, woken + 1_000, task),
                 words(START_TICKS + start + 600, tag(LONG_SCOPE, handle, IN_FRAME | EXACT), end - 500 - start - 600,
                       task << 20 | 1),
                 task_record(FINISH, end, task)]
        now = end + 1_000
    trace.thread(1, b"main", main)
    trace.thread(2, b"worker", worker)
    return trace
