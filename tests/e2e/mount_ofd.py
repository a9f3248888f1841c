# SPDX-License-Identifier: BSD-2-Clause
"""mount_ofd.py FILE: locks of an open file end with its last descriptor."""
import fcntl
import os
import struct
import sys
import time

F_OFD_SETLK, F_OFD_SETLKW = 37, 38
ROUNDS = 12
WHOLE = struct.pack("hhqqixxxx", fcntl.F_WRLCK, 0, 0, 0, 0)


def opened():
    return os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)


def is_free(fd):
    try:
        fcntl.fcntl(fd, F_OFD_SETLK, WHOLE)
    except BlockingIOError:
        return False
    fcntl.fcntl(fd, F_OFD_SETLK, struct.pack("hhqqixxxx", fcntl.F_UNLCK, 0, 0, 0, 0))
    return True


def shared():
    """The descriptors are copies and those of children."""
    other = opened()
    for _ in range(ROUNDS):
        fd = opened()
        fcntl.fcntl(fd, F_OFD_SETLKW, WHOLE)
        copy = os.dup(fd)
        os.close(fd)
        child = os.fork()
        if not child:
            time.sleep(60)
            os._exit(1)
        os.close(copy)
        if is_free(other):
            sys.exit("a lock ended before the last descriptor")
        os.kill(child, 9)
        os.waitpid(child, 0)
        end = time.monotonic() + 30
        while not is_free(other):
            if time.monotonic() > end:
                sys.exit("a lock is there after the last descriptor")


def anew():
    """For the kernel, the next open may be the same file; it is not affected by the end of the
    earlier one."""
    other = opened()
    for i in range(10 * ROUNDS):
        fd = opened()
        if i % 2:
            fcntl.fcntl(fd, F_OFD_SETLKW, WHOLE)
        else:
            fcntl.flock(fd, fcntl.LOCK_EX)
        if i % 10 == 1 and is_free(other):
            sys.exit("a lock ended with the open file before")
        os.close(fd)


def posix():
    """Locks of the process end with any of its descriptors."""
    other, first, second = opened(), opened(), opened()
    fcntl.lockf(first, fcntl.LOCK_EX)
    if is_free(other):
        sys.exit("no lock of the process")
    os.close(second)
    if not is_free(other):
        sys.exit("a lock of the process is there after a close")


shared()
anew()
posix()
