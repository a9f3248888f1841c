# SPDX-License-Identifier: BSD-2-Clause
"""preload_ended.py DIR [replaced]: programs end by _exit(), or execute another program, with open
files without a name."""
import errno
import os
import subprocess
import sys

ROUNDS = 4
UNNAMED = 'open($f, "+>", $ARGV[0]); syswrite $f, "x" x 3000; unlink $ARGV[0]; '
PERL = UNNAMED + 'use POSIX; POSIX::_exit(0);'
PERL_EXEC = UNNAMED + 'exec "cat";'
CAT = "/bin/cat"
os.chdir(sys.argv[1])


def unnamed(name):
    fd = os.open(name, os.O_CREAT | os.O_RDWR)
    assert os.write(fd, name.encode() * 1000) == 1000 * len(name)
    os.unlink(name)
    return fd


def is_whole(fd, name):
    return os.pread(fd, 1000 * len(name) + 1, 0) == name.encode() * 1000


def child():
    """The child has its own session and the open file of its parent."""
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


def become_cat(how):
    """A failed exec() changes nothing."""
    name = how + str(os.getpid())
    fd = unnamed(name)
    try:
        os.execv("/nowhere/cat", ["cat"])
    except OSError as err:
        assert err.errno == errno.ENOENT
    assert is_whole(fd, name)
    assert os.pwrite(fd, b"more", 0) == 4 and os.pread(fd, 4, 0) == b"more"
    if how == "execv":
        os.execv(CAT, ["cat"])
    elif how == "execve":
        os.execve(CAT, ["cat"], os.environ)
    os.execve(os.open(CAT, os.O_RDONLY), ["cat"], os.environ)


def replaced():
    """The processes continue as cat, and have nothing at the servers any more."""
    me = [sys.executable, __file__, "."]
    cats = [subprocess.Popen(command, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
            for command in (me + ["execv"], me + ["execve"], me + ["fexecve"],
                            ["perl", "-e", PERL_EXEC, "q"])]
    for cat in cats:
        cat.stdin.write(b"there\n")
        cat.stdin.flush()
        assert cat.stdout.readline() == b"there\n"
    print("replaced", flush=True)
    sys.stdin.read()
    for cat in cats:
        cat.communicate()
        assert cat.returncode == 0


if len(sys.argv) <= 2:
    programs()
elif sys.argv[2] == "replaced":
    replaced()
elif sys.argv[2] == "end":
    unnamed("a%d" % os.getpid())
    os._exit(0)
else:
    become_cat(sys.argv[2])
