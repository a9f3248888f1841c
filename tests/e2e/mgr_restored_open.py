# SPDX-License-Identifier: BSD-2-Clause
"""mgr_restored_open.py DIR NAME: a program that runs while the manager's database is restored.  It
opens DIR/NAME.kept.  After the first line of its input it creates NAME.made and locks NAME.locked;
after the next one, which follows the restore, it uses all three."""
import errno
import fcntl
import os
import sys
import time

os.chdir(sys.argv[1])
NAME = sys.argv[2]
BOUND = 120


def open_file(suffix):
    return os.open(NAME + suffix, os.O_CREAT | os.O_RDWR, 0o644)


def said(what):
    print(what, flush=True)
    sys.stdin.readline()


def write(fd):
    """Returns 0 or the errno."""
    try:
        os.pwrite(fd, b"after" * 1000, 0)
    except OSError as e:
        return e.errno
    return 0


def stays_refused(fd):
    """Writes until it fails with ESTALE: no name reaches this file any more."""
    end = time.monotonic() + BOUND
    while not write(fd):
        if time.monotonic() > end:
            sys.exit("%s: writes to a lost file still succeed" % NAME)
        time.sleep(0.05)
    for _ in range(3):
        assert write(fd) == errno.ESTALE, os.strerror(write(fd))


kept = open_file(".kept")
locked = open_file(".locked")
os.write(kept, b"before" * 1000)
said("opened")
made = open_file(".made")
os.write(made, b"lost" * 1000)
fcntl.lockf(locked, fcntl.LOCK_EX)
said("made")
stays_refused(made)
stays_refused(locked)
assert not write(kept), os.strerror(write(kept))
os.close(kept)
again = open_file(".kept")
assert os.pread(again, 5000, 0) == b"after" * 1000
assert write(open_file(".made")) == 0
said("checked")
