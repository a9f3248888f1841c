#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client that sends pvfs-exporter long or slow lines, none, or garbage loses its connection. Other
# clients are served meanwhile, and memory does not grow.
. "$(dirname "$0")/functions.sh"
. "$e2e/exporting.sh"

start_pvfs -n 2
start_exporter --name elsewhere --name watch.example
cat >hostile.py <<'END'
import os, random, socket, sys, time
host, port, pid = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def connect():
    s = socket.create_connection((host, port), timeout=60)
    return s


def until_end(s):
    data = b""
    try:
        while True:
            part = s.recv(65536)
            if not part:
                break
            data += part
    except ConnectionError:
        pass
    s.close()
    return data


def ask(request):
    s = connect()
    try:
        s.sendall(request)
    except ConnectionError:
        pass
    return until_end(s)


def well():
    data = ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert data.startswith(b"HTTP/1.1 200 ") and b"pvfs_up" in data, data[:200]


def has(kind):
    return len(os.listdir(f"/proc/{pid}/{kind}"))


def refused(request, *codes):
    data = ask(request)
    code = data.split(b" ")[1] if data else b""
    assert code in codes, (request[:80], data[:200])


well()
tasks, files = has("task"), has("fd")
# ---- lines ----
refused(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", b"414", b"431", b"400", b"")
refused(b"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 100000 + b"\r\n\r\n", b"431", b"400", b"413", b"")
refused(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20000 + b"\r\n", b"431", b"400", b"413", b"")
refused(b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nabc", b"405", b"")
refused(b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405")
refused(b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404")
refused(b"GET /metrics%00x HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404", b"400", b"200")
assert ask(b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").endswith(b"\r\n\r\n")
# ---- a browser that was led here under a name of a stranger's ----
for name in (b"evil.example", b"evil.example:%d" % port, b"127.0.0.1.evil.example", b"0.0.0.0", b""):
    for path in (b"/", b"/status", b"/metrics", b"/health", b"/x"):
        refused(b"GET " + path + b" HTTP/1.1\r\nHost: " + name + b"\r\n\r\n", b"421", b"400")
for name in (b"localhost", b"127.0.0.1:%d" % port, b"[::1]", socket.gethostname().encode(), b"Watch.Example"):
    assert ask(b"GET /health HTTP/1.1\r\nHost: " + name + b"\r\n\r\n").startswith(b"HTTP/1.1 200 "), name
assert ask(b"GET /health HTTP/1.0\r\n\r\n").split(b" ")[1] == b"200"
chance = random.Random(1)
for _ in range(200):
    s = connect()
    try:
        s.sendall(bytes(chance.randrange(256) for _ in range(chance.randrange(400))) + b"\r\n\r\n")
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    until_end(s)
well()
# ---- a request that is many ----
data = ask(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
assert data.count(b"HTTP/1.1 ") <= 1, data
# ---- many that say nothing, or never come to an end; and many that do not read ----
held = []
for i in range(600):
    s = connect()
    try:
        if i % 3:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nA: ")
        if i % 3 == 2:
            s.sendall(b"b\r\n\r\n")
    except OSError:
        pass
    held.append(s)
    if i % 50 == 0:
        well()
        assert has("task") <= tasks + 390 and has("fd") <= files + 780, (has("task"), has("fd"))
for s in held:
    s.close()
# ---- a client from another host, however often it connects, takes nobody's connection ----
first = connect()
first.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
held = [socket.create_connection((host, port), 60, ("127.0.0.2", 0)) for _ in range(200)]
first.sendall(b"\r\n")
data = until_end(first)
assert data.startswith(b"HTTP/1.1 200 "), data
for s in held:
    s.close()
# ---- one that sends a byte now and then is ended, though it is never silent ----
s = connect()
s.sendall(b"GET / HTTP/1.1\r\nA: ")
s.settimeout(0.2)
for _ in range(600):
    try:
        s.sendall(b"a")
        if s.recv(100) == b"":
            break
    except socket.timeout:
        continue
    except ConnectionError:
        break
else:
    sys.exit("it may go on for ever")
well()
# ---- all is given back ----
end = time.monotonic() + 60
while has("task") > tasks or has("fd") > files:
    assert time.monotonic() < end, (has("task"), tasks, has("fd"), files)
    time.sleep(0.1)
END
address=${url#http://}
must python3 hostile.py "${address%:*}" "${address##*:}" "$exporter_pid"
grep -vE 'ready: |answers' "$exporter_log" && fail "strangers write its log"

# Open connections do not delay the exit.
exec 6<>"/dev/tcp/127.0.0.1/${url##*:}"
printf 'GET / HTTP/1.1\r\n' >&6
stop_exporter
exec 6>&-
exit 0
