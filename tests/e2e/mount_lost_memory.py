# SPDX-License-Identifier: BSD-2-Clause
# mount_lost_memory.py FOLDER FILE - writes FILE.  Then, after each line of stdin, prints the result
# of fsync by the descriptor that wrote, and by another one of the same file.  Ends at the line
# "end".
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
