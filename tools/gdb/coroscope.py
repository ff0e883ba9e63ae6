# SPDX-License-Identifier: Apache-2.0
"""Coroscope's live tasks in gdb, of a stopped process or a core file.

    (gdb) source coroscope.py
    (gdb) coroscope tasks             the async stack of every live task
    (gdb) coroscope stack             of the task that runs on the selected thread
    (gdb) coroscope stack TASK        of one task

The program must have turned on the tracking of live tasks: COROSCOPE_LIVE=1, or
coroscope::track_live_tasks(true). Nothing is called in the process; debug information is not needed.
docs/how-to/live.md describes the memory that is read here.
"""

import collections
import struct
import time

import gdb

ROOT = struct.Struct("<8sIIQQQQ")  # magic, bytes of a slot, slots, table, epoch, no room, sites
SLOT = struct.Struct("<QQQQqqII")  # key, parent, awaiter, status, spawned, since, spawn site, thread
SITE = struct.Struct("<QQQQII")    # the one before, label, function, file, id, line
MAGIC = b"CSLIVE\0\1"
EPOCH_SHIFT = 44
BEING_FILLED = 0xffffffffffffffff
STATES = {1: "spawned", 2: "running", 3: "suspended"}
READ_BYTES = 1 << 20
LONGEST_TEXT = 4096

Task = collections.namedtuple("Task", "id above awaiter state await_site since_ns spawn_site thread")
Site = collections.namedtuple("Site", "label file line")


def read(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def read_text(address):
    """A NUL-terminated text. It is cut at the end of readable memory."""
    text = b""
    while b"\0" not in text and len(text) < LONGEST_TEXT:
        try:
            text += read(address + len(text), 64 - (address + len(text)) % 64)
        except gdb.MemoryError:
            break
    return text.split(b"\0", 1)[0].decode("utf-8", "replace")


def is_core():
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection is not None and connection.type == "core"


def is_local_process():
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection is not None and connection.type == "native"


class LiveTasks:
    """The contents of the table at this moment."""

    def __init__(self):
        if not gdb.selected_inferior().pid and not is_core():
            raise gdb.GdbError("there is no process and no core file")
        try:
            root = int(gdb.parse_and_eval("(char *)&coroscope_live_root"))
        except gdb.error as error:
            raise gdb.GdbError("this program has no Coroscope in it") from error
        magic, slot_bytes, slots, table, self.epoch, self.no_room, sites = ROOT.unpack(read(root, ROOT.size))
        if magic != MAGIC or slot_bytes < SLOT.size:
            raise gdb.GdbError("this Coroscope is of another version than its script for gdb")
        if not self.epoch:
            raise gdb.GdbError("live tasks are not tracked; turn it on with "
                               "coroscope::track_live_tasks(true) or COROSCOPE_LIVE=1")
        self.tasks = {task.id: task for task in self.read_tasks(table, slot_bytes, slots)}
        self.sites = dict(self.read_sites(sites))
        self.now_ns = self.find_now()

    def read_tasks(self, table, slot_bytes, slots):
        step = READ_BYTES // slot_bytes * slot_bytes
        for start in range(0, slots * slot_bytes, step):
            try:
                block = read(table + start, min(step, slots * slot_bytes - start))
            except gdb.MemoryError:
                continue  # pages that were never touched are not in a core file
            if not block.strip(b"\0"):
                continue
            for offset in range(0, len(block), slot_bytes):
                task = self.unpack(block, offset)
                if task is not None:
                    yield task

    def unpack(self, block, offset):
        key, parent, awaiter, status, _, since, spawn_site, thread = SLOT.unpack_from(block, offset)
        if key == BEING_FILLED or key >> EPOCH_SHIFT != self.epoch:
            return None
        return Task(key & ((1 << EPOCH_SHIFT) - 1), awaiter or parent, awaiter, STATES.get(status >> 32, ""),
                    status & 0xffffffff, since, spawn_site, thread)

    def read_sites(self, head):
        """Yields (id, site) for each site that a task names."""
        wanted = {task.spawn_site for task in self.tasks.values()}
        wanted |= {task.await_site for task in self.tasks.values()}
        address = struct.unpack("<Q", read(head, 8))[0]
        while address:
            address, label, _, file, number, line = SITE.unpack(read(address, SITE.size))
            if number in wanted:
                yield number, Site(read_text(label), read_text(file), line)

    def find_now(self):
        """The current time of a process on this machine, or else the latest time in the table."""
        if is_local_process():
            return time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        return max((task.since_ns for task in self.tasks.values()), default=0)

    def stack(self, task):
        """The ids of the task, of its awaiter (else its parent), and so on. The last id may be that of a task that has
        ended."""
        seen = []
        while task and task not in seen:
            seen.append(task)
            task = self.tasks[task].above if task in self.tasks else 0
        return seen

    def leaves(self):
        """The tasks that are not the awaiter or the parent of another live task."""
        above = {task.above for task in self.tasks.values()}
        return sorted(task for task in self.tasks if task not in above)

    def running_on(self, thread):
        on_it = [task for task in self.tasks.values() if task.thread == thread and task.state == "running"]
        return max(on_it, key=lambda task: task.since_ns).id if on_it else None

    def place(self, number):
        site = self.sites.get(number)
        if site is None:
            return "an unknown place"
        return f"{site.label} ({site.file}:{site.line})" if site.file else site.label

    def line(self, index, number, below):
        text = f"#{index} task {number}"
        task = self.tasks.get(number)
        if task is None:
            return f"{text}, not in the table, parent of task {below}"
        if task.spawn_site:
            text += " " + self.place(task.spawn_site)
        seconds = max(self.now_ns - task.since_ns, 0) / 1e9
        text += f", {task.state} {'' if task.state == 'spawned' else 'for '}{seconds:.3f} s"
        text += " ago" if task.state == "spawned" else ""
        if task.state == "running" and task.thread:
            text += f" on thread {task.thread}"
        if task.await_site:
            text += f"{', last at' if task.state == 'running' else ' at'} {self.place(task.await_site)}"
        if below is not None:
            awaits = self.tasks[below].awaiter == number
            text += f", awaits task {below}" if awaits else f", parent of task {below}"
        return text

    def write(self, task):
        below = None
        for index, number in enumerate(self.stack(task)):
            gdb.write(self.line(index, number, below) + "\n")
            below = number


class Coroscope(gdb.Command):
    """Live tasks of a program that is profiled with Coroscope."""

    def __init__(self):
        super().__init__("coroscope", gdb.COMMAND_STACK, prefix=True)


class Tasks(gdb.Command):
    """Print the async stacks of all live tasks: coroscope tasks

Each stack begins with a task that is not the awaiter or the parent of another live task. Its awaiter follows, or else
its parent."""

    def __init__(self):
        super().__init__("coroscope tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        if argument.strip():
            raise gdb.GdbError("coroscope tasks takes no arguments")
        live = LiveTasks()
        notes = [f"{len(live.tasks)} live task{'' if len(live.tasks) == 1 else 's'}"]
        if not is_local_process():
            notes.append("times end with the last transition of any of them")
        if live.no_room:
            notes.append(f"{live.no_room} transitions of others found no room in the table")
        gdb.write("; ".join(notes) + "\n")
        for task in live.leaves():
            gdb.write("\n")
            live.write(task)


class Stack(gdb.Command):
    """Print the async stack of one task: coroscope stack [TASK]

Without TASK, the command takes the task that runs on the selected thread."""

    def __init__(self):
        super().__init__("coroscope stack", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        live = LiveTasks()
        if argument.strip():
            task = int(gdb.parse_and_eval(argument))
            if task not in live.tasks:
                raise gdb.GdbError(f"task {task} is not in the table of live tasks")
        else:
            thread = gdb.selected_thread()
            if thread is None:
                raise gdb.GdbError("no thread is selected")
            task = live.running_on(thread.ptid[1])
            if task is None:
                raise gdb.GdbError(f"no task runs on thread {thread.ptid[1]}")
        live.write(task)


Coroscope()
Tasks()
Stack()
