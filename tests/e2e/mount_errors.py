# SPDX-License-Identifier: BSD-2-Clause
# usage: mount_errors.py FILE SHIM: see mount_errors.sh
import errno
import os
import sys
import threading

path, shim = sys.argv[1:]


def flushes(fail):
    with open(shim, "r+b") as f:
        f.write(b"%-20d %-20d %-20d " % (0, fail, 0))


def synced(fd):
    try:
        os.fsync(fd)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "ok"


def want(what, have, name):
    if have != what:
        sys.exit("%s: %s instead of %s" % (name, have, what))


def opened():
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)


def fail_once(fd, name):
    flushes(1)
    want("EIO", synced(fd), name)
    flushes(0)


# each of those that have it open hears of it once, whoever asked first
a, b, c = opened(), opened(), os.open(path, os.O_RDONLY)
other = os.open(path + "2", os.O_RDWR | os.O_CREAT)
for fd in (a, b, other):
    os.write(fd, b"x" * 4096)
fail_once(a, "who asks first")
later = opened()
want("EIO", synced(b), "who asks then")
want("EIO", synced(c), "who reads")
for fd in (a, b, c, later, other):
    want("ok", synced(fd), "again")

# a child has its parent's descriptor: one of them hears of it
fail_once(b, "once more")
pid = os.fork()
if not pid:
    os._exit(synced(a) != "EIO")
want(0, os.waitpid(pid, 0)[1], "the child")
want("ok", synced(a), "the parent")
want("EIO", synced(c), "who reads, once more")
want("EIO", synced(later), "who came later")

# what is closed takes nothing along
fail_once(a, "and again")
os.close(b)
b = opened()
want("ok", synced(b), "opened anew")
want("EIO", synced(c), "who reads, again")
want("EIO", synced(later), "the other one")

# several at a time: each hears of what was lost before it asked
for i in range(30):
    for fd in (a, b):
        os.pwrite(fd, b"%4d" % i * 1024, 4096 * i)
    flushes(1)
    heard = {}
    all = [threading.Thread(target=lambda fd=fd: heard.setdefault(fd, synced(fd)))
           for fd in (a, b)]
    for t in all:
        t.start()
    for t in all:
        t.join()
    flushes(0)
    want({a: "EIO", b: "EIO"}, heard, "two at a time")
    for fd in (a, b, c, later):
        synced(fd)
    for fd in (a, b, c, later):
        want("ok", synced(fd), "after two at a time")
print("ok")
