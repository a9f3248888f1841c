# SPDX-License-Identifier: BSD-2-Clause
"""preload_ended.py DIR: programs there that end by _exit() with files open
that have no name any more."""
import os
import subprocess
import sys

ROUNDS = 4
PERL = 'open($f, "+>", $ARGV[0]); syswrite $f, "x" x 3000; unlink $ARGV[0]; ' + \
    'use POSIX; POSIX::_exit(0);'
os.chdir(sys.argv[1])


def unnamed(name):
    fd = os.open(name, os.O_CREAT | os.O_RDWR)
    assert os.write(fd, name.encode() * 1000) == 1000 * len(name)
    os.unlink(name)
    return fd


def is_whole(fd, name):
    return os.pread(fd, 5000, 0) == name.encode() * 1000


def child():
    """It has a session of its own, and its parent's file."""
    pid = os.fork()
    if pid == 0:
        unnamed("b%d" % os.getpid())
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def programs():
    mine = unnamed("mine")
    for _ in range(ROUNDS):
        subprocess.run([sys.executable, __file__, ".", "end"], check=True)
        subprocess.run(["perl", "-e", PERL, "p"], check=True)
        child()
        assert is_whole(mine, "mine")
    assert os.pwrite(mine, b"more", 0) == 4 and os.pread(mine, 4, 0) == b"more"


if len(sys.argv) > 2:
    unnamed("a%d" % os.getpid())
    os._exit(0)
programs()
