# SPDX-License-Identifier: Apache-2.0
"""Writes small traces for the tests of the command, from include/coroscope/trace/format.hpp.

Ticks are nanoseconds since the session's start. Chunks stay "open", as a killed process leaves them, so that they need
no checksum."""

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
RESOURCE_WAIT, CAPACITY = 16, 1 << 16  # fact_kind, and a number above it in the tag's id; the next two lines also
REQUEST, REQUEST_FAILED = 19, 4 << 8
VALUE, VALUE_SITE = 20, 2 << 8
EXECUTOR = 32  # fact_kind
THREAD_POOL = 3  # executor_kind
SPAWN_READY, SPAWN_ON = 2, 1 << 11  # spawn_flags, and the executor above them
STRING, SITE, THREAD = 20, 21, 22
PROCESSOR, FACT = 29, 30
ENTERED, PREEMPTED = 1, 2  # processor_flags
THREAD_TIMES, SWITCHES_LOST, BLOCKED = 1, 2, 3  # fact_kind
SWITCHES, SAMPLES, REFUSED = 1, 2, 3  # thread_state_source
DEVICE, DEVICE_WAIT, DEVICE_NAME = 25, 26, 27
RANGE_WAIT = 2  # device_wait_kind::range
KERNEL, COPY, SET, RUNTIME_CALL = 1, 2, 3, 4
RECORDED, NOT_RECORDED = 1, 2
FLOPS, OPEN_SCOPES = 1 << 3, 1 << 5  # session_features
UNKNOWN = 0xFFFFFFFF
WORD = (1 << 64) - 1
KIND_SCOPE, KIND_AWAIT, KIND_COROUTINE, KIND_RESOURCE, KIND_REQUEST, KIND_VALUE = 0, 2, 3, 6, 7, 8
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
        self.open_scopes = b""
        self.facts = b""
        self.thread_states, self.thread_states_message = 0, b""
        self.processors, self.quota_percent = 0, 0

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

    def executor(self, number, kind, name=b"", inner=0):
        body = struct.pack("<IIBBHI", number, inner, kind, 0, len(name), 0) + name
        self.metadata += words(0, tag(FACT, EXECUTOR, len(body))) + padded(body)

    def open_scope(self, thread, site, start_ns, task=0, flags=0):
        """Adds a scope that has not ended. The check of its tag is that of open_format.hpp."""
        self.asked_for |= OPEN_SCOPES
        start, order, plain = START_TICKS + start_ns, len(self.open_scopes) // 32, tag(SCOPE, site, flags)
        whose = thread << 32 | order
        mixed = (start ^ plain << 20 & WORD) + (whose << 9 | whose >> 55) + (task << 40 | task >> 24)
        check = (mixed * 0x9E3779B97F4A7C15 & WORD) >> 44
        self.open_scopes += words(start, plain | check << 44, task, thread | order << 32)

    def switch(self, thread, time_ns, flags):
        """A thread (by its id in the trace) takes a processor, or leaves one."""
        self.thread_states = self.thread_states or SWITCHES
        self.facts += words(START_TICKS + time_ns, tag(PROCESSOR, 1000 + thread, flags))

    def fact(self, time_ns, kind, body):
        self.thread_states = self.thread_states or SWITCHES
        self.facts += words(START_TICKS + time_ns, tag(FACT, kind, len(body))) + padded(body)

    def blocked(self, thread, time_ns, call, address=0, descriptor=None, holder=0, since_ns=None):
        body = struct.pack("<IIqQQII", 1000 + thread, call, 0 if since_ns is None else START_TICKS + since_ns, address,
                           0 if descriptor is None else descriptor + 1, 1000 + holder if holder else 0, 1 if holder else 0)
        self.fact(time_ns, BLOCKED, body)

    def chunk(self, kind, number, thread, records):
        header = struct.pack("<IHHQIIIIQQQQ", CHUNK_MAGIC, kind, 1, number, thread, 0, 0, 0, 0, START_TICKS, 0, 0)
        content = header + records
        assert len(content) <= CHUNK_BYTES
        return content + bytes(CHUNK_BYTES - len(content))

    def data(self):
        end = START_TICKS + self.duration_ns
        header = struct.pack(
            "<QIIIIIIQQ6Q5QIIQQ64s", MAGIC, 1, HEADER_BYTES, CHUNK_BYTES, 0, 3, 4242, 99, 1 + len(self.chunks) + bool(self.open_scopes) + bool(self.facts),
            START_TICKS, START_TICKS, START_REALTIME_NS, end, end, START_REALTIME_NS + self.duration_ns,
            1 if self.finished else 0, 0, 0, 0, 0, 20 * 256, 40 * 256, 1, 1 << 26, self.process)
        header += struct.pack("<Q64s4Q160s", 0, b"", 0, self.asked_for, self.devices, self.lost_device_records, self.device_message)
        header += bytes(2088)  # no crash, no tracked Asio, no limits
        header += struct.pack("<Q96sII", self.thread_states, self.thread_states_message, self.processors, self.quota_percent)
        parts = [header + bytes(HEADER_BYTES - len(header)), self.chunk(2, 1, 0, self.metadata)]
        parts += [self.chunk(1, at, thread, records) for at, (thread, records) in enumerate(self.chunks, 2)]
        if self.open_scopes:
            parts.append(self.chunk(5, len(parts), 0, self.open_scopes))
        if self.facts:
            parts.append(self.chunk(6, len(parts), 0, self.facts))
        return b"".join(parts)

    def write(self, path):
        path.write_bytes(self.data())
        return path


def scope(site, start_ns, end_ns):
    return words(START_TICKS + start_ns, tag(SCOPE, site, end_ns - start_ns))


def task_record(kind, time_ns, task, other=0, identity=0, flags=0):
    return words(START_TICKS + time_ns, tag(kind, identity, flags), task, other)


def device(what, site, start_ns, end_ns, task=0, correlation=0, os_thread=0, stream=7, byte_count=0, queued_ns=None):
    """A device record. A record with a system thread is a call, which names no device."""
    place = (UNKNOWN, UNKNOWN, UNKNOWN) if os_thread else (0, 1, stream)
    body = struct.pack("<6Q4IB15x", START_TICKS + end_ns, task, os_thread, byte_count,
                       0 if queued_ns is None else START_TICKS + queued_ns, 0, correlation, *place, what)
    return words(START_TICKS + start_ns, tag(DEVICE, site, len(body))) + body


def attribute(serial, key, value, parent=0):
    body = struct.pack("<IBBH", parent, len(key), len(value), 0) + key + value
    return words(0, tag(ATTRIBUTE, serial, len(body))) + padded(body)


def stream(serial, label, start_ns, items_ns, end_ns=None):
    """The records of a range on thread 1 that yielded items at those times."""
    records = [words(START_TICKS + start_ns, tag(LABEL, serial, len(label))) + padded(label)]
    records += [words(START_TICKS + at, tag(ITEM, serial), 1, number)
                for number, at in enumerate([start_ns, *items_ns])]
    if end_ns is not None:
        records.append(words(START_TICKS + start_ns, tag(LONG_SCOPE, serial, COMPLETED), end_ns - start_ns, 1))
    return records


def resource_wait(site, start_ns, end_ns, holder=(0, 0), capacity=1, waiter=(0, 1)):
    """A wait for a resource. The waiter and the holder are a task and a thread."""
    task, thread = holder
    return (words(START_TICKS + end_ns, tag(FACT, RESOURCE_WAIT | capacity * CAPACITY, 48), site | 1 << 32,
                  START_TICKS + start_ns, waiter[0] << 20 | waiter[1], task << 20 | thread, 0, 0))


def request_fact(site, start_ns, deadline_ns=0, flags=0):
    return words(START_TICKS + start_ns, tag(FACT, REQUEST | flags, 32), 1, deadline_ns, site, 0)


def value(site, at_ns, number):
    return words(START_TICKS + at_ns, tag(FACT, VALUE | site * VALUE_SITE, 16), number & WORD, 1)


def requests():
    """Ten requests of one type, the first with a missed deadline, the second failed; one of another type with a scope
    in it. A value in each of the ten, and ten outside."""
    trace = Trace()
    get, put = (trace.site(name, b"../src/server.cpp", 12, KIND_REQUEST) for name in (b"GET", b"PUT"))
    queue, render = trace.site(b"queue", b"../src/server.cpp", 40, KIND_VALUE), trace.site(b"render")
    records = [request_fact(get, 100_000, 99_999), request_fact(get, 200_000, flags=REQUEST_FAILED)]
    for number in range(1, 11):
        records += [value(queue, 3_000_000 + number, number), value(queue, number * 100_000 + 1, 10 * number),
                    scope(get, number * 100_000, number * 100_000 + (11 - number) * 10_000)]
    records += [scope(render, 2_000_500, 2_000_900), scope(put, 2_000_000, 2_001_000)]
    trace.thread(1, b"main", records)
    return trace


def resources():
    """Two waits for a lock that a scope of the second thread held, and one for a pool."""
    trace = Trace()
    cache = trace.site(b"cache", kind=KIND_RESOURCE, category=b"mutex")
    pool = trace.site(b"db", kind=KIND_RESOURCE, category=b"pool")
    trace.thread(1, b"main", [resource_wait(cache, 2_000, 3_000, (0, 2)),
                              resource_wait(cache, 4_000, 9_000, (0, 2)),
                              resource_wait(pool, 10_000, 12_000, capacity=8)])
    trace.thread(2, b"flusher", [scope(trace.site(b"flush"), 1_000, 20_000)])
    return trace


def executors():
    """A pool of one thread gets four jobs at once, each of 100 us. Another pool gets one."""
    trace = Trace()
    trace.executor(1, THREAD_POOL, b"resizing")
    trace.executor(2, THREAD_POOL)
    job = trace.site(b"resize", kind=KIND_COROUTINE)
    jobs = range(11, 15)
    trace.thread(1, b"main", [task_record(SPAWN, 100_000, task, 0, job, SPAWN_READY | SPAWN_ON) for task in jobs] +
                 [task_record(SPAWN, 100_000, 20, 0, job, SPAWN_READY | 2 * SPAWN_ON)])
    runs = [(task, 200_000 + 100_000 * at) for at, task in enumerate(jobs)]
    trace.thread(2, b"resizer", [record for task, start_ns in runs
                                 for record in (task_record(RESUME, start_ns, task),
                                                task_record(FINISH, start_ns + 100_000, task))])
    trace.thread(3, b"other", [task_record(RESUME, 110_000, 20), task_record(FINISH, 120_000, 20)])
    return trace


def streams():
    trace = Trace()
    trace.thread(1, b"main", stream(1, b"rows", 1_000, [4_000, 5_000, 7_000], 8_000)
                 + stream(2, b"rows", 10_000, [11_000, 16_000]) + stream(3, b"pages", 20_000, [], 21_000))
    return trace


def pipeline(requests=5):
    """Tasks that launch a copy, two kernels and a set from their scope, hop to the second thread, and wait there for
    their stream. The kernels of request N take N times 10 us. They cover half of the await."""
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
        # In the order in which the device's recorder receives them: the last first.
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
    """Two ranges of thread 1. One asks stream 7 for two kernels and ends with it, and one ends with an unknown stream.
    """
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


def service(requests=20, last_ends=True):
    """A thread that serves `requests` tasks, one after the other. Each runs, waits for its query, is woken by the
    second thread and runs on. Request N takes N times 10 us in its query. Requests of odd number carry the tenant
    acme, the others initech. The last one may still run when the session ends."""
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
                       task << 20 | 1)]
        if last_ends or task < requests:
            main.append(task_record(FINISH, end, task))
        now = end + 1_000
    trace.thread(1, b"main", main)
    trace.thread(2, b"worker", worker)
    return trace
