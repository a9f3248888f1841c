# SPDX-License-Identifier: BSD-2-Clause
# mount_rights.py DIR: prints the set-id bits, sticky bits and capabilities of a file after each
# kind of change by each kind of user, one line each.
import os, sys

os.chdir(sys.argv[1])
CAPS = bytes.fromhex("0100000200040000000000000000000000000000")
MODES = 0o7777, 0o6766, 0o7747, 0o2777, 0o4666, 0o1666

def opened(name, how, change):
    f = os.open(name, how)
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
    "write": lambda n: opened(n, os.O_WRONLY, lambda f: os.write(f, b"x" * 10)),
    "append": lambda n: opened(n, os.O_WRONLY | os.O_APPEND,
                               lambda f: os.write(f, b"x" * 10)),
    "truncate": lambda n: os.truncate(n, 3),
    "O_TRUNC": lambda n: opened(n, os.O_WRONLY | os.O_TRUNC, lambda f: None),
    "ftruncate": lambda n: opened(n, os.O_WRONLY, lambda f: os.ftruncate(f, 5)),
    "fallocate": lambda n: opened(n, os.O_WRONLY,
                                  lambda f: os.posix_fallocate(f, 0, 50)),
    "chgrp": lambda n: os.chown(n, -1, os.getgid()),
    "touch": lambda n: os.utime(n),
    "read": lambda n: opened(n, os.O_RDONLY, lambda f: os.read(f, 5)),
    "write, fchmod": lambda n: opened(n, os.O_WRONLY, chmod_between),
    "fchmod, write": lambda n: opened(n, os.O_WRONLY, chmod_before),
}

# Returns the results (0 or errno) of call() on each file, made in one process of that user.
def run_as(uid, call, each):
    out, into = os.pipe()
    if os.fork() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        os.write(into, bytes(number(call, one) for one in each))
        os._exit(0)
    os.close(into)
    with open(out, "rb") as f:
        rcs = f.read()
    os.wait()
    assert len(rcs) == len(each)
    return rcs

def number(call, one):
    try:
        call(one)
        return 0
    except OSError as e:
        return e.errno

NAMES = ["f%o" % mode for mode in MODES]

# Creates a file with each of the modes.
def make(group=1000, first=lambda name: None):
    for name, mode in zip(NAMES, MODES):
        with open(name, "wb") as f:
            f.write(b"x" * 20)
        os.chown(name, 1000, group)
        first(name)
        os.chmod(name, mode)

# Returns the modes and capabilities of the files, and removes the files.
def rest(rcs):
    for name, rc in zip(NAMES, rcs):
        try:
            os.getxattr(name, "security.capability")
            caps = "c"
        except OSError:
            caps = ""
        yield "%o%s/%d" % (os.stat(name).st_mode & 0o7777, caps, rc)
        os.unlink(name)

def give_caps(name):
    os.setxattr(name, "security.capability", CAPS)

for name, way in WAYS.items():
    # for a user who is neither owner nor root, the open already clears the bits
    for who in (0, 1000) if "chmod" in name else (0, 1000, 1001):
        make(first=give_caps)
        print(name, who, *rest(run_as(who, way, NAMES)))

# A process that inherited the open file needs no rights of its own, whether it is the owner or not.
# A change of the owner is different.
HANDED = {
    "write": lambda f: os.write(f, b"x" * 10),
    "ftruncate": lambda f: os.ftruncate(f, 5),
    "fallocate": lambda f: os.posix_fallocate(f, 0, 50),
    "read": lambda f: os.read(f, 5),
}

def open_all(opener):
    os.seteuid(opener)
    try:
        return [os.open(name, os.O_RDWR) for name in NAMES]
    finally:
        os.seteuid(0)

def handed(change, opener, group, who):
    make(group)
    for name in NAMES:
        os.chmod(name, 0o666)
    files = open_all(opener)
    for name, mode in zip(NAMES, MODES):
        os.chmod(name, mode & ~0o22)
    out = list(rest(run_as(who, change, files)))
    for f in files:
        os.close(f)
    return out

for name, change in HANDED.items():
    for opener in 0, 1000:
        for group in 0, 1000:
            for who in 1000, 1001:
                print("handed", name, opener, group, who,
                      *handed(change, opener, group, who))
for who in 1000, 1001:
    make()
    print("chown -1", who, *rest(run_as(who, lambda n: os.chown(n, -1, -1), NAMES)))
