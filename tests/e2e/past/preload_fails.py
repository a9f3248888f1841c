# SPDX-License-Identifier: BSD-2-Clause
"""Programs that bypass a mount while servers fail; see preload_fails.sh.

usage: preload_fails.py records FILE	writes until the end of stdin, and then checks everything
       preload_fails.py one FILE	makes one write for each line of stdin
       preload_fails.py signal FILE	a signal handler runs during a write
       preload_fails.py fill FILE	writes until the disk is full
       preload_fails.py cut PID		shuts down the connections of the process to servers

Prints the results of writes in lines: ok, or the name of the error.  `records` prints a result only
when it changes.
"""
import ctypes
import errno
import os
import select
import signal
import socket
import sys

LEN = 300000
RECORDS = 8


def say(what):
    print(what, flush=True)


def write(fd, data, off):
    """Returns ok, or the name of the error."""
    try:
        return "ok" if os.pwrite(fd, data, off) == len(data) else "short"
    except OSError as err:
        return errno.errorcode[err.errno]


def content(n):
    return n.to_bytes(4, "big") * (LEN // 4)


def stopped():
    return select.select([sys.stdin], [], [], 0)[0]


def check(fd, answered):
    for i, n in answered.items():
        if os.pread(fd, LEN, i * LEN) != content(n):
            sys.exit(f"record {i} is not what was written last")


def records(fd):
    answered, before, n = {}, "", 0
    while not stopped() or before != "ok" or len(answered) < RECORDS:
        n += 1
        answered.pop(n % RECORDS, None)
        now = write(fd, content(n), n % RECORDS * LEN)
        if now == "ok":
            answered[n % RECORDS] = n
        if now != before:
            say(now)
        before = now
    check(fd, answered)
    say(f"calls {n}")


def one(fd):
    say("open")
    for n, _ in enumerate(sys.stdin):
        say(write(fd, content(n), n % RECORDS * LEN))


def in_the_middle(fd):
    signal.signal(signal.SIGUSR1, lambda sig, frame: say("handler"))
    say("open")
    sys.stdin.readline()
    say("writes")
    say(write(fd, content(1), 0))


def fill(fd):
    n, now = 0, "ok"
    while now == "ok":
        now = write(fd, content(n), n * LEN)
        n += now == "ok"
    check(fd, {i: i for i in range(n)})
    say(now)


def cut(pid):
    call = ctypes.CDLL(None, use_errno=True).syscall
    process, cuts = os.pidfd_open(pid), 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        fd = call(438, process, int(name), 0)  # pidfd_getfd
        try:
            with socket.socket(fileno=fd) as sock:
                if sock.family == socket.AF_INET:
                    sock.shutdown(socket.SHUT_RDWR)
                    cuts += 1
        except OSError:
            os.close(fd)
    say(f"cut {cuts}")


def main():
    how, what = sys.argv[1:]
    if how == "cut":
        cut(int(what))
    else:
        {"records": records, "one": one, "signal": in_the_middle,
         "fill": fill}[how](os.open(what, os.O_RDWR | os.O_CREAT, 0o644))


main()
