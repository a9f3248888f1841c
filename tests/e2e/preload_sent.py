# SPDX-License-Identifier: BSD-2-Clause
"""preload_sent.py - python3 preload_sent.py FILE: a program's data bypassed the mount and extended
the file beyond the size that the kernel knows.  Calls by which the kernel itself moves data see all
of it."""
import fcntl
import mmap
import os
import socket
import sys

N = 20000
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
out = os.open(sys.argv[1] + ".out", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
os.pwrite(out, b"-", 0)
into, to = os.pipe()
fcntl.fcntl(to, fcntl.F_SETPIPE_SZ, 1 << 20)
here, there = socket.socketpair()
here.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
end = 0


def whole(read, n):
    got = b""
    while len(got) < n:
        got += read(n - len(got))
    return got


def splice(at):
    return whole(lambda n: os.read(into, n), os.splice(fd, to, N, offset_src=at))


def splice_here(at):
    os.lseek(fd, at, os.SEEK_SET)
    return whole(lambda n: os.read(into, n), os.splice(fd, to, N))


def sendfile(at):
    return whole(there.recv, os.sendfile(here.fileno(), fd, at, N))


def copied(at):
    return os.pread(out, os.copy_file_range(fd, out, N, at, 0), 0)


def mapped(at):
    with mmap.mmap(fd, at + N, mmap.MAP_PRIVATE, mmap.PROT_READ) as m:
        return m[at:]


for k in range(3):
    for way in splice, splice_here, sendfile, copied, mapped:
        for again in range(2):  # longer, and over what the kernel may have read
            text = os.urandom(N)
            assert os.pwrite(fd, text, end) == N
            assert way(end) == text, (way.__name__, k, again)
        os.write(to, text[:100])
        assert os.splice(into, fd, 100, offset_dst=end + 50) == 100
        assert os.pread(fd, 200, end) == text[:50] + text[:100] + text[150:200]
        end += N
