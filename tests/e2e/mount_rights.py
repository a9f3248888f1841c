# SPDX-License-Identifier: BSD-2-Clause
# mount_rights.py DIR: which set-id bits, sticky bits and capabilities a file there
# still has when one or the other has changed it; a line for each way and person.
import os, sys

os.chdir(sys.argv[1])
CAPS = bytes.fromhex("0100000200040000000000000000000000000000")
MODES = 0o7777, 0o6766, 0o7747, 0o2777, 0o4666, 0o1666

def opened(how, change):
    f = os.open("f", how)
    try:
        change(f)
    finally:
        os.close(f)

def chmod_between(f):
    os.write(f, b"x")
    os.fchmod(f, 0o4755)

def chmod_before(f):
    os.fchmod(f, 0o4755)
    os.write(f, b"x")

WAYS = {
    "write": lambda: opened(os.O_WRONLY, lambda f: os.write(f, b"x" * 10)),
    "append": lambda: opened(os.O_WRONLY | os.O_APPEND,
                             lambda f: os.write(f, b"x" * 10)),
    "truncate": lambda: os.truncate("f", 3),
    "O_TRUNC": lambda: opened(os.O_WRONLY | os.O_TRUNC, lambda f: None),
    "ftruncate": lambda: opened(os.O_WRONLY, lambda f: os.ftruncate(f, 5)),
    "fallocate": lambda: opened(os.O_WRONLY,
                                lambda f: os.posix_fallocate(f, 0, 50)),
    "chgrp": lambda: os.chown("f", -1, os.getgid()),
    "touch": lambda: os.utime("f"),
    "read": lambda: opened(os.O_RDONLY, lambda f: os.read(f, 5)),
    "write, fchmod": lambda: opened(os.O_WRONLY, chmod_between),
    "fchmod, write": lambda: opened(os.O_WRONLY, chmod_before),
}

def run_as(uid, what):
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        what()
        os._exit(0)
    except OSError as e:
        os._exit(e.errno)

def has_caps():
    try:
        os.getxattr("f", "security.capability")
        return "c"
    except OSError:
        return ""

for name, way in WAYS.items():
    # who is neither owner nor root takes them away by the open already
    for who in (0, 1000) if "chmod" in name else (0, 1000, 1001):
        out = []
        for mode in MODES:
            with open("f", "wb") as f:
                f.write(b"x" * 20)
            os.chown("f", 1000, 1000)
            os.setxattr("f", "security.capability", CAPS)
            os.chmod("f", mode)
            rc = run_as(who, way)
            out.append("%o%s/%d" % (os.stat("f").st_mode & 0o7777,
                                    has_caps(), rc))
            os.unlink("f")
        print(name, who, *out)

# Who was handed the open file needs no rights of his own, whether he owns it or not; but
# asking for a new owner is none of it.
HANDED = {
    "write": lambda f: os.write(f, b"x" * 10),
    "ftruncate": lambda f: os.ftruncate(f, 5),
    "fallocate": lambda f: os.posix_fallocate(f, 0, 50),
    "read": lambda f: os.read(f, 5),
}
for name, change in HANDED.items():
    for opener in 0, 1000:
        for group in 0, 1000:
            for who in 1000, 1001:
                out = []
                for mode in MODES:
                    with open("f", "wb") as f:
                        f.write(b"x" * 20)
                    os.chown("f", 1000, group)
                    os.chmod("f", 0o666)
                    os.seteuid(opener)
                    f = os.open("f", os.O_RDWR)
                    os.seteuid(0)
                    os.chmod("f", mode & ~0o22)
                    rc = run_as(who, lambda: change(f))
                    out.append("%o/%d" % (os.fstat(f).st_mode & 0o7777, rc))
                    os.close(f)
                    os.unlink("f")
                print("handed", name, opener, group, who, *out)
for who in 1000, 1001:
    out = []
    for mode in MODES:
        with open("f", "wb") as f:
            os.chown("f", 1000, 1000)
            os.chmod("f", mode)
        rc = run_as(who, lambda: os.chown("f", -1, -1))
        out.append("%o/%d" % (os.stat("f").st_mode & 0o7777, rc))
        os.unlink("f")
    print("chown -1", who, *out)
