# SPDX-License-Identifier: Apache-2.0
"""Records LTTng's user-space tracepoints while a row is measured, and reports discarded events."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

SESSION = "coroscope-bench"
CHANNEL = "bench"
ROOM = ["--subbuf-size=8M", "--num-subbuf=8", "--buffers-uid", "--discard"]


def available():
    return all(shutil.which(tool) for tool in ("lttng", "lttng-sessiond"))


def lttng(*words, check=True):
    return subprocess.run(["lttng", "--no-sessiond", *words], check=check, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


@contextlib.contextmanager
def daemon():
    """The running session daemon, or a new one that ends with the block."""
    if lttng("list", check=False).returncode == 0:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        pid_file = pathlib.Path(folder, "pid")
        subprocess.run(["lttng-sessiond", "--daemonize", "--no-kernel", f"--pidfile={pid_file}"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        process = int(pid_file.read_text())
        try:
            yield
        finally:
            os.kill(process, signal.SIGTERM)
            while pathlib.Path(f"/proc/{process}").exists():
                time.sleep(0.05)


class Recording:
    def discarded(self):
        """The number of events that LTTng discarded."""
        listed = lttng("--mi=xml", "list", SESSION).stdout
        return sum(int(count) for count in re.findall(r"<discarded_events>(\d+)<", listed))


@contextlib.contextmanager
def recording():
    """Records every tracepoint of the provider `bench` until the end of the block."""
    with daemon(), tempfile.TemporaryDirectory() as folder:
        lttng("create", SESSION, f"--output={folder}")
        try:
            lttng("enable-channel", "--userspace", f"--session={SESSION}", *ROOM, CHANNEL)
            lttng("enable-event", "--userspace", f"--session={SESSION}", f"--channel={CHANNEL}", "bench:*")
            lttng("start", SESSION)
            yield Recording()
        finally:
            lttng("destroy", SESSION)
