# SPDX-License-Identifier: BSD-2-Clause
"""mount_two_rm.py A B: a program has a file open at B, which is another host, and sees that it is
removed at A."""
import os
import sys
import time


def call(f, *args):
    try:
        return f(*args)
    except OSError as e:
        return type(e)


def expect(want, f, *args):
    end = time.monotonic() + 30  # attributes and names may be a second old
    while (have := call(f, *args)) != want and time.monotonic() < end:
        time.sleep(0.1)
    if have != want:
        sys.exit(f"{f.__name__}{args}: {have} instead of {want}")


a, b = sys.argv[1:]
os.mkdir(a + "/d")
os.mkdir(a + "/d/e")
open(a + "/d/f", "w").close()
changes = [lambda fd: os.fchmod(fd, 0o700), lambda fd: os.utime(fd, (5, 6)),
           lambda fd: os.fchown(fd, 1, 2), os.listxattr]
for i in range(len(changes)):
    os.mkdir(f"{a}/{i}")
os.stat(b + "/d/e"), os.stat(b + "/d/f")
d = os.open(b + "/d", os.O_RDONLY)
e = os.open(b + "/d/e", os.O_PATH)
f = os.open(b + "/d/f", os.O_RDONLY)
os.chdir(d)
ino = os.fstat(d).st_ino
opened = [os.open(f"{b}/{i}", os.O_RDONLY) for i in range(len(changes))]
os.unlink(a + "/d/f")
for i in range(len(changes)):
    os.rmdir(f"{a}/{i}")
os.rmdir(a + "/d/e")
os.rmdir(a + "/d")
for fd, change in zip(opened, changes):  # before a stat tells that it is removed
    expect([] if change is os.listxattr else None, change, fd)
    expect(0, lambda: os.fstat(fd).st_nlink)
for _ in range(2):
    expect([], os.listdir, d)
    expect([], os.listdir, ".")
    expect((ino, 0), lambda: (os.fstat(d).st_ino, os.fstat(d).st_nlink))
    expect(0, lambda: os.fstat(e).st_nlink)
    expect(0, lambda: os.fstat(f).st_nlink)
    expect(b"", os.read, f, 10)
    expect(FileNotFoundError, os.stat, "e")
    expect(FileNotFoundError, os.open, "f", os.O_RDONLY)
    expect(FileNotFoundError, os.open, "n", os.O_RDWR | os.O_CREAT)
    expect(FileNotFoundError, os.mkdir, "n")
    expect(FileNotFoundError, os.unlink, "f")
    expect(FileNotFoundError, os.rmdir, "e")
    expect(FileNotFoundError, os.rename, "f", "g")
