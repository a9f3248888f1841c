# SPDX-License-Identifier: BSD-2-Clause
"""preload_mapped.py - python3 preload_mapped.py FILE: one process has the file mapped, and writes
and reads the mapping.  Other processes, which opened the file before, read and write it by calls.
Each sees the earlier changes of the others."""
import mmap
import os
import random
import subprocess
import sys

SIZE = 200000
ROUNDS = 60

CALLS = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(fd, os.pread(fd, 1, 0), 0)
for line in sys.stdin:
    what, off, n, byte = line.split()
    off, n = int(off), int(n)
    if what == "w":
        assert os.pwrite(fd, bytes([int(byte)]) * n, off) == n
        print("ok", flush=True)
    else:
        b = os.pread(fd, n, off)
        print(b.hex(), flush=True)
"""

name = sys.argv[1]
fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
model = bytearray(SIZE)
assert os.write(fd, model) == SIZE
kids = [subprocess.Popen([sys.executable, "-c", CALLS, name], text=True,
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for k in range(2)]


def ask(kid, *words):
    print(*words, file=kid.stdin, flush=True)
    return kid.stdout.readline().strip()


dice = random.Random()
m = None
for step in range(ROUNDS):
    if step == ROUNDS // 4:  # until here it is past the mount
        m = mmap.mmap(fd, SIZE)
    off = dice.randrange(SIZE)
    n = dice.randrange(1, min(20000, SIZE - off) + 1)
    byte = dice.randrange(256)
    who = dice.randrange(4)
    model[off:off + n] = bytes([byte]) * n
    if m and who == 0:
        m[off:off + n] = bytes([byte]) * n
    elif who == 1:
        os.pwrite(fd, bytes([byte]) * n, off)
    else:
        assert ask(kids[who % 2], "w", off, n, byte) == "ok"
    off = max(0, off - 100)
    n = min(SIZE - off, n + 200)
    want = bytes(model[off:off + n])
    assert os.pread(fd, n, off) == want, step
    assert not m or m[off:off + n] == want, step
    assert ask(kids[step % 2], "r", off, n, 0) == want.hex(), step
for kid in kids:
    kid.stdin.close()
    assert kid.wait() == 0
