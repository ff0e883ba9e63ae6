#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asio's and Beast's own example programs, unmodified, under load: with tracking and during a session they
answer and print the same as without, and their operations are in the trace.

check_examples.py CHECK_TRACE NAME=PROGRAM...
"""

import base64
import concurrent.futures
import hashlib
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS = 8
ROUNDS = 20
FIXED_PORT = 55555  # the port of most examples without an argument for it
PATIENCE = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
        return True


def connect(port):
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def read_exactly(connection, count):
    got = b""
    while len(got) < count:
        part = connection.recv(count - len(got))
        if not part:
            break
        got += part
    return got


def with_clients(client, count=CLIENTS):
    """Returns the answers to several clients at once, in the order of the clients."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(client, range(count)))


def echo(port, _):
    def client(number):
        got = []
        with connect(port) as connection:
            for turn in range(ROUNDS):
                message = f"client {number} turn {turn} ".encode() * (1 + turn)
                connection.sendall(message)
                got.append(read_exactly(connection, len(message)) == message)
        return got
    return with_clients(client)


def send(client, message):
    client.write(message)
    client.flush()


def join(port, clients, hello, receive):
    """Another client has joined when all of them get its first message, perhaps behind older ones."""
    clients.append(connect(port).makefile("rwb"))
    send(clients[-1], hello)
    for each in clients:
        while receive(each) not in (hello, b""):
            pass


def chat(port, encode, receive):
    """Every client of a chat gets every message, in one order."""
    clients = []
    for number in range(3):
        join(port, clients, encode(f"client {number}"), receive)
    got = []
    for turn in range(ROUNDS):
        send(clients[turn % 3], encode(f"message {turn}"))
        got.append([receive(each) for each in clients])
    return got


def lines(port, _):
    return chat(port, lambda text: f"{text}\n".encode(), lambda client: client.readline())


def messages(port, _):
    def receive(client):
        head = client.read(4)
        return head + client.read(int(head or 0))
    return chat(port, lambda text: f"{len(text):4}{text}".encode(), receive)


def get_files(port, folder):
    pathlib.Path(folder, "page.html").write_text("<p>page</p>\n" * 200)

    def client(number):
        got = []
        connect(port).close()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        for turn in range(ROUNDS):
            connection.request("GET" if turn % 3 else "HEAD", "/page.html" if turn % 5 else "/none.html")
            reply = connection.getresponse()
            got.append((reply.status, reply.read()))
        connection.close()
        return number, got
    return with_clients(client)


def frame(payload):
    head = bytes([0x81, 0x80 | len(payload)]) if len(payload) < 126 else \
        bytes([0x81, 0xFE]) + len(payload).to_bytes(2, "big")
    return head + b"\0\0\0\0" + payload


def unframe(connection):
    head = read_exactly(connection, 2)
    size = head[1] & 0x7F
    if size == 126:
        size = int.from_bytes(read_exactly(connection, 2), "big")
    return read_exactly(connection, size)


def websocket(port, _):
    def client(number):
        key = base64.b64encode(hashlib.sha1(str(number).encode()).digest()[:16]).decode()
        with connect(port) as connection:
            connection.sendall(("GET / HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
                                f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
            answer = b""
            while not answer.endswith(b"\r\n\r\n"):
                answer += connection.recv(1)
            got = [b" 101 " in answer.splitlines()[0]]
            for turn in range(ROUNDS):
                text = f"client {number} turn {turn} ".encode() * (1 + turn)
                connection.sendall(frame(text))
                got.append(unframe(connection) == text)
        return got
    return with_clients(client)


def echo_once(connection):
    with connection:
        while part := connection.recv(65536):
            connection.sendall(part)


def through_proxy(port, target):
    """The proxy's target is an echo server of ours."""
    def serve():
        while True:
            try:
                connection, _ = target.accept()
            except OSError:
                return
            threading.Thread(target=echo_once, args=(connection,), daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()
    return echo(port, None)


def read_all(port):
    with connect(port) as connection:
        data = b""
        while part := connection.recv(4096):
            data += part
        return data


def nothing(_port, _):
    """The program is its own client."""


def three_readers(port, _):
    """The program listens again for each connection, serves it, and ends. A client that connects while the
    program stops listening is reset before any data, and connects again."""
    got = []
    deadline = time.monotonic() + PATIENCE
    while len(got) < 3:
        try:
            got.append(read_all(port))
        except ConnectionResetError:
            if time.monotonic() > deadline:
                raise
    return got


class Example:
    """The start of a program, the talk with it, and the required content of its trace."""

    def __init__(self, talk, arguments, expected, ends=False, port=FIXED_PORT, prints_times=False):
        self.talk = talk
        self.arguments = arguments  # "{port}", "{folder}", "{target}"
        self.expected = expected
        self.ends = ends
        self.port = port
        self.prints_times = prints_times

    def chooses_port(self):
        return self.talk is nothing or any("{port}" in each for each in self.arguments)


TCP = ["socket.async_accept", "socket.async_receive", "socket.async_send"]
EXAMPLES = {
    "async_tcp_echo_server": Example(echo, ["{port}"], TCP),
    "chat_server_callbacks": Example(messages, ["{port}"], TCP),
    "timeouts_server": Example(lines, ["{port}", "127.0.0.1", "{target}"], TCP + ["deadline_timer.async_wait"]),
    "composed_8": Example(three_readers, [], ["deadline_timer.async_wait", "socket.async_send"], ends=True),
    "refactored_echo_server": Example(echo, [], TCP),
    "echo_server_with_deferred": Example(echo, [], TCP),
    "timeout": Example(echo, [], TCP + ["deadline_timer.async_wait", "listen", "handle_connection"], port=54321),
    "chat_server": Example(lines, ["{port}"],
                           TCP + ["deadline_timer.async_wait", "listener", "chat_session::reader"]),
    "throttling_proxy": Example(through_proxy, ["127.0.0.1", "{port}", "127.0.0.1", "{target}"],
                                ["channel.async_receive", "socket.async_connect", "listen", "proxy"]),
    "http_service_without_scopes": Example(
        nothing, ["--database", "{folder}/service.db", "--requests", "1000", "--connections", "8"],
        ["co_spawn", "accept", "http.read", "db.get", "socket.async_receive"], ends=True, prints_times=True),
    "http_server_async": Example(get_files, ["127.0.0.1", "{port}", "{folder}", "2"], TCP),
    "http_server_stackless": Example(get_files, ["127.0.0.1", "{port}", "{folder}", "2"], TCP),
    "http_server_coro": Example(get_files, ["127.0.0.1", "{port}", "{folder}", "2"], TCP),
    "http_server_awaitable": Example(get_files, ["127.0.0.1", "{port}", "{folder}", "2"],
                                     TCP + ["do_listen", "do_session"]),
    "websocket_server_async": Example(websocket, ["127.0.0.1", "{port}", "2"], TCP),
    "websocket_server_stackless": Example(websocket, ["127.0.0.1", "{port}", "2"], TCP),
    "websocket_server_coro": Example(websocket, ["127.0.0.1", "{port}", "2"], TCP),
    "websocket_server_awaitable": Example(websocket, ["127.0.0.1", "{port}", "2"],
                                     TCP + ["do_listen", "do_session"]),
}


def holds_connections(port):
    """Whether a program on this machine holds a connection to its port, perhaps one that the client closed."""
    established, closed_by_client = "01", "08"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:] if os.path.exists(table) else ():
            _, local, _, state, *_ = line.split()
            if int(local.rsplit(":", 1)[1], 16) == port and state in (established, closed_by_client):
                return True
    return False


def await_closed(port):
    """The program sees the last connections close, and closes them, too."""
    until = time.monotonic() + PATIENCE
    while holds_connections(port) and time.monotonic() < until:
        time.sleep(0.02)


def run(example, program, folder, environment):
    """Returns the answers to its clients, its output, and its exit code if it ends by itself."""
    target = socket.create_server(("127.0.0.1", 0))
    taken = any("{port}" in each for each in example.arguments)
    port = free_port() if taken else example.port
    names = {"port": port, "folder": folder, "target": target.getsockname()[1]}
    process = subprocess.Popen([program, *(each.format(**names) for each in example.arguments)],
                               env={**os.environ, **environment}, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        got = example.talk(port, target if example.talk is through_proxy else folder)
        if not example.ends:
            await_closed(port)
            process.send_signal(signal.SIGTERM)
        printed, errors = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        target.close()
    code = process.returncode if example.ends else None
    if example.prints_times:
        printed = len(printed.splitlines())
    # The complaints about connections depend on timing.
    return got, printed, code, "Sanitizer" in errors and errors


def problem_of(name, program, check_trace, folder):
    example = EXAMPLES[name]
    trace = str(pathlib.Path(folder, name + ".cst"))
    plain = run(example, program, folder, {})
    recorded = run(example, program, folder, {"COROSCOPE_TRACE": trace})
    if recorded[3] or plain[3]:
        return f"a sanitizer complains: {recorded[3] or plain[3]}", ""
    if plain != recorded:
        return f"plain {str(plain)[:300]}, recorded {str(recorded)[:300]}", ""
    checked = subprocess.run([check_trace, trace], capture_output=True, text=True, check=False)
    if checked.returncode != 0:
        return "its trace: " + checked.stderr[:500], ""
    labels = {line.split(" ", 2)[2] for line in checked.stdout.splitlines()}
    missing = [each for each in example.expected if each not in labels]
    tasks = sum(int(line.split()[0]) for line in checked.stdout.splitlines() if " spawned " in line)
    if missing or tasks == 0:
        return f"{tasks} tasks, none of {', '.join(missing)}: {', '.join(sorted(labels))}", ""
    return None, f"{tasks} tasks"


def main():
    check_trace, *programs = sys.argv[1:]
    if not programs:
        print("SKIP: Boost's examples are not installed (Debian: libboost1.81-doc)")
        return 77
    failed = 0
    for each in programs:
        name, program = each.split("=", 1)
        example = EXAMPLES[name]
        if not example.chooses_port() and not is_free(example.port):
            print(f"{name}: SKIP: another program uses port {example.port}", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                problem, found = problem_of(name, program, check_trace, folder)
            except (OSError, subprocess.TimeoutExpired, http.client.HTTPException) as error:
                problem, found = f"it does not answer: {error}", ""
        print(f"{name}: {problem or 'the same output, ' + found}", flush=True)
        failed += problem is not None
    left_out = [name for name in EXAMPLES if not any(each.startswith(name + "=") for each in programs)]
    if left_out:
        print("not asked for here:", ", ".join(left_out))
    print(f"{len(programs)} examples, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
