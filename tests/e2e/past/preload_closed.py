# SPDX-License-Identifier: BSD-2-Clause
# usage: preload_closed.py FILE OTHER HOW: see preload_closed.sh
import ctypes
import os
import resource
import sys

path, other, how = sys.argv[1:4]
LIBC = ctypes.CDLL(None, use_errno=True)
CLOSE, DUP3 = {"x86_64": (3, 292)}.get(os.uname().machine, (57, 24))
CLOSE_RANGE = 436
NUMBERS = resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def begin():
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    for k in range(8):
        assert os.pwrite(fd, b"%d" % k * 4096, k * 4096) == 4096
    return fd


def close_from(first):
    for fd in range(first, NUMBERS):
        LIBC.syscall(CLOSE, fd)


def name_of(fd):
    try:
        return os.readlink("/proc/self/fd/%s" % fd)
    except OSError:
        return ""


# The library sleeps on a descriptor whose number is now a file of the program.
def reuse():
    mine = os.open(other, os.O_RDWR | os.O_CREAT, 0o644)
    events = [int(fd) for fd in os.listdir("/proc/self/fd") if "[eventfd]" in name_of(fd)]
    assert events
    for fd in events:
        assert LIBC.syscall(DUP3, mine, fd, 0) == fd


def go_on(fd, k):
    assert os.pread(fd, 4096, k % 8 * 4096) == b"%d" % (k % 8) * 4096
    assert os.pwrite(fd, b"%d" % (k % 8) * 4096, k % 8 * 4096) == 4096


fd = begin()
if how == "reused":
    reuse()
elif how == "others":  # the file itself stays open
    close_from(fd + 1)
elif how == "each":
    close_from(3)
    fd = os.open(path, os.O_RDWR)
else:
    assert LIBC.syscall(CLOSE_RANGE, 3, 0xffffffff, 0) == 0
    fd = os.open(path, os.O_RDWR)
for k in range(100):
    go_on(fd, k)
fd = os.open(path, os.O_RDWR | os.O_APPEND)
assert os.write(fd, b"end") == 3 and os.pread(fd, 9, 8 * 4096) == b"end"
print("ok")
