# SPDX-License-Identifier: BSD-2-Clause
# mount_lost_memory.py FOLDER FILE - writes, and prints the result of fsync after each line of the
# standard input, until a line is end: of the descriptor that wrote, and of another one of the same
# file.
import errno
import os
import sys

folder, name = sys.argv[1:]
path = os.path.join(folder, name)


def sync(fd):
    try:
        os.fsync(fd)
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]


fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
other = os.open(path, os.O_RDONLY)
os.pwrite(fd, bytes(100000), 0)
print("written", flush=True)
for line in iter(sys.stdin.readline, "end\n"):
    print(sync(fd), sync(fd), sync(other), sync(other), flush=True)
