# SPDX-License-Identifier: BSD-2-Clause
# mount_appends.py FLAG FILE...: one process for each FILE appends records; the FILEs are one file
# at several mounts.  Each record is there once, in one piece.  FLAG is O_WRONLY or O_RDWR.
import os, sys

RECORDS, LENGTH = 30, 10000
paths = sys.argv[2:]

def record(i, k):
    return bytes([i, k]) * (LENGTH // 2)

def append(k):
    log = os.open(paths[k], os.O_CREAT | os.O_APPEND | getattr(os, sys.argv[1]))
    for i in range(RECORDS):
        n = os.write(log, record(i, k))
        assert n == LENGTH, n

def child(k):
    pid = os.fork()
    if not pid:
        append(k)
        os._exit(0)
    return pid

assert not any([os.waitpid(pid, 0)[1] for pid in [child(k) for k in range(len(paths))]])
data = open(paths[0], "rb").read()
os.unlink(paths[0])
wanted = sorted(record(i, k) for i in range(RECORDS) for k in range(len(paths)))
if sorted(data[i : i + LENGTH] for i in range(0, len(data), LENGTH)) != wanted:
    sys.exit("records are not in one piece")
