# SPDX-License-Identifier: BSD-2-Clause
"""Programs on several hosts that rely on locks, for mount_locks.sh.

mount_locks.py CASE KIND A B: two processes below each of the folders A and B, which are one folder
seen through two mounts.  KIND is posix, ofd or flock.  Exits with 0 if the file has the changes of
all processes.
"""
import fcntl
import mmap
import os
import sqlite3
import struct
import subprocess
import sys
import time

ROUNDS = 8
MAPS = "MAPS_SHARED" in os.environ
F_OFD_SETLK, F_OFD_SETLKW = 37, 38


def lock(kind, fd, how, wait=True):
    """Tries to take the lock.  Returns False if another process has it."""
    if kind == "flock":
        op = {fcntl.F_RDLCK: fcntl.LOCK_SH, fcntl.F_WRLCK: fcntl.LOCK_EX,
              fcntl.F_UNLCK: fcntl.LOCK_UN}[how]
        call, args = fcntl.flock, (fd, op if wait else op | fcntl.LOCK_NB)
    else:
        cmd = {"posix": (fcntl.F_SETLK, fcntl.F_SETLKW),
               "ofd": (F_OFD_SETLK, F_OFD_SETLKW)}[kind][wait]
        call, args = fcntl.fcntl, (fd, cmd, struct.pack("hhqqixxxx", how, 0, 0, 0, 0))
    try:
        call(*args)
    except BlockingIOError:
        return False
    return True


def spin(kind, fd, how):
    """Tries to take the lock without waiting: F_SETLK, LOCK_NB."""
    while not lock(kind, fd, how, False):
        pass


# ---- each case: prepare(folder), work(folder, kind, who), check(folder) -> problem or None


def record(i):
    return struct.pack("q", i) * 500


class Seen:
    """Takes turns: the next holder immediately sees the changes that were made under the lock."""

    def prepare(self, d):
        with open(d + "/seen", "wb") as f:
            f.write(bytes(8192))

    def run(self, a, b, kind):
        """The turns take only some ms, so no time-out of a cache hides an error."""
        fds = [os.open(d + "/seen", os.O_RDWR) for d in (a, b)]
        maps = MAPS and [mmap.mmap(fd, 8192) for fd in fds]
        for i in range(1, ROUNDS):
            one, other = (fds if i % 2 else fds[::-1])
            self.look(other, maps and maps[i % 2])
            (spin if i % 3 else lock)(kind, one, fcntl.F_WRLCK)
            if maps and i % 5 == 0:
                maps[1 - i % 2][:4000] = record(i)
            else:
                os.pwrite(one, record(i), 0)
            os.pwrite(one, b"x", 10000 + i)
            os.fchmod(one, 0o600 + i % 8)
            lock(kind, one, fcntl.F_UNLCK)
            lock(kind, other, (fcntl.F_RDLCK, fcntl.F_WRLCK)[i % 2])
            self.expect(i, other, maps and maps[i % 2])
            lock(kind, other, fcntl.F_UNLCK)
        if MAPS:
            self.beside(fds, maps, kind)
        self.removed(a, b, kind)

    def beside(self, fds, maps, kind):
        """The lock belongs to another descriptor than the mapping.  The POSIX locks of a process
        end when it closes any descriptor of the file."""
        how = fcntl.F_WRLCK if kind == "flock" else fcntl.F_RDLCK
        for i in range(ROUNDS, ROUNDS + 4):
            path = f"/proc/self/fd/{fds[i % 2]}"
            one = os.open(path, os.O_RDONLY)
            self.look(fds[1 - i % 2], None)
            lock(kind, one, how)
            maps[i % 2][:4000] = record(i)
            lock(kind, one, fcntl.F_UNLCK)
            lock(kind, fds[1 - i % 2], fcntl.F_WRLCK)
            seen = os.pread(fds[1 - i % 2], 4000, 0)
            lock(kind, fds[1 - i % 2], fcntl.F_UNLCK)
            os.close(one)
            if seen != record(i):
                sys.exit(f"turn {i}: mapped beside the lock: {seen[:8]}")

    def look(self, fd, m):
        os.pread(fd, 8192, 0), os.fstat(fd), m and m[0]

    def expect(self, i, fd, m):
        st = os.fstat(fd)
        seen = os.pread(fd, 4000, 0), st.st_size, st.st_mode & 0o7777
        if seen != (record(i), 10001 + i, 0o600 + i % 8):
            sys.exit(f"turn {i}: {seen[0][:8]}, size {seen[1]}, mode {seen[2]:o}")
        if m and m[:4000] != record(i):
            sys.exit(f"turn {i}: mapped: {m[:8]}")

    def removed(self, a, b, kind):
        """The last name of the file is removed while another process waits for the lock."""
        for i in range(5):
            mine, other = [os.open(d + "/seen", os.O_RDWR | os.O_CREAT) for d in (a, b)]
            lock(kind, mine, fcntl.F_WRLCK)
            os.fstat(other)
            os.unlink(a + "/seen")
            os.close(mine)
            lock(kind, other, fcntl.F_WRLCK)
            if os.fstat(other).st_nlink:
                sys.exit("what was removed has a name")
            # the open file was removed, so the name belongs to another file
            try:
                sys.exit(f"opened without a name: {os.open(b + '/seen', os.O_RDWR)}")
            except FileNotFoundError:
                pass
            again = os.open(f"/proc/self/fd/{other}", os.O_RDWR)
            if os.fstat(again).st_ino != os.fstat(other).st_ino:
                sys.exit("the removed file is not opened by its descriptor")
            a, b = b, a


class Counter:
    """Changes a number in a page whose other bytes never change."""

    def prepare(self, d):
        with open(d + "/counter", "wb") as f:
            f.write(bytes(8192))

    def work(self, d, kind, who):
        fd = os.open(d + "/counter", os.O_RDWR)
        for i in range(ROUNDS):
            (spin if i % 2 else lock)(kind, fd, fcntl.F_WRLCK)
            n, = struct.unpack("q", os.pread(fd, 8, 4000))
            os.pwrite(fd, struct.pack("q", n + 1), 4000)
            lock(kind, fd, fcntl.F_UNLCK)

    def check(self, d):
        with open(d + "/counter", "rb") as f:
            n, = struct.unpack("q", f.read()[4000:4008])
        return n != 4 * ROUNDS and f"{4 * ROUNDS - n} updates are lost"


class Mapped(Counter):
    """The same through shared mappings, without msync."""

    def work(self, d, kind, who):
        fd = os.open(d + "/counter", os.O_RDWR)
        m = mmap.mmap(fd, 8192)
        for _ in range(ROUNDS):
            lock(kind, fd, fcntl.F_WRLCK)
            n, = struct.unpack_from("q", m, 4000)
            struct.pack_into("q", m, 4000, n + 1)
            lock(kind, fd, fcntl.F_UNLCK)


class End:
    """Appends records at the end that fstat(2) reports."""

    def prepare(self, d):
        open(d + "/end", "wb").close()

    def work(self, d, kind, who):
        fd = os.open(d + "/end", os.O_RDWR)
        for i in range(ROUNDS):
            lock(kind, fd, fcntl.F_WRLCK)
            os.pwrite(fd, b"%s %04d\n" % (who.encode(), i), os.fstat(fd).st_size)
            lock(kind, fd, fcntl.F_UNLCK)

    def check(self, d):
        with open(d + "/end", "rb") as f:
            lines = f.read().split(b"\n")
        n = 4 * ROUNDS - len(set(lines) - {b""})
        return n and f"{n} records are lost"


class Rows:
    """Processes read a table that grows, as readers of HDF5 files do."""

    def prepare(self, d):
        with open(d + "/rows", "wb") as f:
            f.write(bytes(4096))

    def write(self, fd, kind):
        for i in range(1, ROUNDS + 1):
            lock(kind, fd, fcntl.F_WRLCK)
            os.pwrite(fd, bytes([i % 255 + 1]) * 1000, 4096 + 1000 * (i - 1))
            os.pwrite(fd, struct.pack("q", i), 0)
            lock(kind, fd, fcntl.F_UNLCK)

    def read(self, fd, kind):
        n = 0
        while n < ROUNDS:
            lock(kind, fd, fcntl.F_RDLCK)
            n, = struct.unpack("q", os.pread(fd, 8, 0))
            rows = os.pread(fd, 1000 * ROUNDS, 4096)
            lock(kind, fd, fcntl.F_UNLCK)
            time.sleep(0.001)  # the writer's turn
            for i in range(n):
                if rows[1000 * i:1000 * i + 1000] != bytes([(i + 1) % 255 + 1]) * 1000:
                    sys.exit(f"row {i} of {n} has other bytes")

    def work(self, d, kind, who):
        fd = os.open(d + "/rows", os.O_RDWR)
        (self.write if who == "a0" else self.read)(fd, kind)

    def check(self, d):
        return None


class Sqlite:
    def open(self, d):
        return sqlite3.connect(d + "/db", timeout=60, isolation_level=None)

    def prepare(self, d):
        db = self.open(d)
        db.execute("create table t (who, n, b)")
        db.execute("create index i on t (n)")
        db.execute("create table c (n)")
        db.execute("insert into c values (0)")

    def work(self, d, kind, who):
        db = self.open(d)
        for i in range(ROUNDS):
            db.execute("begin immediate")
            db.execute("update c set n = n + 1")
            db.execute("insert into t values (?, ?, ?)", (who, i, bytes(500)))
            db.execute("commit")

    def check(self, d):
        db = self.open(d)
        sound = db.execute("pragma integrity_check").fetchone()[0]
        n = db.execute("select n from c").fetchone()[0]
        rows = db.execute("select count(*) from t").fetchone()[0]
        if (sound, n, rows) != ("ok", 4 * ROUNDS, 4 * ROUNDS):
            return f"{sound}; {n} updates and {rows} rows of {4 * ROUNDS}"
        return None


CASES = {c.__name__.lower(): c() for c in (Counter, Mapped, End, Rows, Seen, Sqlite)}


def main():
    name, kind, *folders = sys.argv[1:]
    case = CASES[name]
    if len(folders) == 2 and folders[1][:1] != "/":  # one of the processes
        print("ready", flush=True)
        sys.stdin.read()
        case.work(folders[0], kind, folders[1])
        return
    case.prepare(folders[0])
    if isinstance(case, Seen):
        case.run(*folders, kind)
        return
    who = [(d, f"{chr(97 + i)}{k}") for i, d in enumerate(folders) for k in range(2)]
    each = [subprocess.Popen([sys.executable, __file__, name, kind, *w], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE) for w in who]
    for p in each:
        p.stdout.readline()
    for p in each:  # together
        p.stdin.close()
    failed = [p.wait() for p in each]
    wrong = case.check(folders[0]) or case.check(folders[1])
    if any(failed) or wrong:
        sys.exit(f"{name} {kind}: {wrong or 'see above'}")


main()
