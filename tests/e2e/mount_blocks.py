# SPDX-License-Identifier: BSD-2-Clause
# mount_blocks.py DIR: prints the space that du reports for closed files with and without holes, in
# MiB, because a file system may need some blocks for itself.
import ctypes, os, sys

MIB = 1 << 20
KEEP, PUNCH = 1, 2
os.chdir(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)

def fallocate(f, mode, off, size):
    if libc.fallocate(f, mode, ctypes.c_long(off), ctypes.c_long(size)):
        raise OSError(ctypes.get_errno(), "fallocate")

def with_file(name, do, how=os.O_RDWR | os.O_CREAT):
    f = os.open(name, how, 0o644)
    do(f)
    os.close(f)

def fill(name, mib):
    with_file(name, lambda f: os.pwrite(f, b"x" * (mib * MIB), 0))

def told(what, name):
    st = os.stat(name)
    print(what, st.st_size, round(st.st_blocks * 512 / MIB))

fill("f", 8)
told("full", "f")
with_file("f", lambda f: fallocate(f, PUNCH | KEEP, 2 * MIB, 4 * MIB))
told("punched", "f")
fill("f", 8)
told("filled again", "f")
with_file("f", lambda f: fallocate(f, KEEP, 8 * MIB, 4 * MIB))
told("more than it has", "f")
with_file("f", lambda f: os.ftruncate(f, 8 * MIB))
os.truncate("f", 0)
fill("f", 3)
told("anew", "f")
os.truncate("f", 100 * MIB)
told("made longer", "f")
os.truncate("f", 2 * MIB)
told("cut", "f")
with_file("g", lambda f: os.ftruncate(f, 64 * MIB))
told("empty but long", "g")
with_file("g", lambda f: os.pwrite(f, b"x" * MIB, 5 * MIB), os.O_WRONLY)
told("a piece in it", "g")
with_file("g", lambda f: None, os.O_WRONLY | os.O_TRUNC)
told("empty", "g")
fill("g", 5)
told("full", "g")

def behind(f):
    os.pwrite(f, b"x" * MIB, 64 * MIB)
    told("a hole, and open", "g")

with_file("g", behind)
told("a hole", "g")
