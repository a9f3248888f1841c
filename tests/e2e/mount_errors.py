# SPDX-License-Identifier: BSD-2-Clause
# usage: mount_errors.py FILE SHIM [PVFS_FILE | -]: see mount_errors.sh.  PVFS_FILE is the path of
# the same file for libpvfs; with it, writes bypass the mount.  With -, prints the result of fsync
# of the file for each line of the input.
import ctypes
import errno
import fcntl
import os
import struct
import subprocess
import sys
import threading

path, shim = sys.argv[1:3]


def flushes(fail):
    with open(shim, "r+b") as f:
        f.write(b"%-20d %-20d %-20d " % (0, fail, 0))


def synced(fd):
    try:
        os.fsync(fd)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "ok"


class aiocb(ctypes.Structure):
    _fields_ = [("fd", ctypes.c_int), ("first", ctypes.c_char * 40),
                ("notify", ctypes.c_int), ("rest", ctypes.c_char * 120)]


def synced_later(fd):
    libc = ctypes.CDLL(None, use_errno=True)
    cb = aiocb(fd=fd, notify=1)
    if libc.aio_fsync(os.O_SYNC, ctypes.byref(cb)):
        return errno.errorcode[ctypes.get_errno()]
    these = (ctypes.c_void_p * 1)(ctypes.addressof(cb))
    while libc.aio_error(ctypes.byref(cb)) == errno.EINPROGRESS:
        libc.aio_suspend(these, 1, None)
    rc = libc.aio_error(ctypes.byref(cb))
    return errno.errorcode[rc] if rc else "ok"


def want(what, have, name):
    if have != what:
        sys.exit("%s: %s instead of %s" % (name, have, what))


def opened():
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)


def fail_once(fd, name):
    flushes(1)
    want("EIO", synced(fd), name)
    flushes(0)


def without_the_library():
    return {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


def other_host_meets_it():
    flushes(1)
    got = subprocess.run(["pvio", "write", sys.argv[3], "8192", "1", "1"],
                         env=without_the_library(), capture_output=True, text=True)
    flushes(0)
    if "EIO" not in got.stdout + got.stderr:
        sys.exit("the other client: %s%s" % (got.stdout, got.stderr))


class Beside:
    """Another program has the file open through the mount at the same time."""

    def __init__(self):
        self.program = subprocess.Popen([sys.executable, __file__, path, shim, "-"],
                                        env=without_the_library(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        want("ready\n", self.program.stdout.readline(), "the program beside")

    def synced(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()
        return self.program.stdout.readline().strip()

    def end(self):
        self.program.communicate()
        want(0, self.program.returncode, "the program beside")


def beside():
    fd = opened()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(synced(fd), flush=True)


# another host's fsync has met the error: each descriptor of the file reports it, also one that was
# not used for writing
def past_the_mount():
    fd = opened()
    for other in (os.dup(fd), os.open(path, os.O_RDONLY)):
        os.pwrite(fd, b"x" * 4096, 0)
        other_host_meets_it()
        want("EIO", synced(other), "by another number")
        want("ok", synced(fd), "once more")
    # ... also if the writing descriptor is closed
    os.pwrite(fd, b"x" * 4096, 0)
    os.close(fd)
    other_host_meets_it()
    for how in (os.O_RDONLY, os.O_RDWR):
        fd = os.open(path, how)
        want("EIO" if how == os.O_RDONLY else "ok", synced(fd), "opened anew")
        os.close(fd)
    # an asynchronous fsync reports it, too
    fd = opened()
    os.pwrite(fd, b"x" * 4096, 0)
    os.close(fd)
    other_host_meets_it()
    fd = opened()
    want("EIO", synced_later(fd), "by aio_fsync")
    want("ok", synced_later(fd), "by aio_fsync, once more")
    os.close(fd)


# a program that has the file open through the mount gets the report, whoever met the error
def told_on():
    fd = opened()
    p = Beside()
    for met in (lambda: flushes(1), other_host_meets_it):
        os.pwrite(fd, b"x" * 4096, 0)
        met()
        want("EIO", synced(fd), "who wrote past the mount")
        flushes(0)
        want("EIO", p.synced(), "the program beside it")
        want("ok", p.synced(), "that one again")
        want("ok", synced(fd), "who wrote, again")
    # a report by a descriptor without the right to write is rejected, and so is an errno that means
    # no loss
    for how, error, say in ((os.O_RDONLY, errno.EIO, "EBADF"), (os.O_RDWR, errno.ESTALE, "EINVAL")):
        try:
            fcntl.ioctl(os.open(path, how), 0x4008f563, struct.pack("II", error, 0))
            sys.exit("what is no loss was told on")
        except OSError as e:
            want(say, errno.errorcode[e.errno], "to say so")
    want("ok", p.synced(), "that one at last")
    p.end()


if sys.argv[3:] == ["-"]:
    beside()
    sys.exit()
if len(sys.argv) > 3:
    past_the_mount()
    told_on()

# each open file reports the error once, whichever asked first
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

# a child shares its parent's descriptor: one of the two gets the report
fail_once(b, "once more")
pid = os.fork()
if not pid:
    os._exit(synced(a) != "EIO")
want(0, os.waitpid(pid, 0)[1], "the child")
want("ok", synced(a), "the parent")
want("EIO", synced(c), "who reads, once more")
want("EIO", synced(later), "who came later")

# a closed file keeps no error
fail_once(a, "and again")
os.close(b)
b = opened()
want("ok", synced(b), "opened anew")
want("EIO", synced(c), "who reads, again")
want("EIO", synced(later), "the other one")

# several concurrent fsyncs: each reports losses that happened before it began
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
