# SPDX-License-Identifier: BSD-2-Clause
"""Names after a lock was granted, for mount_lock_names.sh.

mount_lock_names.py names KIND A B: A and B are one folder seen through two mounts.  A's
kernel caches a name in the folder of a file, and B changes it under a lock of that file.  A sees
the change as soon as it has the lock.

mount_lock_names.py owners KIND A B LOCAL: three processes below each of A and B create a lock
file, lock it, and remove it before they unlock it.  LOCAL is a folder of a local disk.
"""
import errno
import fcntl
import os
import struct
import subprocess
import sys

ROUNDS = 30
PROCESSES = 3
F_OFD_SETLKW = 38
# Before, a file whose name is dropped seems removed, and names of folders stay.
EXPIRES = tuple(map(int, os.uname().release.split(".")[:2])) >= (6, 2)


def lock(kind, fd, how=fcntl.F_WRLCK):
    if kind == "flock":
        fcntl.flock(fd, fcntl.LOCK_UN if how == fcntl.F_UNLCK else fcntl.LOCK_EX)
    else:
        cmd = fcntl.F_SETLKW if kind == "posix" else F_OFD_SETLKW
        fcntl.fcntl(fd, cmd, struct.pack("hhqqixxxx", how, 0, 0, 0, 0))


def unlock(kind, fd):
    lock(kind, fd, fcntl.F_UNLCK)


def create(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def inode(path):
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


# ---- each: A's kernel gets to know the name; d is A's folder, o another one of A's mount


def look_up(d, o, name):
    inode(d + name)


def make(d, o, name):
    create(d + name)


def make_folder(d, o, name):
    os.mkdir(d + name)


def make_link(d, o, name):
    create(o + name)
    os.link(o + name, d + name)


def make_symlink(d, o, name):
    os.symlink("nowhere", d + name)


def move_in(d, o, name):
    create(o + name)
    inode(o + name)
    os.rename(o + name, d + name)


def move_in_swapped(d, o, name):
    """renameat2(RENAME_EXCHANGE), as mv has it since coreutils 9.5."""
    create(o + name), create(d + name)
    inode(o + name)
    subprocess.run([sys.executable, "-c", """
import ctypes, sys
if ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2):
    sys.exit("renameat2 failed")
""", o + name, d + name], check=True)


def list_names(d, o, name):
    """The other mount has made it; d's kernel has not heard of it before."""
    with os.scandir(d) as entries:
        if name not in [e.name for e in entries]:
            sys.exit(f"{name}: not listed")


ABSENT = [look_up]
PRESENT = [make, make_link, make_symlink, move_in, move_in_swapped, list_names]
PRESENT += [make_folder] if EXPIRES else []


# ---- each: an action of the other host under the lock


def add(path):
    create(path)


def remove(path):
    os.rmdir(path) if os.path.isdir(path) else os.unlink(path)


def replace(path):
    remove(path)
    create(path)


class Names:
    def __init__(self, kind, a, b):
        self.kind, self.a, self.b = kind, a, b
        self.turn = 0

    def run(self):
        for first in (True, False):  # of the locks in this folder, or one of many
            for learn in ABSENT:
                self.check(first, learn, add)
            for learn in PRESENT:
                self.check(first, learn, remove)
                self.check(first, learn, replace)
        self.by_name()
        self.by_link()

    def folder(self, first):
        """Folders of A and B, each with a lock file."""
        self.turn += first
        d = f"/{'new' if first else 'old'}{self.turn}"
        if not os.path.exists(self.a + d):
            os.mkdir(self.a + d)
            create(self.b + d + "/lock")
        return self.a + d + "/", self.b + d + "/"

    def check(self, first, learn, change):
        a, b = self.folder(first)
        name = f"{learn.__name__}-{change.__name__}"
        what = f"{'first' if first else 'later'} lock, {name}"
        if learn is list_names:
            create(b + name)
        mine, other = os.open(a + "lock", os.O_RDWR), os.open(b + "lock", os.O_RDWR)
        learn(a, self.a + "/", name)
        inode(b + name)  # so that B's lock has to do the same
        lock(self.kind, other)
        change(b + name)
        unlock(self.kind, other)
        lock(self.kind, mine)
        if inode(a + name) != inode(b + name):
            sys.exit(f"{what}: {inode(a + name)} instead of {inode(b + name)}")
        unlock(self.kind, mine)
        os.close(mine), os.close(other)
        if inode(self.a + "/" + name):
            os.unlink(self.a + "/" + name)

    def by_name(self):
        """Calls by the name of a replaced object, and descriptors of the old and the new one."""
        a, b = self.folder(True)
        create(a + "f"), os.mkdir(a + "d")
        mine, other = os.open(a + "lock", os.O_RDWR), os.open(b + "lock", os.O_RDWR)
        kept, within = os.open(a + "f", os.O_RDWR), os.open(a + "d", os.O_RDONLY)
        was = inode(a + "f")
        lock(self.kind, other)
        replace(b + "f")
        unlock(self.kind, other)
        lock(self.kind, mine)
        os.chmod(a + "f", 0o640)
        fd = os.open(a + "f", os.O_RDWR)
        if (inode(b + "f"), os.stat(b + "f").st_mode & 0o777) != (os.fstat(fd).st_ino, 0o640):
            sys.exit("opened or changed by a name of before")
        unlock(self.kind, mine)
        if os.fstat(kept).st_ino != was:
            sys.exit("the descriptor is of another file now")
        for fd, path in ((within, a + "d"), (mine, a + "lock"))[:2 if EXPIRES else 1]:
            if os.readlink(f"/proc/self/fd/{fd}") != os.path.realpath(path):
                sys.exit(os.readlink(f"/proc/self/fd/{fd}"))
        os.chdir(within)
        os.getcwd()


    def by_link(self):
        """The lock file has a name in two folders: names in both are current."""
        (a, b), (a2, b2) = self.folder(True), self.folder(True)
        os.unlink(a2 + "lock")
        os.link(a + "lock", a2 + "lock")
        mine, other = os.open(a + "lock", os.O_RDWR), os.open(b2 + "lock", os.O_RDWR)
        inode(a + "x"), inode(a2 + "x")
        lock(self.kind, other)
        create(b + "x"), create(b2 + "x")
        unlock(self.kind, other)
        lock(self.kind, mine)
        if not inode(a + "x") or not inode(a2 + "x"):
            sys.exit("a name of before beside a link")
        os.close(mine), os.close(other)


def own(kind, d, local):
    """A lock file as postfix, cron and many other programs use it."""
    while True:
        try:
            fd = os.open(d + "/lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as e:
            if e.errno != errno.ESTALE:
                raise
            continue  # docs/posix.md: removed twice between the look-up and the open
        lock(kind, fd)
        if os.fstat(fd).st_ino == inode(d + "/lock"):
            break
        os.close(fd)
    create(local + "/owner")  # fails if there is one
    os.unlink(local + "/owner")
    os.unlink(d + "/lock")
    unlock(kind, fd)
    os.close(fd)


def owners(kind, a, b, local):
    each = [subprocess.Popen([sys.executable, __file__, "owner", kind, d, local])
            for d in (a, b) for _ in range(PROCESSES)]
    if any([p.wait() for p in each]):
        sys.exit(f"owners {kind}: see above")


def main():
    what, kind, a, *more = sys.argv[1:]
    if what == "names":
        Names(kind, a, *more).run()
    elif what == "owners":
        owners(kind, a, *more)
    else:
        for _ in range(ROUNDS):
            own(kind, a, *more)


main()
